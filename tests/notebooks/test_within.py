"""`within:` tags: under plain nbval, in a notebook's form, and when it is saved."""

import ast
import re
import subprocess
import sys
from unittest import mock

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from helpers.files import ROOT
from tests.limits import LIMIT
from tests.notebooks.test_form import without_reason
from tools import notebook as nb
from tools import run_lessons, within

# What is printed, what is stored, the tag; and whether they are the same.
CASES = [
    ("loss 0.481, 10 steps", "loss 0.5, 10 steps", "within:10%", True),
    ("loss 0.44, 10 steps", "loss 0.5, 10 steps", "within:10%", False),
    ("gain 0.481, 10 steps", "loss 0.5, 10 steps", "within:10%", False),
    ("loss 0.481", "loss 0.5, 10 steps", "within:10%", False),
    ("loss 0.481 0.481", "loss 0.481", "within:10%", False),
    ("share 0.96", "share 1.0", "within:0.04", True),
    ("share 0.95", "share 1.0", "within:0.04", False),
    ("loss nan", "loss 0.5", "within:10%", False),
    ("1,040 rows\n    9.6 s", "1,000 rows\n   10.1 s", "within:10%", True),
    ("-0.5", "0.5", "within:10%", False),
    ("loss 0.481", "loss 0.5", "", False),
    ("w_2 0.5", "w_1 0.5", "within:60", False),
    ("1e999", "1e998", "within:10%", False),
    ("8" * 400, "9" * 400, "within:20%", False),
    ("loss 1e999", "loss 1e999", "within:10%", True),
    ("rows (1,200)", "rows (1,201)", "within:10%", True),
    ("rows (1,200)", "rows (1200)", "within:10%", False),
]


def cell(shown, stored, tag, *, value=False):
    source = f"{shown!r}" if value else f"print({shown!r})"
    output = new_output("execute_result", {"text/plain": repr(stored)},
                        execution_count=1) if value else (
        new_output("stream", name="stdout", text=stored + "\n"))
    return new_code_cell(source, outputs=[output], execution_count=1,
                         metadata={"tags": [tag] if tag else []})


def test_plain_nbval_compares_within_what_the_tag_says(tmp_path):
    cells = [cell(*case[:3], value=value) for value in (False, True) for case in CASES]
    path = tmp_path / "01_numbers.ipynb"
    nbformat.write(new_notebook(cells=cells), path)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--nbval", "--nbval-current-env", "-rA", "-p",
         "notebooks.conftest", "-p", "no:cacheprovider", "--rootdir", tmp_path, path],
        cwd=ROOT, capture_output=True, text=True, timeout=LIMIT)
    passed = {int(k) for k in re.findall(r"^PASSED .*Cell (\d+)$", done.stdout, re.M)}
    same = [case[3] for case in CASES] * 2
    assert passed == {k for k, held in enumerate(same) if held}, done.stdout
    near = 2 * sum(bool(case[2]) for case in CASES)
    assert f"{len(cells)} compared with the stored ones, {near} of them within" in (
        done.stdout)


@pytest.mark.parametrize("tag, reason, right", [
    ("within:30%", "", True),
    ("within:40%", "", False),
    ("within:40%", "The seed of a thread differs.", True),
    ("within:0.1", "", True),
    ("within:0.2", "", False),
    ("within:0.2", "The seed of a thread differs.", True),
    ("", "The seed of a thread differs.", False),
])
def test_wider_than_a_third_needs_a_reason(tag, reason, right):
    one = cell("0.5 of 10", "0.5 of 10", tag)
    one.metadata.update({nb.REASON: reason} if reason else {})
    assert (without_reason(one) == "") == right


@pytest.mark.parametrize("tag", ["within:", "within:10 %", "within:about", "within:-1"])
def test_a_tag_that_says_no_tolerance(tag):
    with pytest.raises(ValueError, match="within:10%"):
        within.tolerance(cell("1", "1", tag))


def test_the_canonical_form_keeps_the_reason_and_nothing_else():
    one = cell("1", "1", "within:40%")
    one.metadata.update({nb.REASON: "Threads.", "collapsed": True})
    [kept] = nb.canonical(new_notebook(cells=[one]), "01_a.ipynb").cells
    assert kept.metadata == {"tags": ["within:40%"], nb.REASON: "Threads."}


def run_of(loss, picture, words="done"):
    """A notebook that prints a loss within a tolerance, draws it, and says a word."""
    figure = new_code_cell("draw(loss)", execution_count=2, outputs=[
        new_output("display_data", {"image/png": picture, "text/plain": "<Figure>"})])
    return new_notebook(cells=[cell(loss, loss, "within:10%"), figure,
                               cell(words, words, "")])


