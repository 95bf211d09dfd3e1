"""docs/promises.md: each promise names a test that is there; lessons keep to them."""

import ast
import json
import re

import pytest
from IPython.core.inputtransformer2 import TransformerManager

from helpers.files import ROOT
from tools import notebook as nb

PAGE = (ROOT / "docs" / "promises.md").read_text("utf-8")
NAMED = re.findall(r"`((?:faults/)?test_\w+\.py)::(test_\w+)`", PAGE)
NOTEBOOKS = sorted(ROOT.glob("notebooks/**/[0-9]*.ipynb"))

# What hangs, or goes on in silence, where nothing guards it.
BARE = {"start_queue_runners", "create_threads", "TFRecordWriter", "TFRecordReader",
        "tf_record_iterator", "TFRecordDataset", "ignore_errors", "restore",
        "latest_checkpoint", "urlretrieve", "urlopen", "extractall"}


def names_of_tests(path):
    """Returns the names of the tests that pytest collects from a file."""
    return {
        node.name for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }


def table(heading):
    """Returns the rows of the table under a heading, each a list of cells."""
    section = PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    rows = [line.strip("|").split("|") for line in section.splitlines()
            if line.startswith("|")]
    return [[cell.strip() for cell in row] for row in rows[2:]]


@pytest.mark.parametrize("file", sorted({file for file, _ in NAMED}))
def test_every_test_named_on_the_page_exists(file):
    named = {test for other, test in NAMED if other == file}
    assert named <= names_of_tests(ROOT / "tests" / file)


def test_every_row_names_its_proof():
    rows = [line for line in PAGE.splitlines() if line.startswith("| ")]
    promises = [row for row in rows if not row.startswith(("| Promise", "| Lesson"))
                and not re.match(r"\| \d\d[a-c]? \|", row)]
    assert len(promises) > 50
    for row in promises:
        assert re.search(r"::test_\w+`", row), row
    assert "::" not in re.sub(r"`(?:faults/)?test_\w+\.py::test_\w+`", "", PAGE)


def test_every_file_of_faults_is_on_the_page():
    files = {f"faults/{path.name}" for path in (ROOT / "tests/faults").glob("test_*")}
    assert files == {file for file, _ in NAMED if file.startswith("faults/")}


def plain_python(cell):
    """Returns a cell with IPython's own signs (`??name`) written out as calls."""
    return TransformerManager().transform_cell(cell)


def bare_names(text):
    """Yields the unguarded names in a program, and in programs that it holds."""
    for node in ast.walk(ast.parse(plain_python(text))):
        name = getattr(node, "attr", None) or getattr(node, "id", None)
        if name in BARE:
            yield name
        if isinstance(node, ast.Constant) and "\n" in str(node.value):
            try:
                ast.parse(plain_python(node.value))
            except (SyntaxError, ValueError, TypeError):
                continue  # prose, or the half of a program
            yield from bare_names(node.value)


def test_lessons_use_the_guarded_pieces_but_where_the_page_says_why():
    found = set()
    for path in NOTEBOOKS:
        for cell in json.loads(path.read_text("utf-8"))["cells"]:
            if cell["cell_type"] == "code":
                found |= {(nb.number(path), name)
                          for name in bare_names("".join(cell["source"]))}
    listed = {
        (lesson, name)
        for lesson, names, _ in table("Where lessons use functions without protection")
        for name in re.findall(r"`(\w+)`", names)
    }
    assert found == listed
