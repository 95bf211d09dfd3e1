"""A lesson, or a part of it, run with other parameters, as `course.py run -p` does."""

import tempfile
from pathlib import Path

import nbformat
from tqdm import tqdm

from helpers import files
from tools import notebook, run_lessons


def run_lesson(number: str, *, until: str = "", only=(), **parameters) -> str:
    """Runs a lesson with these parameters; returns all that it printed.

    Args:
      number: of the lesson.
      until: words of the last code cell that is run.
      only: words of the code cells that are run, those before the first included.
      parameters: what `-p` would set.
    """
    [path] = notebook.lessons(files.ROOT, [number])
    pairs = [(name, str(value)) for name, value in parameters.items()]
    values = run_lessons.checked([path], pairs)
    book = nbformat.read(path, as_version=4)
    cells = [cell for cell in book.cells if cell.cell_type == "code"]
    if until:
        cells = cells[: 1 + _place(cells, until)]
    if only:
        places = [_place(cells, words) for words in only]
        cells = [*cells[: places[0]], *(cells[place] for place in sorted(places))]
    book.cells = cells
    with tempfile.TemporaryDirectory() as folder, tqdm(disable=True) as bar:
        nbformat.write(book, Path(folder) / path.name)
        done = run_lessons.execute(Path(folder) / path.name, bar, values)
    texts = [out.get("text", "") for cell in done.cells for out in cell.outputs]
    assert not any("Traceback" in text for text in texts)
    return "".join(texts)


def _place(cells, words: str) -> int:
    """Returns the place of the one cell that has these words."""
    [place] = [k for k, cell in enumerate(cells) if words in cell.source]
    return place
