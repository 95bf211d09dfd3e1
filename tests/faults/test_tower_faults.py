"""Every fault of towers that we know: an error with its place, and no weight moves."""

import itertools

import numpy as np
import pytest
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.layers import fully_connected_layer
from helpers.towers import build_towers, cpu_devices, process_gradient_list, split_batch

TOWERS = 3
CONFIG = tf1.ConfigProto(device_count={"CPU": TOWERS})
VARIABLES = ["one/kernel", "one/bias", "two/kernel", "two/bias"]
FEATURES = np.linspace(-1, 1, 18).reshape([6, 3])
ADAM = tf1.train.AdamOptimizer(0.1)  # it has slots, and powers that no slot holds


def tower_of(features):
    hidden = fully_connected_layer(features, 5, activation_fn=tf.tanh, name="one")
    output = fully_connected_layer(hidden, 2, name="two")
    loss = tf.reduce_mean(tf.square(output - 1.0))
    return loss, ADAM.compute_gradients(loss)


@pytest.fixture(scope="module")
def net():
    """Three towers of a net with four variables: its features, losses and gradients."""
    with tf.Graph().as_default():
        features = tf1.placeholder(tf.float32, [6, 3])
        towers = build_towers(
            tower_of, cpu_devices(TOWERS), split_batch(features, TOWERS))
        return features, *zip(*towers, strict=True)


@pytest.fixture
def gradients(net):
    """The gradients of the towers, in lists that a test may change."""
    with net[0].graph.as_default():
        yield [list(tower) for tower in net[2]]


# Variables: one removed, two swapped


@pytest.mark.parametrize("tower", range(TOWERS))
@pytest.mark.parametrize("index", range(len(VARIABLES)))
def test_one_variable_removed_from_one_tower(gradients, tower, index):
    del gradients[tower][index]
    message = f"for variable '{VARIABLES[index]}', but tower {tower} does not"
    with pytest.raises(ValueError, match=message):
        process_gradient_list(gradients)


@pytest.mark.parametrize("tower", range(1, TOWERS))
@pytest.mark.parametrize(("first", "second"), [(0, 1), (0, 2), (1, 3), (2, 3)])
def test_two_variables_swapped_in_one_tower(gradients, tower, first, second):
    one = gradients[tower]
    one[first], one[second] = one[second], one[first]
    message = (
        f"Tower {tower} lists variable '{VARIABLES[second]}' where tower 0 lists "
        f"'{VARIABLES[first]}'"
    )
    with pytest.raises(ValueError, match=message):
        process_gradient_list(gradients)


def test_variables_that_are_not_shared():
    with tf.Graph().as_default():
        optimizer = tf1.train.GradientDescentOptimizer(0.1)

        def tower(x):
            w = tf1.Variable([[1.0], [1.0]], name="w")  # get_variable would share it
            return optimizer.compute_gradients(tf.reduce_sum(tf.matmul(x, w)), [w])

        towers = build_towers(tower, cpu_devices(2), [tf.ones([1, 2])] * 2)
        with pytest.raises(ValueError, match="'tower_1/w', but tower 0 does not"):
            process_gradient_list(towers)


# NaN and Inf


def test_nan_in_one_tower_leaves_every_weight_untouched(net, gradients, tried):
    features, losses, _ = net
    train = ADAM.apply_gradients(process_gradient_list(gradients, losses=losses))
    variables = tf1.global_variables()
    assert len(variables) == 3 * len(VARIABLES) + 2
    tried(10 * 2 * TOWERS)
    with tf1.Session(config=CONFIG) as session:
        def step(fed):
            session.run(train, {features: fed})
            return [value.tobytes() for value in session.run(variables)]

        session.run(tf1.global_variables_initializer())
        before = step(FEATURES)
        for tower, bad in itertools.product(range(TOWERS), [np.nan, np.inf]):
            broken = FEATURES.copy()
            broken[2 * tower, 1] = bad
            message = f"gradient of variable '.*' in tower {tower} "
            for _ in range(10):
                with pytest.raises(tf.errors.InvalidArgumentError, match=message):
                    step(broken)
            assert [v.tobytes() for v in session.run(variables)] == before
        assert not set(step(FEATURES)) & set(before)


def test_sparse_rows_whose_sum_overflows_move_no_variable():
    """A row that is listed twice gets the sum: each entry is finite, the row is not."""
    with tf.Graph().as_default(), tf1.Session() as session:
        table = tf1.get_variable("table", [5, 2], initializer=tf1.zeros_initializer())
        twice = tf.IndexedSlices(
            tf.fill([2, 2], 3e38), tf.constant([3, 3]), tf.constant([5, 2]))
        train = tf1.train.GradientDescentOptimizer(1.0).apply_gradients(
            process_gradient_list([[(twice, table)]] * 2))
        session.run(tf1.global_variables_initializer())
        with pytest.raises(tf.errors.InvalidArgumentError, match="'table' overflows"):
            session.run(train)
        assert not session.run(table).any()


def test_none_in_some_towers(gradients):
    _, variable = gradients[1][2]
    gradients[1][2] = None, variable
    with pytest.raises(ValueError, match="'two/kernel' has .*not in tower 1\\."):
        process_gradient_list(gradients)


@pytest.mark.parametrize(("dtype", "value"), [(tf.float16, 4e4), (tf.float32, 3e38)])
def test_a_sum_that_overflows_moves_no_variable(dtype, value):
    """All towers are finite, and infinity would be written into the variable."""
    with tf.Graph().as_default(), tf1.Session() as session:
        v, w = (tf1.get_variable(name, [3], dtype, initializer=tf1.zeros_initializer())
                for name in "vw")
        one = tf.ones([3], dtype)
        towers = [[(one, w), (one * tf.cast(value, dtype), v)]] * 2
        optimizer = tf1.train.GradientDescentOptimizer(tf.cast(1.0, dtype))
        train = optimizer.apply_gradients(process_gradient_list(towers))
        session.run(tf1.global_variables_initializer())
        with pytest.raises(tf.errors.InvalidArgumentError,
                           match=f"gradients of variable 'v' overflows {dtype.name},"):
            session.run(train)
        assert not session.run(v).any() and not session.run(w).any()
        # The advice of the message.
        [_, (average, _)] = process_gradient_list(towers, weights=[1, 1])
        np.testing.assert_allclose(session.run(average), value, rtol=1e-2)
