"""The checks of lesson 05: where variables go, the average, the towers' spread."""

from collections.abc import Callable, Iterator

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.checks.report import Claim, exercise

TOWERS, ROWS = 3, 7
HOLDERS = ["/cpu:2", "/cpu:0", "/cpu:3"]


@exercise(
    "Exercise 1: deal_variables",
    "look at variables_first: it tells an op that holds a variable by its type. What "
    "must a second call of yours know about the first?",
    "begin with dealt = itertools.count() before the inner def place(op), and let "
    "place return a device for each op.",
)
def check_deal_variables(attempt: Callable) -> Iterator[Claim]:
    """Builds two towers of five variables and reads the device of every op.

    Args:
      attempt: `devices` to a device function.
    """
    place = attempt(list(HOLDERS))
    yield ("returns a function", callable(place), f"it returned {place!r:.50}")
    graph, variables = _five_variables(place)
    found = [_short(v.device) for v in variables]
    yield ("every variable is on one of the devices", set(found) <= set(HOLDERS),
           f"the variables are on {found}")
    wanted = [HOLDERS[k % 3] for k in range(5)]
    yield ("the variables are dealt in turn, from the first device on",
           found == wanted, f"five variables lie on {found}, in turn is {wanted}")
    astray = sorted({f"{op.type} on {_short(op.device) or 'no device'}"
                     for op in graph.get_operations()
                     if op.type in ("MatMul", "Sum")
                     and _short(op.device) != f"/cpu:{op.name[6]}"})
    yield ("other ops stay on their tower's device", not astray,
           f"of an op between the variables: {', '.join(astray)}")
    _, again = _five_variables(attempt(list(HOLDERS)))
    yield ("a second function deals from the first device again",
           [_short(v.device) for v in again] == wanted,
           "the second deal went on where the first had stopped")
    _, on_one = _five_variables(attempt(["/cpu:1"]))
    yield ("one device gets them all", {_short(v.device) for v in on_one} == {"/cpu:1"},
           "with one device in the list, some variable lies elsewhere")


@exercise(
    "Exercise 2: process_gradient_list",
    "zip(*gradient_list) gives you, variable by variable, one pair per tower. What "
    "does zip do with a list that is longer than the others?",
    "begin with: for pairs in zip(*gradient_list, strict=True): gradients = [g for "
    "g, _ in pairs], and treat None, IndexedSlices and tensors apart.",
)
def check_process_gradient_list(attempt: Callable) -> Iterator[Claim]:
    """Averages by NumPy, then the cases that an average must refuse.

    Args:
      attempt: `(gradient_list, weights=None)` to `[(gradient, variable), ...]`.
    """
    with tf.Graph().as_default(), tf1.Session() as session:
        towers, dense, variables = _towers()
        found = attempt(towers)
        yield ("returns a list of pairs", _is_pairs(found),
               f"it returned {type(found).__name__}, not [(gradient, variable), ...]")
        yield ("lists tower 0's variables in their order",
               [id(v) for _, v in found] == [id(v) for v in variables],
               f"of {len(variables)} variables, {len(found)} came back, or in another "
               "order")
        got = session.run(found[0][0])
        yield ("averages dense gradients", np.allclose(got, dense.mean(0), atol=1e-5),
               _dense_fault(got, dense))
        yield from _missing(attempt, towers, found)
        yield from _sparse(found[2][0], session)
        yield from _weighted(attempt, towers, dense, session)
        yield from _refused(attempt, towers)


