"""A number in the words of a figure is computed by its cell, or is one of its settings.

Who typed the result of a run into a title does not see when the next run has another.
"""

import ast
import re

import nbformat
import pytest

from helpers.files import ROOT
from tools import notebook as nb

NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?!\w)")
NAME = re.compile(r"(?:VGG-|TensorFlow )[\d.]*\d")
COUNTED = re.compile(
    r"\b(?:two|three|four|eight|\d+) (?:\w+ )?(?:towers|devices|GPUs)\b", re.I)
OPEN = {"cell-11-008": "the bytes of a file's kind, in hexadecimal"}


def words(tree):
    """Yields each piece of text in the titles and text alternatives of figures."""
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        name = ast.unparse(call.func).split(".")[-1]
        told = call.args[1:] if name == "show" else (
            call.args if name in ("set_title", "suptitle") else [])
        told += [one.value for one in call.keywords if one.arg in ("title", "alt")]
        for node in (node for one in told for node in ast.walk(one)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value


def parsed(source):
    return ast.parse(re.sub(r"^[%!].*$", "", source, flags=re.M))


def typed(sources):
    """Returns what cells of a lesson type that they should compute, by cell."""
    trees = {key: parsed(source) for key, source in sources.items()}
    settings = {node.value for tree in trees.values() for node in ast.walk(tree)
                if isinstance(node, ast.Constant) and type(node.value) in (int, float)}
    devices = any("DEVICES" in source for source in sources.values())
    found = {}
    for key, tree in trees.items():
        for text in words(tree):
            numbers = [number for number in NUMBER.findall(NAME.sub("", text))
                       if float(number.replace(",", "")) not in settings]
            numbers += COUNTED.findall(text) if devices else []
            if numbers:
                found[key] = [*found.get(key, []), *numbers]
    return found


@pytest.mark.parametrize("source, number", [
    ("plots.show(fig, 'The loss falls to 0.84.')", ["0.84"]),
    ("plots.show(fig, f'{n} of 1,234 rows.', title)", ["1,234"]),
    ("ax.set(title='7,000 times as often')", ["7,000"]),
    ("ax.set_title(f'{name}: 21.6 s')", ["21.6"]),
    ("DEVICES = 'auto'\nplots.show(fig, 'x', 'Four towers read')", ["Four towers"]),
    ("plots.show(fig, 'Four towers of VGG-19 in TensorFlow 1.15.')", []),
    ("RATE = 0.05\nplots.show(fig, 'At a rate of 0.05, it explodes.')", []),
    ("plots.show(fig, f'The loss falls to {loss:.2f}.')", []),
    ("print('0.84 at the end')", []),
])
def test_what_is_typed_is_found(source, number):
    assert typed({"cell": source}).get("cell", []) == number


@pytest.mark.parametrize("path", nb.lessons(ROOT), ids=lambda path: path.stem)
def test_no_figure_types_what_is_computed(path):
    cells = nbformat.read(path, as_version=4).cells
    found = typed({cell.id: cell.source for cell in cells if cell.cell_type == "code"})
    assert not found.keys() - OPEN.keys(), found
