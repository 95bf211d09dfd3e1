"""The checks of lesson 11: right answers of any shape pass, wrong ones are named."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf1

from helpers.checks.lesson_11 import AVERAGE, check_averaged, check_strangers

SLOTS = (AVERAGE, "/Momentum")


def by_comprehension(weights):
    return {n: weights.get(n + AVERAGE, a) for n, a in weights.items()
            if not n.endswith(SLOTS) and n != "global_step"}


def in_two_passes(weights):
    found = {name: array for name, array in weights.items()
             if name.split("/")[-1] not in ("Momentum", "ExponentialMovingAverage")}
    found |= {name[: -len(AVERAGE)]: array for name, array in weights.items()
              if name.endswith(AVERAGE)}
    del found["global_step"]
    return found


def with_copies(weights):
    names = {name.removesuffix(AVERAGE).removesuffix("/Momentum") for name in weights}
    return {name: np.copy(weights.get(name + AVERAGE, weights[name]))
            for name in sorted(names - {"global_step"})}


@pytest.mark.parametrize("attempt", [by_comprehension, in_two_passes, with_copies])
def test_averaged_takes_right_answers(attempt):
    assert check_averaged(attempt)


def in_place(weights):
    for name in list(weights):
        if name.endswith(AVERAGE):
            weights[name[: -len(AVERAGE)]] = weights.pop(name)
    return by_comprehension(weights)


@pytest.mark.parametrize("attempt", [
    sorted, in_place, lambda w: w, dict,
    lambda w: by_comprehension(w) | {"global_step": w["global_step"]},
    lambda w: {n: w[n] for n in by_comprehension(w)},
    lambda w: {n[: -len(AVERAGE)]: a for n, a in w.items() if n.endswith(AVERAGE)},
    lambda w: {n: a for n, a in by_comprehension(w).items() if "Momentum" not in n},
    lambda w: {n: a for n, a in by_comprehension(w).items() if AVERAGE not in n},
    lambda w: {n: a for n, a in by_comprehension(w).items() if "global_step" not in n},
    lambda w: {n: a * 0 for n, a in by_comprehension(w).items()}])
def test_averaged_refuses_wrong_answers(attempt):
    assert not check_averaged(attempt)


def by_extraction(graph, output, allowed):
    bodies = {each.signature.name: each.node_def for each in graph.library.function}
    waiting = list(tf1.graph_util.extract_sub_graph(graph, [output]).node)
    seen, kinds = set(), set()
    while waiting:
        node = waiting.pop()
        kinds.add(node.op)
        name = node.attr["f"].func.name if "f" in node.attr else ""
        if name and name not in seen:
            seen.add(name)
            waiting += bodies[name]
    return sorted(kinds - allowed)


def by_recursion(graph, output, allowed, clean=lambda s: s.lstrip("^").split(":")[0],
                 deep=True, bodies=True):
    nodes, seen, kinds = {node.name: node for node in graph.node}, set(), set()
    functions = {each.signature.name: each.node_def for each in graph.library.function}

    def run(node, inside):
        kinds.add(node.op)
        name = node.attr["f"].func.name if "f" in node.attr else ""
        if bodies and name and name not in seen and (deep or not inside):
            seen.add(name)
            for each in functions[name]:
                run(each, True)
        for source in () if inside else map(clean, node.input):
            if source in nodes and source not in seen:
                seen.add(source)
                run(nodes[source], False)

    run(nodes[output], False)
    return sorted(kinds - allowed)


def by_sweeps(graph, output, allowed):
    return by_recursion(graph, output, frozenset(allowed))


@pytest.mark.parametrize("attempt", [by_extraction, by_recursion, by_sweeps])
def test_strangers_takes_right_answers(attempt):
    assert check_strangers(attempt)


@pytest.mark.parametrize("attempt", [
    lambda g, o, a: set(by_extraction(g, o, a)), lambda g, o, a: [],
    lambda g, o, a: sorted({n.op for n in g.node} - a),
    lambda g, o, a: by_extraction(g, "n0", a),
    lambda g, o, a: by_extraction(g, o, {"Add", "PartitionedCall"}),
    lambda g, o, a: by_extraction(g, o, set()),
    lambda g, o, a: by_extraction(g, o, a)[:1],
    lambda g, o, a: by_recursion(g, o, a, clean=lambda s: s.split(":")[0]),
    lambda g, o, a: by_recursion(g, o, a, clean=lambda s: s.lstrip("^")),
    lambda g, o, a: by_recursion(g, o, a, deep=False),
    lambda g, o, a: by_recursion(g, o, a, bodies=False),
    lambda g, o, a: sorted(by_extraction(g, o, a) * 2),
    lambda g, o, a: by_extraction(g, o, a)[::-1]])
def test_strangers_refuses_wrong_answers(attempt):
    assert not check_strangers(attempt)