@exercise(
    "Exercise 3: tower_spread",
    "NumPy's np.ptp is largest minus smallest along an axis; tf.reduce_max and "
    "tf.reduce_min are its parts. Which gradients are no tensors yet?",
    "begin with: for pairs in zip(*gradient_list): stacked = "
    "tf.stack([tf.convert_to_tensor(g) for g, _ in pairs]), where they are not None.",
)
def check_tower_spread(attempt: Callable) -> Iterator[Claim]:
    """Wires towers to one batch and to slices of their own.

    Args:
      attempt: a gradient list to a scalar tensor.
    """
    values = np.random.default_rng(5).normal(size=[TOWERS, 2, 3]).astype(np.float32)
    values[:, 1] *= 10
    expected = np.ptp(values, axis=0).max()
    with tf.Graph().as_default(), tf1.Session() as session:
        variables = [tf1.get_variable(name, [3]) for name in "ab"]
        apart = [[(tf.constant(g), v) for g, v in zip(of_one, variables, strict=True)]
                 for of_one in values]
        found = attempt(apart)
        yield ("returns a scalar tensor", tf.is_tensor(found) and found.shape.rank == 0,
               f"it returned {found!r:.60}")
        got = float(session.run(found))
        yield ("is the largest distance over all gradients",
               np.isclose(got, expected, rtol=1e-5), _spread_fault(got, values))
        same = float(session.run(attempt([apart[0]] * TOWERS)))
        yield ("is exactly 0 for towers that share one batch", same == 0.0,
               f"it was {same:.3g} for equal gradients")
        idle = tf1.get_variable("idle", [3])
        with_none = [of_one + [(None, idle)] for of_one in apart]
        yield ("passes over variables without a gradient",
               np.isclose(session.run(attempt(with_none)), expected, rtol=1e-5),
               "a variable whose gradient is None in all towers changed the answer")
        yield from _sparse_spread(attempt, session)


def _short(device: str) -> str:
    """Returns `/cpu:2` for `/job:localhost/.../device:CPU:2`; `""` for no device."""
    return "/cpu:" + device.rsplit(":", 1)[1] if device else ""


def _five_variables(place):
    """Returns a graph of two towers on /cpu:1 and /cpu:0, and its variables."""
    with tf.Graph().as_default() as graph:
        for tower in (1, 0):
            with (tf1.name_scope(f"tower_{tower}"), tf.device(f"/cpu:{tower}"),
                  tf1.device(place), tf1.variable_scope("net", reuse=tower == 0)):
                outgoing = tf.ones([1, 2])
                for layer in range(5):
                    outgoing @= tf1.get_variable(f"w{layer}", [2, 2])
                tf.reduce_sum(outgoing)
        return graph, tf1.global_variables()


def _refuses(attempt, gradient_list) -> bool:
    try:
        attempt(gradient_list)
    except ValueError:
        return True
    return False


def _towers():
    """Returns three towers with a dense, an idle and a sparse gradient each."""
    dense = np.random.default_rng(7).normal(size=[TOWERS, 5]).astype(np.float32)
    weights, idle = tf1.get_variable("weights", [5]), tf1.get_variable("idle", [])
    table = tf1.get_variable("table", [11, 2])
    towers = [
        [(tf.constant(dense[k]), weights), (None, idle), (_rows(k), table)]
        for k in range(TOWERS)
    ]
    return towers, dense, [weights, idle, table]


def _rows(k: int) -> tf.IndexedSlices:
    """Returns tower k's gradient: k + 1 in rows 0 and k + 1 of eleven."""
    return tf.IndexedSlices(
        tf.fill([2, 2], k + 1.0), tf.constant([0, k + 1]), tf.constant([11, 2])
    )


def _is_pairs(found) -> bool:
    return isinstance(found, list) and bool(found) and all(
        isinstance(pair, tuple) and len(pair) == 2 for pair in found
    )


def _dense_fault(got, dense) -> str:
    if np.shape(got) != dense[0].shape:
        return f"the average has the shape {np.shape(got)}, a gradient {dense[0].shape}"
    if np.allclose(got, dense.sum(0), atol=1e-5):
        return "it is the sum of the towers' gradients: a mean is smaller"
    return f"the first entry is {got[0]:.4f}, by NumPy it is {dense.mean(0)[0]:.4f}"


def _missing(attempt, towers, found) -> Iterator[Claim]:
    yield ("None in all towers stays None", found[1][0] is None,
           f"it became {found[1][0]!r:.40}: Adam and momentum move a variable whose "
           "gradient is zero")
    some = [list(of_one) for of_one in towers]
    some[1][0] = (None, some[1][0][1])
    yield ("None in some towers is a ValueError", _refuses(attempt, some),
           "tower 1 had None where the others had a gradient, and no ValueError came")