@pytest.mark.parametrize("now, kept", [
    (("0.48", "old", "done"), True),
    (("0.48", "new", "done"), False),  # the figure shows the other number
    (("0.48", "old", "failed"), False),
    (("0.60", "old", "done"), False),
])
def test_a_stored_notebook_is_one_run(now, kept):
    stored = run_of("0.5", "old")
    executed = run_of(*now)
    for at, each in zip(executed.cells, stored.cells, strict=True):
        at.source = each.source
    expected = stored if kept else executed
    assert run_lessons.one_run(executed, stored, "01_a.ipynb") is expected


def test_a_save_that_draws_another_figure_stores_its_numbers_too(tmp_path):
    draw = ("from IPython.display import display\n"
            "display({'image/png': 'AAAA'}, raw=True)")
    path = tmp_path / "01_a.ipynb"
    before = new_notebook(cells=[cell("0.48", "0.5", "within:10%"),
                                 new_code_cell(draw, execution_count=2)])
    before.cells[0].source = "print(0.48)"
    nb.store(path, before)
    with mock.patch.object(run_lessons, "ROOT", tmp_path):
        assert run_lessons.run([path], save=True) == []
        first, second = nbformat.read(path, as_version=4).cells
        assert first.outputs[0].text == "0.48\n"
        assert second.outputs[0].data["image/png"].strip() == "AAAA"
        near = nbformat.read(path, as_version=4)
        near.cells[0].outputs[0].text = "0.5\n"
        nb.store(path, near)
        assert run_lessons.run([path], save=True) == []
    [first, _] = nbformat.read(path, as_version=4).cells
    assert first.outputs[0].text == "0.5\n", "all was near: the file stays"


CLAMPS = {"min", "max", "minimum", "maximum", "clip", "ceil", "floor"}
VERDICTS = {"allclose", "isclose", "array_equal"}
TINY = re.compile(r"(?<![\d.])-?0\.0{3,}(?![\de])")
WORDS = re.compile(r"\b(?:at least|at most) \d|\bquarters\b")


def hidden(source, printed):
    """What a cell hides behind a clamp, a truth value or a row of zeros; "" if nothing.

    A number that is named by `print` goes to the reader as it is, within a tolerance
    where it moves: not bounded by a literal, not as the verdict of a comparison. A
    difference that is rounding says "under 1e-5".
    """
    for call in (node for node in ast.walk(ast.parse(source)) if isinstance(
            node, ast.Call) and getattr(node.func, "id", "") == "print"):
        for node in ast.walk(call):
            if isinstance(node, ast.Call):
                name = getattr(node.func, "id", getattr(node.func, "attr", ""))
                bounded = any(isinstance(of, ast.Constant) for of in node.args)
                if name in VERDICTS or name in CLAMPS and bounded:
                    return ast.unparse(node)
        for node in call.args:
            if isinstance(node, ast.Compare) and isinstance(
                    node.ops[0], ast.Eq | ast.NotEq | ast.Lt | ast.Gt):
                return ast.unparse(node)
    found = TINY.search(printed) or WORDS.search(printed)
    return found[0] if found else ""


@pytest.mark.parametrize("source, printed", [
    ("print(f'{min(5, wins)} of 5')", "5 of 5"),
    ("print('gain', np.maximum(far, 0.1))", "gain 0.1"),
    ("print('same:', np.allclose(a, b))", "same: True"),
    ("print(fast > slow)", "True"),
    ("print(f'{far:.4f}')", "0.0000"),
    ("print(words)", "at least 3 quarters"),
])
def test_what_hides_a_number_is_found(source, printed):
    assert hidden(source, printed)
    assert not hidden("print(f'{far:.3f} of', min(rates))", "0.013 of 0.5")


# Not hidden: the cell's subject is the comparison, or the number itself stands there.
OPEN = {
    "cell-03c-034": "how far a place moves has a true bound",
    "cell-14-005": "what == says of a tensor",
}


@pytest.mark.parametrize("path", nb.lessons(ROOT), ids=lambda path: path.stem)
def test_no_cell_hides_a_number(path):
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "code" and cell.id not in OPEN:
            printed = "".join(out.get("text", "") for out in cell.outputs)
            printed = "" if within.tolerance(cell) else printed
            assert not hidden(cell.source, printed), cell.id


@pytest.mark.parametrize("now, then", [
    ("1e999", "5"), ("5", "1e999"), ("inf", "5"), ("nan", "5"), ("\0", "5"),
    ("(1,200)", "1,200"), ("(1,200)", "(1,900)"), ("[1,200]", "[1,999]"), ("5 5", "5"),
    ("-5", "5"), ("5e3", "5e-3")])
def test_numbers_that_are_not_near_do_not_agree(now, then):
    assert not within.agree(f"loss {now}", f"loss {then}", "10%")


@pytest.mark.parametrize("now, then", [
    ("1e999", "1e999"), ("inf", "inf"), ("nan", "nan"), ("1,200", "1,210"),
    ("\0", "\0"), ("(1,200)", "(1,205)"),
    ("1,200 rows (0.51)", "1,190 rows (0.50)")])
def test_numbers_that_are_near_or_the_same_agree(now, then):
    assert within.agree(f"loss {now}", f"loss {then}", "10%")
