"""How a file writes a name of today, and what becomes of its imports."""

import ast
import builtins

from tools.port import bridge, library
from tools.port.edits import Edit, Text
from tools.port.sources import Part, Source
from tools.port.syntax import MODULE_ROOTS, canonical


class Speller:
    """Writes full names as a file can use them, and notes what that needs.

    Attributes:
      root: what the file calls TensorFlow.
      slim: whether a name of tf_slim is written.
      mnist: whether the stand-in for the tutorials' digits is imported.
      more: modules to be imported besides.
    """

    def __init__(self, source: Source, rows: list):
        """Finds what the file calls TensorFlow."""
        roots = [local for local, full in source.names.items()
                 if full in ("tf", "tf.compat.v1") and local.isidentifier()]
        taken = any(isinstance(node, ast.Name) and node.id == "tf"
                    for part in source.parts if part.tree and not roots
                    for node in ast.walk(part.tree))
        self.root = "tf" if "tf" in roots else roots[0] if roots else (
            "tf1" if taken and "no import: tf is taken for TensorFlow"
            not in source.words else "tf")
        self.slim = self.mnist = False
        self.more: set[str] = set()

    def written(self, full: str) -> str:
        """Returns a full name as this file can write it."""
        root, dot, rest = full.partition(".")
        self.need(full)
        if root in ("tf_slim", "tutorials_mnist"):
            self.more.add(root)
        return f"{self.root}{dot}{rest}" if root == "tf" else full

    def need(self, full: str) -> None:
        """Notes what has to lie beside the file for a name."""
        self.slim |= full.startswith("tf_slim")
        self.mnist |= full.startswith("tutorials_mnist")

    def spelled(self, row) -> str | None:
        """Returns what to write for a use, "" where it stands, `None` if none can."""
        name, through, new = row.use.name, row.use.through, row.fate.bridge.name
        if bridge.is_library(name):
            return self._of_library(name, through, new)
        if through == name or name.startswith("tf.compat."):
            return ""  # its import is changed; or it says what it means
        own = "tf." + row.fate.name.removeprefix("tensorflow.").removeprefix("tf.")
        new += name[len(own):] if name.startswith(own) else ""
        if name == new and through in MODULE_ROOTS:
            return ""
        before = through if through in MODULE_ROOTS else bridge.of(through, None).name
        if before is not None and before + name[len(through):] == new:
            return ""
        if new.startswith("tf.python"):
            return None
        return self.written(new)

    def _of_library(self, name: str, through: str, new: str) -> str | None:
        if name.startswith("."):
            return new
        if name in library.BUILTINS:
            self.more |= {new.rpartition(".")[0]} - {""}
            return new
        if through == name:
            return ""
        package = name.partition(".")[0]
        module = new.rpartition(".")[0]
        if module and module != "str":
            self.more |= {module} - {package, "numpy"}
        if not module or not new.startswith(package + ".") or module == "str":
            return new
        return None if through != package else f"{{}}{new[len(package):]}"