def _sparse(average, session) -> Iterator[Claim]:
    yield ("sparse gradients stay sparse", isinstance(average, tf.IndexedSlices),
           f"the average of IndexedSlices is a {type(average).__name__}: momentum "
           "would move every row of the table")
    expected = np.zeros([11, 2])
    for k in range(TOWERS):
        expected[[0, k + 1]] += (k + 1) / TOWERS
    got = session.run(tf.convert_to_tensor(average))
    yield ("sparse gradients have the right mean", np.allclose(got, expected),
           f"row 0, which all towers looked up, is {got[0, 0]:.3f}; the mean is "
           f"{expected[0, 0]:.3f}")


def _weighted(attempt, towers, dense, session) -> Iterator[Claim]:
    weights = [1, 2, 5]
    averages = attempt(towers, weights)
    got = session.run(averages[0][0])
    yield ("weights count",
           np.allclose(got, np.average(dense, axis=0, weights=weights), atol=1e-5),
           "with weights [1, 2, 5] the average is "
           + ("the plain mean" if np.allclose(got, dense.mean(0), atol=1e-5)
              else "not NumPy's weighted average"))
    expected = np.zeros([11, 2])
    for k, weight in enumerate(weights):
        expected[[0, k + 1]] += (k + 1) * weight / sum(weights)
    got = session.run(tf.convert_to_tensor(averages[2][0]))
    yield ("weights count for sparse gradients",
           np.allclose(got, expected, atol=1e-5),
           f"row 0 is {got[0, 0]:.3f}, weighted it is {expected[0, 0]:.3f}")


def _refused(attempt, towers) -> Iterator[Claim]:
    pair = [(tf.constant(float(k)), tf1.get_variable(f"twin_{k}", [])) for k in (0, 1)]
    swapped = [of_one + pair[:: 1 - 2 * (k == 1)] for k, of_one in enumerate(towers)]
    yield ("another order is a ValueError", _refuses(attempt, swapped),
           "tower 1 listed two variables the other way round, and no ValueError came")
    shorter = [towers[0], towers[1], towers[2][:-1]]
    yield ("a variable too few is a ValueError", _refuses(attempt, shorter),
           "tower 2 lacked a variable, and it was left out for all in silence")
    extra = (tf.constant(1.0), tf1.get_variable("extra", []))
    for longer in (1, 0):
        lists = [of_one + [extra] * (k == longer) for k, of_one in enumerate(towers)]
        yield (f"a variable of tower {longer} alone is a ValueError",
               _refuses(attempt, lists),
               f"tower {longer} listed one variable more, and no ValueError came")
    yield ("an empty list is a ValueError", _refuses(attempt, []),
           "no towers at all gave no ValueError")


def _spread_fault(got: float, values) -> str:
    distances = np.ptp(values, axis=0)
    known = {distances[0].max(): "that of the first variable alone",
             distances.mean(): "a mean over the entries",
             np.abs(values).max(): "the largest gradient, not a distance",
             values.std(axis=0).max(): "a standard deviation, not a distance"}
    for number, name in known.items():
        if np.isclose(got, number, rtol=1e-4):
            return f"{got:.3f} is {name}"
    return f"it is {got:.3f}, the largest distance is {distances.max():.3f}"


def _sparse_spread(attempt, session) -> Iterator[Claim]:
    table = tf1.get_variable("table", [11, 2])
    try:
        got = float(session.run(attempt([[(_rows(k), table)] for k in range(TOWERS)])))
        fault = f"it is {got:.3f}; as tables the towers are 3 apart, in row 3"
    except (TypeError, ValueError, AttributeError) as error:
        got, fault = np.nan, f"with IndexedSlices it raised {type(error).__name__}"
    yield ("takes IndexedSlices for the tables that they stand for",
           bool(np.isclose(got, 3.0)), fault)
