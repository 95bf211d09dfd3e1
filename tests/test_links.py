"""Every relative link in the documents and notebooks leads somewhere."""

import re

import nbformat
import pytest

from helpers.files import ROOT

SKIP = {".venv", "build", "logs", "my", "node_modules", ".git"}
DOCUMENTS = sorted(
    path
    for ending in ("*.md", "*.ipynb")
    for path in ROOT.rglob(ending)
    if not SKIP & set(path.relative_to(ROOT).parts)
    and not path.relative_to(ROOT).parts[0].startswith(".venv")
    and path.relative_to(ROOT).parts[0] != "data" or path.parent == ROOT / "data"
)
LINK = re.compile(r"(?<!`)\[[^\]]*\]\(([^)\s]+)\)|<img[^>]* src=\"([^\"]+)\"")


def text_of(path):
    if path.suffix == ".md":
        return path.read_text("utf-8")
    cells = nbformat.read(path, as_version=4).cells
    return "\n\n".join(c.source for c in cells if c.cell_type == "markdown")


def anchors(path):
    """The anchors that GitHub makes of headings."""
    titles = re.findall(r"^#+ (.+)$", text_of(path), re.M)
    return {re.sub(r"[^\w\- ]", "", t.lower()).strip().replace(" ", "-")
            for t in titles}


@pytest.mark.parametrize(
    "path", DOCUMENTS, ids=lambda p: p.relative_to(ROOT).as_posix()
)
def test_links_lead_somewhere(path):
    for groups in LINK.findall(text_of(path)):
        link = groups[0] or groups[1]
        if re.match(r"(https?|mailto):", link):
            continue
        target, _, anchor = link.partition("#")
        file = (path.parent / target).resolve() if target else path
        assert file.exists(), f"{path.name}: {link}"
        if anchor and file.suffix in (".md", ".ipynb"):
            assert anchor.lower() in anchors(file), f"{path.name}: {link}"
