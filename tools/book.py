"""Builds the course as a book of HTML pages that works offline.

    python3 course.py book             # build/book/index.html

The lessons are shown with their stored outputs, and no cell is run. Every warning of
Sphinx is an error. The new book replaces the old one only when it is complete.
"""

import io
import re
import shutil
import sys
import tempfile
import time
from pathlib import Path

import nbformat
from tqdm import tqdm

from helpers import lesson
from helpers.errors import DataError
from helpers.files import ROOT, whole_or_absent
from tools import book_notebooks, book_pages
from tools import notebook as nb

BOOK = ROOT / "build" / "book"
MADE_BY = "course.py book"
SETTINGS = ROOT / "docs" / "book"
DOCUMENTS = ("CONTRIBUTING.md", "docs/architecture.md", "docs/promises.md",
             "docs/guide.md", "docs/names.md", "docs/look.md", "docs/commands.md",
             "docs/platforms.md", "docs/gpu.md", "legacy/README.md",
             "legacy/docs/map.md", "legacy/docs/promises.md", "legacy/docs/rules.md",
             "legacy/tf1tools/messages/errors.md")


def write_source(folder: Path) -> None:
    """Writes the input of Sphinx: lessons, documents and generated pages.

    Args:
      folder: Empty folder. The paths in it are those of the project, so that links stay
        valid.
    """
    for path in nb.lessons(ROOT):
        _write(folder / path.relative_to(ROOT),
               nbformat.writes(book_notebooks.for_book(path)))
    for name in DOCUMENTS:
        if (ROOT / name).exists():
            text = (ROOT / name).read_text("utf-8")
            _write(folder / name, book_pages.in_words(text))
    for beside in [*(ROOT / "docs").glob("*.png"), *(ROOT / "docs").glob("*.svg"),
                   *(ROOT / "docs").glob("*.json"),
                   *(ROOT / "notebooks").glob("[0-9]*.py")]:
        shutil.copyfile(beside, folder / beside.relative_to(ROOT))
    pitfalls = (ROOT / "docs" / "pitfalls.md").read_text("utf-8")
    _write(folder / "docs" / "pitfalls.md", book_pages.pitfall_page(pitfalls))
    terms = (SETTINGS / "terms.txt").read_text("utf-8")
    _write(folder / "glossary.md", book_pages.glossary_page(terms))
    front = (SETTINGS / "index.md").read_text("utf-8")
    _write(folder / "index.md", book_pages.front_page(front))
    for name, text in book_pages.reference():
        _write(folder / "reference" / f"{name}.md", text)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    # In the book, the front page replaces the README.
    text = re.sub(r"\]\(((?:\.\./)*)README\.md\)", r"](\1index.md)", text)
    path.write_text(text, encoding="utf-8")


def build(source: Path, output: Path) -> None:
    """Runs Sphinx once and shows progress as pages are read and written.

    Args:
      source: Folder that `write_source` has filled.
      output: Folder for the HTML pages.

    Raises:
      DataError: If Sphinx reports a warning. The message contains its text.
    """
    from sphinx.application import Sphinx
    from sphinx.util.docutils import docutils_namespace

    pages = sum(path.suffix in (".md", ".ipynb") for path in source.rglob("*"))
    warnings = io.StringIO()
    bar = tqdm(total=2 * pages, unit="page", dynamic_ncols=True)
    with bar, docutils_namespace():
        app = Sphinx(source, SETTINGS, output, source.parent / "trees", "html",
                     status=None, warning=warnings, warningiserror=True)
        app.connect("source-read", lambda app, page, text: _tick(bar, page))
        app.connect("html-page-context", lambda app, page, *rest: _tick(bar, page))
        app.build()
        bar.update(bar.total - bar.n)
    if app.statuscode:
        warned = re.sub(r"\x1b\[[0-9;]*m", "", warnings.getvalue()).strip()
        raise DataError(
            f"Failed to build the book. Sphinx reported these warnings:\n{warned}"
        )


def _tick(bar: tqdm, page: str) -> None:
    bar.set_postfix_str(page, refresh=False)
    bar.update(min(1, bar.total - bar.n))


def make(book: Path = BOOK) -> Path:
    """Builds the book and returns the path of its first page.

    Args:
      book: Folder of the book. An older book in it is replaced. Any other contents are
        kept, and an error is raised.

    Returns:
      The path of `index.html`.

    Raises:
      DataError: If Sphinx reports a warning, if another program created the folder, or
        if the disk is full.
    """
    made = {"made_by": MADE_BY, "at": time.time_ns()}  # unique, so none is reused
    with whole_or_absent(book, **made) as new, tempfile.TemporaryDirectory() as work:
        source = Path(work) / "source"
        write_source(source)
        # Sphinx leaves other files next to its output, so it works in another folder.
        build(source, Path(work) / "html")
        shutil.copytree(Path(work) / "html", new, dirs_exist_ok=True)
    return book / "index.html"


def main(arguments: list[str]) -> int:
    nb.parser("book", __doc__).parse_args(arguments)
    lesson.begin("book")  # imports TensorFlow without its log messages
    try:
        page = make()
    except DataError as error:
        print(f"course.py book: {error}", file=sys.stderr)
        return 1
    print("Open", page.relative_to(ROOT).as_posix())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
