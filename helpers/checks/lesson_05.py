"""The checks of lesson 05: multi-tower linear regression."""

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.checks.report import exercise

TOWERS, ROWS = 3, 7


@exercise(
    "Exercise 1: column_loss",
    "look at targets.shape.rank, and make a column of a vector with tf.reshape.",
)
def check_column_loss(attempt):
    """Compares with NumPy for both shapes of targets, then tries bad ones.

    Args:
      attempt: `(prediction [batch, 1], targets)` to a scalar loss.
    """
    random = np.random.default_rng(3)
    prediction, column = random.normal(size=[2, ROWS, 1]).astype(np.float32)
    expected = np.mean((prediction - column) ** 2)
    yield ("returns a tensor", tf.is_tensor(_value_of(attempt, prediction, column)[0]),
           "it returned no tensor; build the loss and return it.")
    yield ("is right for targets [batch, 1]",
           _close(_value_of(attempt, prediction, column), expected),
           "compare with np.mean((prediction - targets) ** 2).")
    yield ("is right for targets [batch]",
           _close(_value_of(attempt, prediction, column.ravel()), expected),
           "[batch, 1] minus [batch] is a table [batch, batch]: make a column of the "
           "vector first.")
    yield ("is right when the batch is not known while building",
           _close(_value_of(attempt, prediction, column.ravel(), False), expected),
           "a batch of None is not a number: give tf.reshape a -1.")
    for shape in ([], [1], [1, 1], [1, ROWS], [ROWS, 2], [ROWS, 1, 1]):
        yield (f"refuses targets of shape {shape} with ValueError",
               _refuses(attempt, prediction, np.zeros(shape, np.float32)),
               "let only [batch] and [batch, 1] through, and check the shapes before "
               "you subtract.")


@exercise(
    "Exercise 2: process_gradient_list",
    "zip(*gradient_list) gives you, variable by variable, one pair per tower.",
)
def check_process_gradient_list(attempt):
    """Averages by NumPy, then the cases that an average must refuse.

    Args:
      attempt: `(gradient_list, weights=None)` to `[(gradient, variable), ...]`.
    """
    with tf.Graph().as_default(), tf1.Session() as session:
        towers, dense, variables = _towers()
        found = attempt(towers)
        yield ("returns a list of pairs", _is_pairs(found),
               f"it returned {type(found).__name__}; return [(gradient, variable), "
               "...], as compute_gradients does.")
        yield ("lists tower 0's variables in their order",
               [id(v) for _, v in found] == [id(v) for v in variables],
               "keep the variable of each pair; all towers have the same one.")
        yield ("averages dense gradients",
               np.allclose(session.run(found[0][0]), dense.mean(0), atol=1e-5),
               "add the towers' gradients with tf.add_n and divide by their number.")
        yield from _missing(attempt, towers, found)
        yield from _sparse(found[2][0], session)
        yield from _weighted(attempt, towers, dense, session)
        yield from _refused(attempt, towers)


@exercise(
    "Exercise 3: tower_spread",
    "stack one variable's gradients from all towers, and take the largest minus the "
    "smallest along the new axis.",
)
def check_tower_spread(attempt):
    """Wires towers to one batch and to slices of their own.

    Args:
      attempt: a gradient list to a scalar tensor.
    """
    random = np.random.default_rng(5)
    values = random.normal(size=[TOWERS, 2, 3]).astype(np.float32)
    values[:, 1] *= 10
    expected = np.ptp(values, axis=0).max()
    with tf.Graph().as_default(), tf1.Session() as session:
        variables = [tf1.get_variable(name, [3]) for name in "ab"]
        apart = [[(tf.constant(g), v) for g, v in zip(of_one, variables, strict=True)]
                 for of_one in values]
        found = attempt(apart)
        yield ("returns a scalar tensor", tf.is_tensor(found) and found.shape.rank == 0,
               "tf.reduce_max without an axis gives a scalar.")
        yield ("is the largest distance over all gradients",
               np.isclose(session.run(found), expected, rtol=1e-5),
               "take the largest over the entries and over the variables: not a mean, "
               "and not the first variable alone.")
        same = session.run(attempt([apart[0]] * TOWERS))
        yield ("is exactly 0 for towers that share one batch", same == 0.0,
               f"it was {same}; a difference of equal numbers is 0, a variance by "
               "way of squares need not be.")
        idle = tf1.get_variable("idle", [3])
        with_none = [of_one + [(None, idle)] for of_one in apart]
        yield ("passes over variables without a gradient",
               np.isclose(session.run(attempt(with_none)), expected, rtol=1e-5),
               "leave out a variable whose gradient is None.")


