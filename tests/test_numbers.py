"""Every number that a public function takes: its sign, its range, its kind.

The functions are found, not listed: whatever says in its annotations that it takes a
number has a rule for it, and each rule meets each value that is none.
"""

import ast
import functools
import importlib
import inspect
import math
import re
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers import towers
from helpers.arguments import LARGEST, numbers, real, sides, whole, whole_number
from helpers.files import ROOT

# What takes numbers and is called by the package alone, by the file; or checks them
# otherwise, and where. What draws a figure checks nothing: one sees what is wrong.
INSIDE = {
    "arguments.py", "queues/calls.py", "queues/internals.py",
    "queues/rows.py", "queues/threads.py", "queues/wording.py", "records/shards.py",
    "records/wire.py", "shapes/drawing.py", "tracing/drawing.py", "explore.py",
    "language.py", "svg.py", "chart.py",
}
DRAWING = ("plots/", "pages/")
ELSEWHERE = {
    "make_example lbl", "top_k k", "Vocabulary.__init__ counts",
    "Vocabulary.decode ids",
    "Cluster.__init__ jobs", "Cluster.start index", "process_gradient_list weights",
    "devices wanted", "grab_captions pictures",  # they give it to one that checks
    "shuffled_places count", "shuffled_places seed", "phrases colours",
    "phrases shapes", "draw size", "write_splits size", "write_splits counts",
    "class_list num_classes", "Runner.__init__ stall", "collapse depth",
    "draw_graph depth",
}


def takers():
    """Yields each public function with the parameters that it says are numbers."""
    for path in sorted((ROOT / "helpers").rglob("*.py")):
        inside = path.relative_to(ROOT / "helpers").as_posix()
        if inside in INSIDE or inside.startswith(("checks/", *DRAWING)):
            continue
        module = "helpers." + inside.removesuffix(".py").replace("/", ".")
        for owner, node in _functions(ast.parse(path.read_text("utf-8")).body):
            arguments = [*node.args.posonlyargs, *node.args.args, node.args.vararg,
                         *node.args.kwonlyargs]
            wanted = [one.arg for one in filter(None, arguments)
                      if _is_number(one.annotation)]
            if wanted:
                yield module, owner, node.name, wanted


def _functions(nodes, owner=""):
    for node in nodes:
        if isinstance(node, ast.ClassDef) and node.name[0] != "_":
            yield from _functions(node.body, node.name)
        elif isinstance(node, ast.FunctionDef) and (
                node.name[0] != "_" or node.name == "__init__"):
            yield owner, node


def _is_number(annotation):
    if annotation is None or "Callable" in (text := ast.unparse(annotation)):
        return "int | Callable" in ast.unparse(annotation) if annotation else False
    names = {*re.findall(r"\w+", text)}  # of an annotation that is a string, too
    return bool(names & {"int", "float"}) and "Tensor]" not in text


TAKERS = list(takers())
assert all((ROOT / "helpers" / path).exists() for path in INSIDE)


@pytest.mark.parametrize(("module", "owner", "name", "wanted"), TAKERS,
                         ids=[f"{owner}.{name}" for _, owner, name, _ in TAKERS])
def test_no_value_that_is_no_such_number_gets_in(module, owner, name, wanted):
    place = importlib.import_module(module)
    function = getattr(getattr(place, owner) if owner else place, name)
    whose = f"{owner}.{name}" if owner else name
    left = [one for one in wanted if f"{whose} {one}" not in ELSEWHERE]
    rules = getattr(function, "numbers", {})
    assert set(left) <= set(rules), f"{whose} has no rule for {set(left) - set(rules)}"
    assert not set(rules) & {one for one in wanted if one not in left}
    parameters = inspect.signature(function).parameters
    for one in left:
        bad = [True, np.True_, "3", b"3", math.nan, -math.inf, np.float32("nan"), 1j,
               [], {}, object(), np.array([1, 2]), -1, np.int8(-1)]
        takes = functools.partial(_takes, rules[one])
        bad += [] if takes(0.5) or takes(2.5) else [2.5]
        bad += [other for other in (10**30, math.inf) if not takes(other)]
        bad += [] if parameters[one].default is None else [None]
        for value in bad:
            given = {key: object() for key, parameter in parameters.items()
                     if parameter.default is parameter.empty and key not in rules
                     and parameter.kind is not parameter.VAR_KEYWORD}
            given |= {key: _good(rules[key]) for key in rules if key in parameters
                      and parameters[key].default is parameters[key].empty}
            with pytest.raises((TypeError, ValueError), match=f"{one} must") as caught:
                function(**{**given, one: value})
            assert "\n" not in str(caught.value) and len(str(caught.value)) < 250


