"""Allowlist of the ops that a graph of unknown origin may run.

A list of dangerous ops would have gaps, and every new TensorFlow adds ops. `ops.txt`
therefore lists the ops that are known to compute in memory and to touch nothing else,
and all others are refused. Taught in lesson 11, "A graph is a program".

The allowlist cannot exclude a bug of TensorFlow in an allowed op, and it does not limit
the memory or the time that a graph takes. A model of unknown origin belongs in a
container.
"""

from collections.abc import Collection, Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.inherited.graph_facts import called_functions, op_name

# Allowed ops that read a file, with the index of the input that names it.
READS = {"Restore": 0, "RestoreSlice": 0, "RestoreV2": 0,
         "InitializeTableFromTextFile": 1, "InitializeTableFromTextFileV2": 1}
_CALLS = ("PartitionedCall", "StatefulPartitionedCall")
_HANDLES = {tf.resource.as_datatype_enum, tf.variant.as_datatype_enum}
MOST_OPS = 1_000_000  # with all calls expanded
DEEPEST = 64  # nested calls; TensorFlow is limited only by its stack
FOREIGN = "reads a file that is not the model's own"


class Refusal(NamedTuple):
    """Op that must not run, with the reason.

    Attributes:
      name: Name of the op, after the names of the functions that contain it.
      kind: Type of the op.
      why: Reason, such as "reads or writes files".
    """

    name: str
    kind: str
    why: str


def families(file: str = "ops.txt") -> tuple[dict[str, list[str]], ...]:
    """Loads the allowed names and the patterns of refused names, by family."""
    listed: dict[str, dict[str, list[str]]] = {"+": {}, "-": {}}
    into: list[str] = []
    for line in Path(__file__).with_name(file).read_text("utf-8").splitlines():
        if line[:2] in ("+ ", "- "):
            into = listed[line[0]].setdefault(line[2:], [])
        elif not line.startswith("#"):
            into += line.split()
    return listed["+"], listed["-"]


_MAY, _MUST_NOT = families()
ALLOWED = frozenset(name for names in _MAY.values() for name in names)


def why_not(kind: str) -> str | None:
    """Returns the reason why ops of a type are refused, or None if they may run."""
    if kind in ALLOWED:
        return None
    for why, patterns in _MUST_NOT.items():
        if any(fnmatchcase(kind, pattern) for pattern in patterns):
            return why
    return "is not known to be harmless"


def refusals(graph: tf1.GraphDef, own: Collection[str] = ()) -> Iterator[Refusal]:
    """Yields each op of a graph and its functions that must not run.

    Args:
      graph: Graph definition, which is not run.
      own: Names of ops that hold the name of one of the model's own files.
    """
    functions = {each.signature.name: each for each in graph.library.function}
    for name in sorted(functions):
        if hasattr(tf.raw_ops, name):
            yield Refusal(name, "function", "has the name of an op")
    yield from _Reader(functions).read(graph.node, frozenset(own))


class _Reader:
    """Reader that checks the ops of a graph and of the functions that they call.

    Attributes:
      functions: Functions by name.
      calls: Names of the functions that are being read, from the outermost.
      known: Maximum number of ops that each function runs, and the depth of its calls.
    """

    def __init__(self, functions: dict):
        self.functions = functions
        self.calls: list[str] = []
        self.known: dict[tuple, tuple[int, int]] = {}
        self.ops = self.depth = 0  # of the last read

    def read(self, nodes, own: frozenset[str]) -> Iterator[Refusal]:
        by_name = {node.name: node for node in nodes}
        used = {op_name(source) for node in nodes for source in node.input}
        ops, depth = len(nodes), 0
        for node in nodes:
            why = self._why_not(node, by_name, own)
            if node.op in ("Enter", "RefEnter") and node.name not in used:
                why = "begins a loop without a body"  # TensorFlow would crash
            if why:
                yield self._refusal(node, why)
                continue
            for name in called_functions(node, self.functions):
                yield from self._call(node, name, by_name, own)
                ops, depth = ops + self.ops, max(depth, self.depth + 1)
            if ops > MOST_OPS:
                yield self._refusal(node, f"makes more than {MOST_OPS:,} ops run")
                return
        self.ops, self.depth = ops, depth

    def _why_not(self, node, by_name, own) -> str | None:
        if node.op in READS and not _is_own(node, by_name, own):
            return FOREIGN
        if node.op in ("Const", "ParseTensor") and _HANDLES & {
                node.attr[key].type for key in ("dtype", "out_type")
                if key in node.attr}:
            return "makes a handle out of bytes"
        return None if node.op in self.functions else why_not(node.op)

    def _call(self, node, name: str, by_name, own) -> Iterator[Refusal]:
        self.ops = self.depth = 0
        if name not in self.functions:
            yield self._refusal(node, f"calls {name}, which is not in the file")
        elif name in self.calls:
            yield self._refusal(node, f"makes the function {name} call itself")
        elif len(self.calls) > DEEPEST:
            yield self._refusal(node, f"nests more than {DEEPEST} calls")
        else:
            passed = self._passed(node, name, by_name, own)
            if (name, passed) not in self.known:
                self.calls.append(name)
                yield from self.read(self.functions[name].node_def, passed)
                self.calls.pop()
                self.known[name, passed] = self.ops, self.depth
            self.ops, self.depth = self.known[name, passed]
            if len(self.calls) + self.depth > DEEPEST:
                yield self._refusal(node, f"nests more than {DEEPEST} calls")

    def _passed(self, node, name: str, by_name, own) -> frozenset[str]:
        """Returns the arguments that receive the name of one of the model's files."""
        arguments = self.functions[name].signature.input_arg
        # If an argument is a list, inputs cannot be assigned to arguments reliably.
        lists = any(each.number_attr or each.type_list_attr for each in arguments)
        if lists or node.op not in (*_CALLS, name):
            return frozenset()
        return frozenset(argument.name for argument, source in
                         zip(arguments, node.input, strict=False)
                         if _origin(source, by_name) in own)

    def _refusal(self, node, why: str) -> Refusal:
        return Refusal("/".join([*self.calls, node.name]), node.op, why)


def _is_own(node, by_name, own) -> bool:
    place = READS[node.op]
    return len(node.input) > place and _origin(node.input[place], by_name) in own


def _origin(source: str, by_name) -> str:
    """Returns the op that produces a value, with identity ops skipped."""
    seen = set()
    while (name := op_name(source)) not in seen:
        seen.add(name)
        node = by_name.get(name)
        if node is None or node.op != "Identity" or not node.input:
            break
        source = node.input[0]
    return name