def _value_of(attempt, prediction, targets, known=True):
    """Returns the loss as a tensor and as a number."""
    with tf.Graph().as_default(), tf1.Session() as session:
        inputs = [
            tf1.placeholder(tf.float32, [len(array) if known else None,
                                         *array.shape[1:]])
            for array in (prediction, targets)
        ]
        loss = attempt(*inputs)
        if not tf.is_tensor(loss):
            return loss, None
        feed = dict(zip(inputs, (prediction, targets), strict=True))
        return loss, session.run(loss, feed)


def _close(tensor_and_value, expected):
    value = tensor_and_value[1]
    return value is not None and np.allclose(value, expected, rtol=1e-5)


def _refuses(attempt, *arrays_or_lists):
    """Whether the attempt raises ValueError."""
    try:
        if isinstance(arrays_or_lists[0], np.ndarray):
            with tf.Graph().as_default():
                attempt(*[tf.constant(array) for array in arrays_or_lists])
        else:
            attempt(*arrays_or_lists)
    except ValueError:
        return True
    return False


def _towers():
    """Returns three towers with a dense, an idle and a sparse gradient each."""
    dense = np.random.default_rng(7).normal(size=[TOWERS, 5]).astype(np.float32)
    weights, idle = tf1.get_variable("weights", [5]), tf1.get_variable("idle", [])
    table = tf1.get_variable("table", [11, 2])
    towers = []
    for k in range(TOWERS):
        rows = tf.IndexedSlices(tf.fill([2, 2], k + 1.0), tf.constant([0, k + 1]),
                                tf.constant([11, 2]))
        towers.append([(tf.constant(dense[k]), weights), (None, idle), (rows, table)])
    return towers, dense, [weights, idle, table]


def _is_pairs(found):
    return isinstance(found, list) and bool(found) and all(
        isinstance(pair, tuple) and len(pair) == 2 for pair in found
    )


def _missing(attempt, towers, found):
    yield ("None in all towers stays None", found[1][0] is None,
           "a zero would still move the variable under Adam: return None.")
    some = [list(of_one) for of_one in towers]
    some[1][0] = (None, some[1][0][1])
    yield ("None in some towers is a ValueError", _refuses(attempt, some),
           "count the Nones of each variable; only all or none will do.")


def _sparse(average, session):
    yield ("sparse gradients stay sparse", isinstance(average, tf.IndexedSlices),
           "join values and indices of all towers with tf.concat and make an "
           "IndexedSlices of them.")
    expected = np.zeros([11, 2])
    for k in range(TOWERS):
        expected[[0, k + 1]] += (k + 1) / TOWERS
    yield ("sparse gradients have the right mean",
           np.allclose(session.run(tf.convert_to_tensor(average)), expected),
           "divide the joined values by the number of towers too.")


def _weighted(attempt, towers, dense, session):
    weights = [1, 2, 5]
    value = session.run(attempt(towers, weights)[0][0])
    yield ("weights count",
           np.allclose(value, np.average(dense, axis=0, weights=weights), atol=1e-5),
           "multiply each tower by its weight divided by the sum of all weights.")
    found = attempt(towers, weights)[2][0]
    expected = np.zeros([11, 2])
    for k, weight in enumerate(weights):
        expected[[0, k + 1]] += (k + 1) * weight / sum(weights)
    yield ("weights count for sparse gradients",
           np.allclose(session.run(tf.convert_to_tensor(found)), expected, atol=1e-5),
           "weigh the values before you join them.")


def _refused(attempt, towers):
    swapped = [towers[0], [towers[1][2], towers[1][1], towers[1][0]], towers[2]]
    yield ("another order is a ValueError", _refuses(attempt, swapped),
           "compare each variable with tower 0's by `is`.")
    shorter = [towers[0], towers[1], towers[2][:-1]]
    yield ("a variable too few is a ValueError", _refuses(attempt, shorter),
           "zip stops at the shortest list in silence: zip(..., strict=True) does "
           "not.")
    yield ("an empty list is a ValueError", _refuses(attempt, []),
           "with no towers there is nothing to train: say so.")