class Imports:
    """Changes the statements that import, and finds where the top of a file is.

    Attributes:
      anchor: part, start and end of what the top stands for; `None` where the file
        does not import TensorFlow.
      first: where the file's first statement begins.
      left: `(cell, line, words)`.
    """

    def __init__(self, speller: Speller, old: bool):
        """Starts with no statement."""
        self.speller = speller
        self.anchor: tuple[int, int, int] | None = None
        self.first = (0, 0, 0)
        self.left: list[tuple] = []
        self._old, self._number, self._begun = old, -1, False

    def edits(self, part: Part, text: Text) -> list[Edit]:
        """Returns the changes of a part's imports."""
        self._number += 1
        self._look_for_top(part, text)
        edits = []
        for node in part.imports:
            if self.anchor and self.anchor[0] == self._number and \
                    text.span(node) == self.anchor[1:]:
                continue
            if isinstance(node, ast.Import):
                edits += self._import(node, part, text)
            elif node.level == 0:
                edits += self._import_from(node, part, text)
        return edits

    def _look_for_top(self, part: Part, text: Text) -> None:
        for statement in part.tree.body:
            constant = isinstance(statement, ast.Expr) and isinstance(
                statement.value, ast.Constant)
            future = isinstance(statement, ast.ImportFrom) and \
                statement.module == "__future__"
            if constant or future:
                continue
            start, end = text.span(_with_decorators(statement))
            if not self._begun:
                self.first, self._begun = (self._number, start, start), True
            if self.anchor is None and self._old and any(
                    _is_tensorflow(node) for node in ast.walk(statement)):
                whole = isinstance(statement, ast.Import) and \
                    len(statement.names) == 1 and statement.names[0].name in (
                        "tensorflow", "tensorflow.compat.v1")
                self.anchor = (self._number, start, end if whole else start)

    def _import(self, node: ast.Import, part: Part, text: Text) -> list[Edit]:
        edits = []
        for alias in node.names:
            new = self._module(alias)
            if new is None:
                if self._old and alias.name.startswith("keras."):
                    self._unknown(alias, alias.name, part.cell)
                continue
            if new.startswith("tf."):  # no module: what it held is a name of another
                if len(node.names) == 1 and (alias.asname or "." not in alias.name):
                    new = self.speller.written(new)
                    local = alias.asname or alias.name
                    return [Edit(*text.span(node), f"{local} = {new}")]
                self.left.append((part.cell, node.lineno, f"import {alias.name}"))
                continue
            local = alias.asname or alias.name.partition(".")[0]
            self.speller.need(new)
            short = new if new == local else f"{new} as {local}"
            edits.append(Edit(*text.span(alias), short))
        return edits

    def _module(self, alias: ast.alias) -> str | None:
        """Returns the module to import in place of one, `None` where it stands."""
        package = alias.name.partition(".")[0]
        full = canonical(alias.name)
        if package == "tensorflow" and self._old:
            if full in MODULE_ROOTS or not alias.asname:
                return None if "compat" in full else "tensorflow.compat.v1"
            new = bridge.of(full, None).name
            inner = full.split(".")[1] in bridge.INNER and new == full
            return None if new is None or inner else new
        if package == "keras" and self._old:
            return bridge.of(alias.name, None).name
        if package in library.MODULES and library.gone(package):
            return library.today(alias.name)
        return None

    def _import_from(self, node: ast.ImportFrom, part: Part, text: Text) -> list[Edit]:
        module = canonical(node.module or "")
        package = module.partition(".")[0]
        ours = package in ("tf", "keras") and self._old
        if not ours and not any(library.gone(f"{module}.{a.name}") or
                                library.gone(package) for a in node.names):
            return []
        lines, moved = [], False
        for alias in node.names:
            line, changed = self._one_from(module, alias)
            moved |= changed
            lines.append(line)
        start, end = text.span(node)
        line, column = text.place(start)
        before = text.text[start - column + 1:start]
        glue = "; " if before.strip() or text.text[end:end + 1] == ";" else \
            f"\n{before}"
        if not moved:
            return []
        return [Edit(start, end, glue.join(lines))]

    def _unknown(self, alias: ast.alias, name: str, cell: int | None = None) -> None:
        self.left.append((cell, alias.lineno, f"{name}: find its name in tf.keras"))

    def _one_from(self, module: str, alias: ast.alias) -> tuple[str, bool]:
        """Returns the statement that brings one name, and whether it is another."""
        local = alias.asname or alias.name
        as_local = f" as {alias.asname}" if alias.asname else ""
        written = module.replace("tf", "tensorflow", 1) if module[:3] in (
            "tf", "tf.") else module
        same = f"from {written} import {alias.name}{as_local}", False
        full = f"{module}.{alias.name}"
        if module in MODULE_ROOTS and alias.name in ("compat", "v1", "*"):
            return (f"from tensorflow.compat.v1 import {alias.name}", True) \
                if module == "tf" else same
        new = bridge.of(full, None).name
        if new is None and module.startswith("keras"):
            self._unknown(alias, full)
        if new is None or new == full and module.startswith(("tf.python", "tf.core")):
            return same
        home, _, last = new.rpartition(".")
        as_last = f" as {local}" if last != local else ""
        self.speller.need(new)
        if home == "tf":
            return f"from tensorflow.compat.v1 import {last}{as_last}", True
        if not home and last in dir(builtins):
            return f"{local} = {last}", True
        if new.startswith("tf.") or home == "str":
            return f"{local} = {self.speller.written(new)}", True
        return (f"from {home} import {last}{as_last}" if home else
                f"import {last}{as_last}"), True


def _with_decorators(statement):
    first = getattr(statement, "decorator_list", None)
    return ast.copy_location(ast.Pass(), statement) if not first else ast.Pass(
        lineno=first[0].lineno, col_offset=first[0].col_offset - 1,
        end_lineno=statement.end_lineno, end_col_offset=statement.end_col_offset)


def _is_tensorflow(node) -> bool:
    names = [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level \
        else [a.name for a in node.names] if isinstance(node, ast.Import) else []
    return any(name.partition(".")[0] in ("tensorflow", "keras") for name in names)
