"""`course.py progress`: what the saved answers of the checks say, and nothing else."""


import nbformat
import pytest
from nbformat import v4

from helpers.checks.claims import exercise
from helpers.files import ROOT
from tools import copies, handout, progress
from tools import notebook as nb


@exercise("Exercise 1: halve", "divide.", "return x / 2")
def check_halve(halve):
    yield "halves 4", halve(4) == 2, "it does not"
    yield "halves 0", halve(0) == 0, "it does not"


def stub(x):
    pass


def saved(folder, *reports):
    """Writes a notebook that shows these reports, as JupyterLab would."""
    cells = [v4.new_code_cell("check()", outputs=[v4.new_output(
        "execute_result", {"text/plain": repr(report)}, execution_count=1)])
        for report in reports]
    path = folder / "01_topic.ipynb"
    nbformat.write(v4.new_notebook(cells=cells), path)
    return path


def test_the_three_states_come_from_real_reports(tmp_path):
    path = saved(tmp_path, check_halve(stub), check_halve(lambda x: x - 2),
                 check_halve(lambda x: x / 2))
    title = "Exercise 1: halve"
    assert progress.states(path) == [
        (title, progress.UNTOUCHED, ""), (title, progress.TRIED, "halves 0"),
        (title, progress.SOLVED, "")]


def test_a_handed_out_notebook_counts_before_it_was_run_and_after(tmp_path, capsys):
    handout.main([str(tmp_path), "01a"])
    [path] = tmp_path.iterdir()
    untouched = progress.states(path)
    assert {e.state for e in untouched} == {progress.UNTOUCHED} and untouched
    notebook = nbformat.read(path, as_version=4)
    report = f"{untouched[0].title}\n  [✓] right\nAll of it holds."
    check = next(c for c in notebook.cells if "(siamese)" in c.source)
    check.outputs = [v4.new_output("execute_result", {"text/plain": report})]
    nbformat.write(notebook, path)
    for named in (path, tmp_path):
        capsys.readouterr()
        assert progress.main([str(named)]) == 0
        last = capsys.readouterr().out.splitlines()[-1]
        assert last == f"1 of {len(untouched)} exercises solved"


@pytest.mark.parametrize("odd", ["\x1b[2J", "\r", "\x07", "\u202e", "\x85"])
def test_what_a_notebook_says_is_printed_escaped(odd, tmp_path, capsys):
    title = f"Exercise 1: halve{odd}forged"
    saved(tmp_path, f"{title}\n  [✗] halves{odd} 4\n")
    path = tmp_path / "01_topic.ipynb"
    notebook = nbformat.read(path, as_version=4)
    report = notebook.cells[0].outputs[0].data["text/plain"]
    notebook.cells[0].outputs[0].data["text/plain"] = eval(report)
    nbformat.write(notebook, tmp_path / f"01_{odd.strip() or 'x'}.ipynb")
    assert progress.main([str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert "halve" in said and odd not in said


def test_the_command_sums_up(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(copies, "FOLDER", tmp_path)  # what you have done counts not
    assert progress.main(["1a"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "01a_variable_scope"
    assert lines[-1] == f"0 of {len(lines) - 2} exercises solved"
    with pytest.raises(SystemExit):
        progress.main(["77"])


def test_lessons_not_begun_are_one_line(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(copies, "FOLDER", tmp_path)
    assert progress.main([]) == 0
    first, last = capsys.readouterr().out.splitlines()
    assert first.split() == ["Not", "begun:", *map(nb.number, nb.lessons(ROOT))]
    assert last.startswith("0 of 4")
