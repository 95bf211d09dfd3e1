"""A reader's copies: made once, never overwritten, and made anew beside the old."""

import nbformat
import pytest

from tools import copies, progress
from tools import notebook as nb
from tools.cells import is_question

LESSONS = nb.lessons(copies.ROOT)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(copies, "FOLDER", tmp_path / "my")
    return tmp_path / "my"


@pytest.mark.parametrize("lesson", LESSONS, ids=nb.number)
def test_a_copy_has_every_cell_no_output_and_room_under_each_predict(lesson):
    pristine = nbformat.read(lesson, as_version=4).cells
    cells = copies.copied(lesson).cells
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in cells)
    predicts = [k for k, cell in enumerate(cells) if is_question(cell)]
    assert predicts
    for k in predicts:
        assert cells[k + 1].source == copies.PREDICTION
    kept = [cell.source for cell in cells if cell.source != copies.PREDICTION]
    assert kept[1:] == [cell.source for cell in pristine[1:]]
    assert f"(../notebooks/{lesson.name})" in kept[0]
    assert kept[0].splitlines()[0] == pristine[0].source.splitlines()[0]


def test_progress_counts_the_predictions_that_were_written(capsys):
    [path] = copies.copies(LESSONS[:1])
    asked = copies.predictions(path)
    assert len(asked) > 5 and not any(asked)
    notebook = nbformat.read(path, as_version=4)
    places = [c for c in notebook.cells if copies.TAG in c.metadata.get("tags", [])]
    places[0].source += "it is shared"
    places[1].source = places[1].source.replace("Enter*", "Enter:*\n\n*not* twice")
    places[2].source = "my own words alone"
    nb.store(path, notebook)
    assert progress.main(["01a"]) == 0
    assert f"3 of {len(asked)} written" in capsys.readouterr().out
    assert copies.predictions(path)[:4] == [
        "it is shared", "*not* twice", "my own words alone", ""]


def test_a_copy_is_made_once_and_never_overwritten(folder):
    [path] = copies.copies(LESSONS[:1])
    path.write_text("my predictions")
    assert copies.copies(LESSONS[:2]) == [path, folder / LESSONS[1].name]
    assert path.read_text() == "my predictions"


def test_a_fresh_one_keeps_every_one_before(folder, capsys):
    for words in ("not even JSON", "second", None):
        [path] = copies.copies(LESSONS[:1], fresh=True)
        if words:
            path.write_text(words)
    kept = {p.read_text() for p in folder.glob(f"{path.stem}.before-*.ipynb")}
    assert kept == {"not even JSON", "second"}
    said = capsys.readouterr().out.splitlines()
    assert len(said) == 2 and all("its exercises still count" in line for line in said)
    assert progress.main(["01a"]) == 0
    assert nbformat.read(path, 4) == nbformat.reads(
        nb.dumps(nb.canonical(copies.copied(LESSONS[0]), path.name)), 4)


def test_two_that_make_a_fresh_copy_at_once_keep_both(folder, monkeypatch):
    """The second looked for a free name before the first had taken it."""
    [path] = copies.copies(LESSONS[:1])
    monkeypatch.setattr(copies, "earlier", lambda path: [])
    for words in ("first", "second", "third"):
        path.write_text(words)
        copies.copies(LESSONS[:1], fresh=True)
    kept = {p.read_text() for p in folder.glob(f"{path.stem}.before-*.ipynb")}
    assert kept == {"first", "second", "third"}


def test_what_was_solved_and_written_still_counts_in_a_fresh_copy(capsys):
    """Whatever was done last: the copy alone would say that nothing is."""
    [path] = copies.copies(LESSONS[:1])
    untouched = path.read_text("utf-8")
    solved = nbformat.read(nb.solution(LESSONS[0]), as_version=4)
    asked = nbformat.reads(untouched, as_version=4).cells
    places = [c for c in asked if copies.TAG in c.metadata.get("tags", [])]
    places[1].source += " it is shared"
    solved.cells += places
    nb.store(path, solved)
    for _ in range(2):
        copies.copies(LESSONS[:1], fresh=True)
        assert path.read_text("utf-8") == untouched
        capsys.readouterr()
        assert progress.main(["01a"]) == 0
        said = capsys.readouterr().out
        assert said.endswith(f"1 of 1 exercises solved, 1 of {len(places)} "
                             "predictions written\n")


def test_progress_reads_the_copy_and_not_what_it_was_before():
    copies.copies(LESSONS[:1], fresh=True)
    [path] = copies.copies(LESSONS[:1], fresh=True)
    solved = nbformat.read(nb.solution(LESSONS[0]), as_version=4)
    nb.store(path, solved)
    assert progress.notebooks(["01a", "01b"]) == [path, LESSONS[1]]
    assert {e.state for e in progress.states(path)} == {progress.SOLVED}
