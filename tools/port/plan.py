"""What `port --write` changes in each file of a folder, and what it leaves."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tools.port import bridge, library
from tools.port.edits import Edit, Text
from tools.port.fates import Fate, fate
from tools.port.meaning import Meaning
from tools.port.sources import Project, Source
from tools.port.statements import Imports, Speller
from tools.port.syntax import Use, dotted

KEY = "TF_USE_LEGACY_KERAS"
KERAS = ("import os", f'os.environ["{KEY}"] = "1"')
# Keras 1's arguments, which Keras 2 does not take.
KERAS_1 = {
    "nb_epoch": "epochs", "init": "kernel_initializer", "border_mode": "padding",
    "subsample": "strides", "nb_filter": "filters", "dim_ordering": "data_format",
    "W_regularizer": "kernel_regularizer", "b_regularizer": "bias_regularizer",
    "samples_per_epoch": "steps_per_epoch", "nb_val_samples": "validation_steps",
    "inner_init": "recurrent_initializer", "output_dim": "units",
}
REUSE = ("reuse shares the weights of the old layers; Keras 3's share nothing by it: "
         "make each layer once and call it twice")


class Row(NamedTuple):
    """One use of a name, with what became of it."""

    line: int
    column: int
    cell: int | None
    fate: Fate
    use: Use


class Left(NamedTuple):
    """A line that somebody has to look at."""

    cell: int | None
    line: int
    words: str


class Plan:
    """One file: what was found in it, and what is to be done.

    Attributes:
      source: the file as it was read.
      rows: its names.
      old: whether it is to run on compat.v1.
      left: the lines that are for somebody to change.
      edits: the changes, a list for each part, on top of those to Python 3.
      top: the lines that make it run, and `place`: "in place of line 3".
    """

    def __init__(self, source: Source):
        """Looks up every name of a file."""
        self.source = source
        self.rows = [
            Row(line, column, part.cell, fate(use.name, use.call), use)
            for part in source.parts
            for use, (line, column) in zip(part.uses, part.places(), strict=True)]
        self.python2 = "Python 2" in source.words or any(
            row.fate.name in library.BUILTINS or row.fate.name in library.MODULES
            or row.fate.name.startswith(".")
            and row.fate.name not in library.OF_LIBRARIES for row in self.rows)
        self.old = False
        if any(row.fate.name.startswith(("tf.layers.", "tf.contrib.layers."))
               for row in self.rows):
            source.words.extend(
                f"line {row.line}: {REUSE}" for row in self.rows
                if row.use.name == "tf.variable_scope" and row.use.call
                and "reuse" in row.use.call.keywords)
        self.left = [Left(row.cell, row.line, f"{row.fate.name}: {row.fate.instead}")
                     for row in self.rows if row.fate.bridge.left]
        self._deconvolves = any(row.fate.name.startswith("tf.nn.conv2d_transpose")
                                for row in self.rows)
        self.edits: list[list[Edit]] = [[] for _ in source.parts]
        self.top: list[str] = []
        self.place = ""
        self.beside: set[str] = set()

    @property
    def is_old(self) -> bool:
        """Whether some name or call in it is no longer TensorFlow's own.

        Keras as a package of its own was Keras 2 then.
        """
        return self._has_keras or any(row.fate.verdict in ("moved", "replaced", "gone")
                   and row.use.name.startswith("tf.")
                   and not row.use.name.startswith(("tf.keras", "tf.compat"))
                   for row in self.rows)

    @property
    def legacy(self) -> bool:
        """Whether it needs Keras 2."""
        return self._has_keras or any(
            bridge.legacy(row.fate.bridge.name) for row in self.rows)

    @property
    def _has_keras(self) -> bool:
        return any(
            alias.name.split(".")[0] == "keras" or
            getattr(node, "module", "").split(".")[0] == "keras"
            for part in self.source.parts for node in part.imports
            for alias in node.names if getattr(node, "level", 0) == 0)

    def count(self, verdict: str) -> int:
        """Returns how many uses have a verdict."""
        return sum(row.fate.verdict == verdict for row in self.rows)

    def make(self, legacy: bool) -> None:
        """Works out the changes."""
        if not self.old:
            self.left = [one for one, row in zip(self.left, [
                row for row in self.rows if row.fate.bridge.left], strict=True)
                if bridge.is_library(row.use.name)]
        speller = Speller(self.source, self.rows)
        imports = Imports(speller, self.old)
        for number, part in enumerate(self.source.parts):
            if part.tree is None:
                self.left.append(Left(part.cell, 1, "not all of it could be read"))
                continue
            text = part.edited
            edits, rows = self.edits[number], [
                row for row in self.rows if row.cell == part.cell]
            if self.python2:
                meant = Meaning(part.tree, text)
                edits += meant.edits
                self.left += [Left(part.cell, *one) for one in meant.left]
            for row in rows:
                edits += self._edits_of(row, text, speller)
                self.left += [Left(row.cell, row.line, words)
                              for words in self._another_call(row, text)]
            edits += imports.edits(part, text)
            if self._has_keras:
                self.left += [
                    Left(part.cell, node.lineno, f"{word.arg}= is {KERAS_1[word.arg]}=")
                    for node in ast.walk(part.tree) if isinstance(node, ast.Call)
                    for word in node.keywords if word.arg in KERAS_1
                    and "Embedding" not in (dotted(node.func) or "")]
        self.left += [Left(cell, line, words) for cell, line, words in imports.left]
        self._put_on_top(imports, legacy)
        self.left.sort(key=lambda one: (one.cell or 0, one.line))

    def _edits_of(self, row: Row, text: Text, speller: Speller) -> list[Edit]:
        found, node = row.fate.bridge, row.use.node
        if found.name is None or found.refused or node is None or isinstance(
                node, ast.alias):
            return []
        function = node.func if isinstance(node, ast.Call) and row.use.call else node
        new = speller.spelled(row)
        edits = []
        if new is None:
            self.left.append(Left(row.cell, row.line, f"{row.fate.name}: "
                                  f"{row.fate.instead}"))
        elif new:
            start, end = text.span(function)
            package, dot, rest = row.use.name.partition(".")
            new = new.format(text.text[start:end].removesuffix(dot + rest))
            if row.use.name.startswith("."):
                start = end - len(row.use.name.strip(".()[]"))
            edits.append(Edit(start, end, new))
        if isinstance(node, ast.Call) and row.use.call:
            edits += self._arguments(row, node, text)
        return edits

    def _arguments(self, row: Row, node: ast.Call, text: Text) -> list[Edit]:
        found, edits = row.fate.bridge, []
        if found.names[:1] == ("logits",):
            first, *second = (text.text[slice(*text.span(a))] for a in node.args)
            if _are_labels(first) or any("logit" in one for one in second):
                self.left.append(Left(row.cell, row.line, "name logits= and labels="))
                return []
        at = text.text.index("(", text.span(node.func)[1]) + 1
        for name, argument in zip(found.names, node.args, strict=False):
            while text.text[at].isspace():
                at += 1
            edits.append(Edit(at, at, f"{name}="))
            at = text.text.find(",", text.span(argument)[1]) + 1
        for keyword in node.keywords:
            if new := found.keywords.get(keyword.arg or ""):
                start = text.span(keyword)[0]
                edits.append(Edit(start, start + len(keyword.arg or ""), new))
        return edits

    def _another_call(self, row: Row, text: Text) -> Iterator[str]:
        """Yields what to change in a call whose text alone tells that it fails."""
        node, name = row.use.node, row.use.name
        if not isinstance(node, ast.Call):
            return
        written = [text.text[slice(*text.span(one))] for one in node.args]
        if name in ("tf.nn.nce_loss", "tf.nn.sampled_softmax_loss") \
                and len(written) > 3 and not _are_labels(written[2]):
            yield f"{name}: name labels= and inputs=, since 1.0 the labels come first"
        if name == "tf.reshape" and self._deconvolves and written[1:] \
                and written[1].endswith(".get_shape()"):
            yield ("tf.reshape: give tf.shape(...), for the batch of conv2d_transpose "
                   "is its input's today, and may be unknown")

    def _put_on_top(self, imports: Imports, legacy: bool) -> None:
        speller = imports.speller
        if not self.source.parts:
            return
        anchored = imports.anchor is not None
        there = "".join(part.text for part in self.source.parts)
        self.top = [*KERAS] if anchored and legacy and KEY not in there else []
        if speller.slim and "slim_shim" not in there:
            self.top += ["import slim_shim", *(
                f"import {name}" for name in speller.more & {"tf_slim"})]
            speller.more.discard("tf_slim")
            self.beside.add("slim_shim.py")
        if anchored:
            self.top.append(f"import tensorflow.compat.v1 as {speller.root}")
            if not any("disable_v2_behavior" in row.use.name for row in self.rows):
                self.top.append(f"{speller.root}.disable_v2_behavior()")
        if speller.mnist:
            self.beside.add("tutorials_mnist.py")
        number, start, end = imports.anchor or imports.first
        part = self.source.parts[number]
        text = part.edited
        line, column = text.place(start)
        cell = "" if part.cell is None else f"cell {part.cell}, "
        self.place = f"{'in place of' if end > start else 'before'} {cell}line {line}"
        if self.top:
            indent = " " * (column - 1)
            lines = self.top if end > start else [*self.top, ""]
            self.edits[number].insert(0, Edit(start, end, f"\n{indent}".join(lines)))
        if more := sorted(speller.more):
            number, start, _ = imports.first
            self.edits[number].insert(0, Edit(
                start, start, "".join(f"import {name}\n" for name in more)))


def plans(project: Project) -> dict[Path, Plan]:
    """Returns the plan of each file; files that import each other share a bridge."""
    found = {path: Plan(source) for path, source in project.sources.items()}
    for group in _groups(found):
        old = any(found[path].is_old for path in group)
        python2 = any(found[path].python2 for path in group)
        legacy = any(found[path].legacy for path in group)
        for path in group:
            found[path].old, found[path].python2 = old, python2
            found[path].make(legacy)
    return found


def _are_labels(text: str) -> bool:
    return any(word in text for word in ("label", "target", "y_"))


def _groups(found: dict[Path, Plan]) -> list[set[Path]]:
    """Returns the files that belong together by their imports."""
    group = {path: {path} for path in found}
    for path, plan in found.items():
        for other in plan.source.neighbours:
            if group[path] is not group[other]:
                group[path] |= group[other]
                for member in group[other]:
                    group[member] = group[path]
    return list({id(one): one for one in group.values()}.values())
