"""Exercise checks of lesson 11: averaged weights, and ops that are not allowed."""

import numpy as np
import tensorflow.compat.v1 as tf1

from helpers.checks.claims import answering, drawn, exercise, near, same, shortened

AVERAGE = "/ExponentialMovingAverage"
_WORDS = ("conv1", "weights", "Momentum", "ExponentialMovingAverages", "global_step")


def _drawn_weights(rng, size):
    """Draws the arrays of a checkpoint, and the weights that should be loaded."""
    weights = {"global_step": np.int64(rng.integers(99))} if size % 2 else {}
    due = {}
    for number in range(size):
        scopes = rng.choice(_WORDS, rng.integers(0, 4)).tolist()
        name = "/".join([*scopes, f"w{number}_mean"])
        if size % 3 == 2 and not number:
            name = "layer/Momentum"  # a variable, as there is none called "layer"
        if size % 3 == 1 and not number:
            name = "layer/global_step"  # of a layer, not the counter
        kinds = ["", *(kind for kind in (AVERAGE, "/Momentum") if rng.random() < 0.5)]
        shape = rng.integers(0, 4, rng.integers(0, 3))
        dtype = rng.choice(["float32", "float64"])
        arrays = {name + kind: rng.integers(-1, 2, shape).astype(dtype)
                  for kind in kinds}
        due[name] = arrays.get(name + AVERAGE, arrays[name])
        weights |= arrays
    names = rng.permutation(sorted(weights)).tolist()
    return {name: weights[name] for name in names}, due


@exercise(
    "Exercise 1: averaged",
    "Go through the names without the suffix, and look whether the name with the "
    "suffix exists, too.",
    "The name of a slot is the name of a variable, followed by `/Momentum`. What is "
    "left is to take `weights.get(name + average, array)` for each of the other names.",
    about={
        "returns all variables of the network, and nothing else": (
            "The end of a name alone does not make a slot: what comes before "
            "`/Momentum` has to be in the dictionary, too. An average never appears "
            "under its own name, and the counter is called exactly `global_step`."),
        "returns each variable's average, or its array if it has none": (
            "For each variable, look first for its name followed by the suffix of the "
            "average."),
        "changes nothing else":
            "Build a new dictionary, and take nothing out of the one that you get.",
    },
)
def check_averaged(attempt):
    """Checks that averaged weights replace the plain ones, on random names."""
    for weights, due in drawn(_drawn_weights):
        with answering(f"with the names {', '.join(weights)}"):
            found = attempt(weights)
        yield ("returns a new dictionary",
               isinstance(found, dict) and found is not weights,
               "it returned its argument" if found is weights else
               f"it returned {found!r:.60}, which is no dictionary")
        said = [f"{name!r} is missing" for name in due if name not in found]
        said += [f"{name!r} does not belong to the network" for name in found
                 if name not in due]
        yield ("returns all variables of the network, and nothing else", not said,
               f"{', '.join(said)}; the argument has {', '.join(weights)}")
        kinds = [{name: np.asarray(array).dtype.name for name, array in one.items()}
                 for one in (due, found)]
        yield same("returns the arrays in their dtypes", *kinds)
        yield near("returns each variable's average, or its array if it has none",
                   [*due.values()], [found[name] for name in due],
                   f"the arrays of {[*due]}")


_TYPES = ("Add", "Split", "Enter", "Const", "Abort", "PyFunc", "Placeholder", "Save")
_CALLS = ("PartitionedCall", "StatefulPartitionedCall")


def _drawn_nodes(nodes, rng, size: int, functions: list[str]) -> None:
    """Adds random ops whose inputs come in any order and may form loops."""
    for number in range(size + 1):
        calls = functions and rng.random() < 0.4
        node = nodes.add(name=f"n{number}", op=str(rng.choice(_CALLS if calls
                                                              else _TYPES)))
        for _ in range(rng.integers(0, 3)):
            source = rng.integers(size + 1)
            node.input.append(str(rng.choice(
                [f"n{source}", f"n{source}:1", f"n{source}:2", f"n{source}:12"])))
        for _ in range(rng.integers(0, 3) if rng.random() < 0.5 else 0):
            node.input.append(f"^n{rng.integers(size + 1)}")
        if calls:
            node.attr["f"].func.name = str(rng.choice(functions))


def _drawn_graph(rng: np.random.Generator, size: int):
    graph, names = tf1.GraphDef(), [f"f{number}" for number in range(size // 4)]
    for name in names:
        function = graph.library.function.add()
        function.signature.name = name
        _drawn_nodes(function.node_def, rng, int(rng.integers(3)), names)
    if size % 5 == 4:  # each function calls the next: some are far down
        for function, after in zip(graph.library.function, names[1:], strict=False):
            function.node_def.add(name="last", op=_CALLS[0]).attr["f"].func.name = after
    _drawn_nodes(graph.node, rng, size, names)
    allowed = {"Add", *rng.choice([*_TYPES, *_CALLS], 5).tolist()}
    return graph, f"n{rng.integers(size + 1)}", allowed


def _written(graph) -> str:
    """Writes down the ops of a graph and of its functions, as far as there is room."""
    bodies = {"": graph.node} | {
        f" in the function {each.signature.name}": each.node_def
        for each in graph.library.function}
    calls = [(node, node.attr["f"].func.name if "f" in node.attr else "", where)
             for where, nodes in bodies.items() for node in nodes]
    ops = [f"{node.name} = {node.op}({', '.join([*node.input, *called.split()])})"
           + where for node, called, where in calls]
    return shortened("; ".join(ops), 400)


def _due(graph, output: str, allowed: set[str]) -> list[str]:
    """Finds the forbidden ops that an output needs, with a slow exhaustive search."""
    bodies = {each.signature.name: each.node_def for each in graph.library.function}
    names: set[str] = {output}
    called: set[str] = set()
    while True:
        run = [node for node in graph.node if node.name in names]
        run += [node for name in called for node in bodies[name]]
        more = {source.lstrip("^").split(":")[0] for node in run[: len(names)]
                for source in node.input}
        calls = {node.attr["f"].func.name for node in run if node.op in _CALLS}
        if more <= names and calls <= called:
            return sorted({node.op for node in run} - allowed)
        names, called = names | more, called | calls


@exercise(
    "Exercise 2: strangers",
    "The ops that the output needs are those of "
    "`tf1.graph_util.extract_sub_graph(graph_def, [output])`.",
    "Begin with `functions = {each.signature.name: each.node_def for each in "
    "graph_def.library.function}`. What is left is to read each function that an op "
    "calls, but only once, and to sort the types.",
    about={
        "lists the ops that would run and are not allowed": (
            "The output also waits for the inputs that begin with ^. Of the graph, "
            "only the ops that the output needs will run, but of a function that is "
            "called, all ops do. A function may call another one, and the call is an "
            "op itself."),
        "runs without an error": (
            "A function may call itself, so remember which ones you have read. The "
            "name of an input may begin with ^, and end with a colon and a number."),
    },
)
def check_strangers(attempt):
    """Checks the list of forbidden ops in random graphs against a slow search."""
    for graph, output, allowed in drawn(_drawn_graph, 40):
        text = f"fetching {output} of {_written(graph)}, allowed {sorted(allowed)}"
        with answering(text):
            found = attempt(graph, output, allowed)
        yield same("lists the ops that would run and are not allowed",
                   _due(graph, output, allowed), found, text)