def _takes(rule, value):
    try:
        rule("x", value)
    except (TypeError, ValueError):
        return False
    return True


def _good(rule):
    return next(value for value in (1, 0.5, 32) if _takes(rule, value))


KINDS = [*np.typecodes["AllInteger"], *np.typecodes["Float"]]


@pytest.mark.parametrize("code", KINDS)
def test_a_number_of_every_width_becomes_python_s_own(code):
    value = np.dtype(code).type(3)
    assert type(real(0)("x", value)) is float and real(0)("x", value) == 3
    if np.dtype(code).kind in "iu":
        for given in (value, np.array(3, code)):
            assert type(whole()("x", given)) is int
        assert sides()("x", (value, 2)) == (3, 2)
    else:
        with pytest.raises(TypeError, match="must be a whole number"):
            whole_number("x", value)
    for kind in (Fraction(3), Decimal(3)):
        assert real(0)("x", kind) == 3.0


def test_limits_are_inside_and_what_lies_beyond_is_named():
    @numbers(a=whole(2, 5), b=real(0, 1, above=True), c=sides())
    def f(a, *rest, b=1.0, c=None, **more):
        return a, rest, b, c, more

    assert f(2) == (2, (), 1.0, None, {})
    assert f(5, 9, b=np.float16(0.5), c=[1, 2], d=True) == (
        5, (9,), 0.5, (1, 2), {"d": True})
    for given, words in [
            ({"a": 1}, "a must be at least 2, but"), ({"a": 6}, "must be at most 5"),
            ({"a": 3, "b": 0}, "b must be greater than 0"),
            ({"a": 3, "b": 2}, "at most 1"),
            ({"a": 3, "c": (1, 2, 3)}, "a pair"), ({"a": 3, "c": (1, 0)}, "least 1")]:
        with pytest.raises(ValueError, match=words):
            f(**given)
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        f()
    assert whole()("x", LARGEST) == LARGEST
    for value in (math.inf, 0):
        assert real(0, infinite=True)("x", value) == value


# Weights of towers ----------------------------------------------------------------


def averaged(weights, as_tensors=False):
    """Returns what the gradients 1 and 3 of two towers weigh together."""
    with tf.Graph().as_default(), tf1.Session() as session:
        variable = tf1.get_variable("v", [], initializer=tf1.zeros_initializer())
        given = [tf1.placeholder_with_default(np.asarray(one), [])
                 for one in weights] if as_tensors else weights
        [(average, _)] = towers.process_gradient_list(
            [[(tf.constant(g), variable)] for g in (1.0, 3.0)], given)
        return session.run(average)


@pytest.mark.parametrize(("weights", "wanted"), [
    ((1, 1), 2.0), ((np.int8(100), np.int8(100)), 2.0), ((np.uint8(200),) * 2, 2.0),
    ((1e308, 1e308), 2.0), ((np.float16(6e4),) * 2, 2.0), ((1e-300, 1e-300), 2.0),
    ((0, 1), 3.0), ((3, 1), 1.5), ((np.int64(3), 1.0), 1.5)])
@pytest.mark.parametrize("as_tensors", [False, True])
def test_weights_of_every_width_weigh_what_they_say(weights, wanted, as_tensors):
    np.testing.assert_allclose(averaged(weights, as_tensors), wanted, rtol=1e-6)


@pytest.mark.parametrize("weights", [
    (-1, 2), (0, 0), (math.nan, 1), (math.inf, 1), (1, -math.inf), (-1, -1), (-0.5, 1)])
def test_weights_that_cannot_be_are_to_blame_themselves(weights):
    with pytest.raises(ValueError, match="weights"):
        averaged(weights)
    with pytest.raises(tf.errors.InvalidArgumentError, match="weights must be finite"):
        averaged(np.float64(weights), as_tensors=True)


@pytest.mark.parametrize("weights", [
    [1], [1, 1, 1], [], [True, 1], ["1", 1], [None, 1]])
def test_weights_that_are_not_one_number_per_tower_are_refused(weights):
    with pytest.raises((TypeError, ValueError), match="weights"):
        averaged(weights)


@pytest.mark.parametrize("towers_of", [[], [[]], [[], []], iter([])])
def test_nothing_to_average_is_an_error(towers_of):
    with pytest.raises(ValueError, match="Cannot average"):
        towers.process_gradient_list(towers_of)
