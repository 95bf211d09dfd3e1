"""Finds the definitions of a lesson that an answer to an exercise may use."""

import ast
import re

from tools.cells import Lesson


def taught(lesson: Lesson) -> list[str]:
    """Returns the definitions before the exercises that are cheap to execute.

    These are the imports, functions, classes and constants at the top level of the
    cells. Statements that compute a value are left out.
    """
    statements = []
    for cell in lesson.taught():
        statements += definitions(cell.source)
    return list(dict.fromkeys(statements))


def definitions(source: str) -> list[str]:
    """Returns the top-level definitions of a cell that are cheap to execute."""
    try:
        body = ast.parse(re.sub(r"^[%!].*$", "", source, flags=re.M)).body
        return [ast.unparse(node) for node in body if _is_cheap(node)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def _is_cheap(node: ast.stmt) -> bool:
    if isinstance(node, ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef):
        return True
    if not isinstance(node, ast.Assign):
        return False
    try:
        ast.literal_eval(node.value)
    except ValueError:
        return False
    return True


def names_made(statement: str) -> set[str]:
    """Returns the names that a statement defines."""
    node = ast.parse(statement).body[0]
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {(a.asname or a.name).split(".")[0] for a in node.names}
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    return {n.id for n in ast.walk(node)
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def names_read(source: str) -> set[str]:
    """Returns all words of a source text as the names it might use."""
    return set(re.findall(r"\w+", source))


def needed(statements: list[str], source: str) -> list[str]:
    """Returns the statements on which a source text depends, in order."""
    made = [names_made(statement) for statement in statements]
    pending, kept = names_read(source), set()
    while pending:
        new = {k for k, names in enumerate(made) if k not in kept and names & pending}
        kept |= new
        pending = {word for k in new for word in names_read(statements[k])}
    return [statements[k] for k in sorted(kept)]
