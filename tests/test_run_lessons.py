"""What `course.py run` says of a lesson that fails."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from tqdm import tqdm

from tools import run_lessons


@pytest.mark.parametrize("source, words", [
    ("raise ValueError('first\\nsecond')", "ValueError: first"),
    ("assert 1 + 1 == 3, 'no sum'", "AssertionError: no sum"),
    ("import os; os._exit(1)", "the kernel died (out of memory?)"),
])
def test_the_cell_and_the_error_are_named_on_one_line(tmp_path, source, words):
    path = tmp_path / "01x_broken.ipynb"
    cells = [new_code_cell(text) for text in ("1 + 1", source, "2 + 2")]
    nbformat.write(new_notebook(cells=cells), path)
    with tqdm(disable=True) as bar, pytest.raises(RuntimeError) as caught:
        run_lessons.execute(path, bar, {})
    assert str(caught.value) == f"{path.name}, code cell 2 of 3: {words}"
