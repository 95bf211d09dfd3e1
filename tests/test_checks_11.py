"""The checks of lesson 11: right answers of any shape pass, wrong ones are named."""

import numpy as np
import pytest
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.checks.lesson_11 import check_answers, check_averaged, check_touches
from helpers.inherited import open_model

AVERAGE = "/ExponentialMovingAverage"
DANGEROUS = ("WriteFile", "ReadFile", "MatchingFiles", "PyFunc")


def by_comprehension(weights):
    return {n: weights.get(n + AVERAGE, a) for n, a in weights.items()
            if not n.endswith((AVERAGE, "/Momentum")) and n != "global_step"}


def in_two_passes(weights):
    found = {}
    for name, array in weights.items():
        if name.split("/")[-1] not in ("Momentum", "ExponentialMovingAverage"):
            found[name] = array
    for name, array in weights.items():
        if name.endswith(AVERAGE):
            found[name[: -len(AVERAGE)]] = array
    found.pop("global_step")
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
    return weights


@pytest.mark.parametrize(
    ("attempt", "word"),
    [(lambda weights: sorted(weights), "returned list"),
     (in_place, "is changed"),
     (lambda w: dict(w), "is no variable of the network"),
     (lambda w: by_comprehension(w) | {"global_step": 30}, "counts steps"),
     (lambda w: {n: a for n, a in w.items() if not n.endswith((AVERAGE, "/Momentum"))
                 and n != "global_step"}, "has an average"),
     (lambda w: {n[: -len(AVERAGE)]: a for n, a in w.items() if n.endswith(AVERAGE)},
      "has no average"),
     (lambda w: {n: a for n, a in by_comprehension(w).items() if "Momentum" not in n},
      "weight of a layer")],
)
def test_averaged_names_what_is_wrong(attempt, word):
    report = check_averaged(attempt)
    assert not report and word in " ".join(repr(report).split())


def dequeue(graph):
    return next(op.outputs[0] for op in graph.get_operations()
                if op.type.startswith("QueueDequeue"))


def by_saver(prefix, batch, *, graph=None, key=dequeue, restore=True):
    with (graph or tf.Graph()).as_default() as graph:
        saver = tf1.train.import_meta_graph(prefix + ".meta")
        with tf1.Session() as session:
            if restore:
                saver.restore(session, prefix)
            else:
                session.run(tf1.global_variables_initializer())
            fed = key(graph)
            return session.run("probabilities:0", {fed: batch})


def by_consumer(prefix, batch):
    """Feeds the input of the first product, whatever fills it."""
    def first_input(graph):
        return next(op.inputs[0] for op in graph.get_operations()
                    if op.type == "MatMul")

    return by_saver(prefix, batch, key=first_input)


def by_shape(prefix, batch):
    def of_this_shape(graph):
        return next(t for op in graph.get_operations() for t in op.outputs
                    if "Dequeue" in op.type and t.dtype == tf.float32)

    return by_saver(prefix, batch, key=of_this_shape)


@pytest.mark.parametrize("attempt", [by_saver, by_consumer, by_shape])
def test_answers_takes_right_answers(attempt):
    assert check_answers(attempt)


@pytest.mark.parametrize(
    ("attempt", "word"),
    [(lambda p, b: by_saver(p, b).tolist(), "returned list"),
     (lambda p, b: by_saver(p, b)[:1], "the shape is"),
     (lambda p, b: by_saver(p, b, restore=False), "are the weights restored"),
     (lambda p, b: by_saver(p, b, key=lambda g: "batch:0"), "KeyError"),
     (lambda p, b: open_model(p + ".meta")(batch=b), "has no input batch"),
     (lambda p, b: np.full((len(b), 3), 1 / 3, np.float32), "the numbers are others")],
)
def test_answers_names_what_is_wrong(attempt, word):
    report = check_answers(attempt)
    assert not report
    text = " ".join(repr(report).split())
    assert word in text or "batch" in text and "✗" in text


def test_answers_must_not_litter_the_graph_outside():
    def litters(prefix, batch):
        return by_saver(prefix, batch, graph=tf1.get_default_graph())

    with tf.Graph().as_default():
        report = check_answers(litters)
    assert not report and "the graph that was open" in " ".join(repr(report).split())


def loaded(path):
    return tf1.GraphDef.FromString(open(path, "rb").read())


def by_walking(path, output):
    nodes = {node.name: node for node in loaded(path).node}
    found, waiting = set(), [output]
    while waiting:
        name = waiting.pop().lstrip("^").split(":")[0]
        if name not in found:
            found.add(name)
            waiting += nodes[name].input
    return sorted({nodes[name].op for name in found} & set(DANGEROUS))


def by_extraction(path, output):
    small = tf1.graph_util.extract_sub_graph(loaded(path), [output])
    return sorted({node.op for node in small.node if node.op in DANGEROUS})


def by_recursion(path, output):
    nodes = {node.name: node for node in loaded(path).node}

    def ops(name):
        node = nodes[name.lstrip("^").split(":")[0]]
        return {node.op}.union(*map(ops, node.input))

    return sorted(ops(output) & set(DANGEROUS))


@pytest.mark.parametrize("attempt", [by_walking, by_extraction, by_recursion])
def test_touches_takes_right_answers(attempt):
    assert check_touches(attempt)


def without_control(path, output):
    nodes = {node.name: node for node in loaded(path).node}
    found, waiting = set(), [output]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += [s for s in nodes[name].input if not s.startswith("^")]
    return sorted({nodes[name].op for name in found} & set(DANGEROUS))


def one_step_back(path, output):
    nodes = {node.name: node for node in loaded(path).node}
    names = {output, *(s.lstrip("^") for s in nodes[output].input)}
    return sorted({nodes[name].op for name in names} & set(DANGEROUS))


@pytest.mark.parametrize(
    ("attempt", "word"),
    [(lambda p, o: set(), "returned set"),
     (lambda p, o: sorted({n.op for n in loaded(p).node} & set(DANGEROUS)),
      "an idle op does not count"),
     (lambda p, o: [], "an op behind the output counts"),
     (without_control, "a control input counts"),
     (one_step_back, "counts"),
     (lambda p, o: by_walking(p, "y"), "for the output `note`"),
     (lambda p, o: sorted(by_walking(p, o) * 2), "it gave")],
)
def test_touches_names_what_is_wrong(attempt, word):
    report = check_touches(attempt)
    assert not report and word in " ".join(repr(report).split())
