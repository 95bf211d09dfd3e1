"""Finds the names that the files of a project import from one another."""

import ast
import builtins
from collections import defaultdict
from collections.abc import Iterator

from tf1tools.port.text.syntax import brought, look_ahead


def taken(project) -> dict:
    """Returns, for each file, the names that other files import from it."""
    found: dict = defaultdict(dict)
    for file in project.files.values():
        for given, name in _taken_by(file, project):
            found[given].setdefault(name, file)
    return found


def _taken_by(file, project) -> Iterator[tuple]:
    """Yields each name that a file imports from the project, with its origin."""
    nodes = [node for part in file.parts for node in part.nodes]
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                given = project.own(file.path, alias.name)
                if given and (alias.asname or "." not in alias.name):
                    local = alias.asname or alias.name
                    yield from ((given, name) for name in _inside(local, nodes))
        elif isinstance(node, ast.ImportFrom):
            yield from _taken_from(node, file, nodes, project)


def _taken_from(node: ast.ImportFrom, file, nodes, project) -> Iterator[tuple]:
    given = project.own(file.path, node.module or "", node.level)
    for alias in node.names:
        inside = f"{node.module}.{alias.name}" if node.module else alias.name
        module = project.own(file.path, inside, node.level)
        if module:
            local = alias.asname or alias.name
            yield from ((module, name) for name in _inside(local, nodes))
        elif given and alias.name == "*":
            yield from ((given, name) for name in _free(file))
        elif given:
            yield given, alias.name


def _inside(local: str, nodes) -> set[str]:
    """Returns the attributes read from a module that no other code rebinds."""
    if any(getattr(node, "arg", "") == local and isinstance(node, ast.arg)
           or isinstance(node, ast.Name) and node.id == local
           and isinstance(node.ctx, ast.Store) for node in nodes):
        return set()
    return {node.attr for node in nodes if isinstance(node, ast.Attribute)
            and isinstance(node.ctx, ast.Load) and isinstance(node.value, ast.Name)
            and node.value.id == local}


def _free(file) -> set[str]:
    """Returns the names that a file uses without binding them."""
    bound, used = set(dir(builtins)), set()
    for part in file.parts:
        bound |= look_ahead(part.tree)[0] if part.tree else set()
        used |= {node.id for node in part.nodes if isinstance(node, ast.Name)
                 and isinstance(node.ctx, ast.Load)}
    return used - bound


def binds(file) -> set[str]:
    """Returns the names that a file binds at module level."""
    bound: set[str] = set()
    open_ = [node for part in file.parts if part.tree for node in part.tree.body]
    while open_:
        node = open_.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            bound.add(node.name)
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound.add(node.id)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            bound |= brought(node).keys()
        open_ += ast.iter_child_nodes(node)
    return bound
