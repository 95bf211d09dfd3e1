"""What a reader who does not see needs of every notebook: headings, sentences."""

import html
import re

import nbformat
import pytest

from helpers.files import ROOT
from tools import notebook as nb

NOTEBOOKS = [p for path in nb.lessons(ROOT) for p in (path, nb.solution(path))]
each_notebook = pytest.mark.parametrize(
    "path", NOTEBOOKS, ids=lambda p: f"{p.parent.name}/{p.stem}")


def cells(path):
    return nbformat.read(path, as_version=4).cells


def headings(source):
    """The levels of headings, code blocks left out."""
    text = re.sub(r"^```.*?^```", "", source, flags=re.M | re.S)
    return [len(mark) for mark in re.findall(r"^(#+) ", text, re.M)]


@each_notebook
def test_headings_begin_at_the_top_and_go_down_one_step_at_a_time(path):
    levels = [level for cell in cells(path) if cell.cell_type == "markdown"
              for level in headings(cell.source)]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(b <= a + 1 for a, b in zip(levels, levels[1:], strict=False))


@each_notebook
def test_a_figure_has_its_sentence_in_the_file_and_under_it(path):
    for cell in cells(path):
        outputs = cell.get("outputs", [])
        for output, below in zip(outputs, [*outputs[1:], {}], strict=False):
            if "image/png" in output.get("data", {}):
                alt = output.metadata["image/png"]["alt"]
                assert below.get("data", {}).get("text/plain") == f"Figure: {alt}"
                assert html.escape(alt) in below.data["text/html"], cell.id
                assert re.match(r"[A-Z0-9].{20,}[.)]$", alt, re.S), f"{cell.id}: {alt}"
