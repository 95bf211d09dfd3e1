"""Draws the import graph of `helpers` for docs/architecture.md.

    python -m tools.architecture

An arrow is an import. Imports that follow from another path are left out (transitive
reduction), which keeps the drawing readable.
"""

from pathlib import Path

import grimp
import igraph

from helpers.files import ROOT

PAGE = ROOT / "docs" / "architecture.md"
BEGIN = "<!-- drawing: made by python -m tools.architecture -->"
END = "<!-- end of drawing -->"
# Almost every module imports these, so their arrows would say nothing.
EVERYWHERE = {"errors", "arguments", "files", "lesson"}


def rooms() -> dict[str, list[Path]]:
    """Returns the top-level modules and packages of `helpers`, with their files."""
    modules = {}
    for path in sorted((ROOT / "helpers").iterdir()):
        if path.suffix == ".py" and path.stem != "__init__":
            modules[path.stem] = [path]
        elif (path / "__init__.py").exists():
            modules[path.name] = sorted(path.glob("*.py"))
    return modules


def imports() -> set[tuple[str, str]]:
    """Returns the set of `(importer, imported)` pairs within `helpers`."""
    graph = grimp.build_graph("helpers", cache_dir=None)
    for room in graph.find_children("helpers"):
        graph.squash_module(room)
    return {(room.removeprefix("helpers."), used.removeprefix("helpers."))
            for room in graph.find_children("helpers")
            for used in graph.find_modules_directly_imported_by(room)}


def drawing() -> str:
    """Returns the import graph of `helpers` as a Mermaid flowchart."""
    edges = sorted((a, b) for a, b in imports() if b not in EVERYWHERE)
    names = sorted({name for edge in edges for name in edge})
    number = {name: i for i, name in enumerate(names)}
    graph = igraph.Graph(len(names), [(number[a], number[b]) for a, b in edges],
                         directed=True)
    lines = [BEGIN, "```mermaid", "flowchart TD"]
    for a, b in edges:
        if len(graph.get_all_simple_paths(number[a], number[b])) == 1:
            lines.append(f"  {a} --> {b}")
    return "\n".join([*lines, "```", END])


def with_drawing(page: str) -> str:
    """Returns a Markdown page with its import graph replaced by the current one."""
    before, rest = page.split(BEGIN)
    return before + drawing() + rest.split(END)[1]


if __name__ == "__main__":
    PAGE.write_text(with_drawing(PAGE.read_text("utf-8")), encoding="utf-8")
