"""Every fault of towers that we know: an error with its place, and no weight moves."""

import numpy as np
import pytest
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.layers import fully_connected_layer
from helpers.towers import build_towers, cpu_devices, process_gradient_list, split_batch

TOWERS = 3
CONFIG = tf1.ConfigProto(device_count={"CPU": TOWERS})
VARIABLES = ["one/kernel", "one/bias", "two/kernel", "two/bias"]
OPTIMIZERS = {
    "plain": tf1.train.GradientDescentOptimizer,
    "momentum": lambda rate: tf1.train.MomentumOptimizer(rate, 0.9),
    "adam": tf1.train.AdamOptimizer,
}


class Net:
    """Three towers of a net with four variables, and a session of its own."""

    def __init__(self, optimizer="plain"):
        self.graph = tf.Graph()
        with self.graph.as_default():
            tf1.set_random_seed(5)
            self.optimizer = OPTIMIZERS[optimizer](0.1)
            self.features = tf1.placeholder(tf.float32, [6, 3])
            towers = build_towers(
                self._tower, cpu_devices(TOWERS), split_batch(self.features, TOWERS)
            )
            self.losses, self.gradients = map(list, zip(*towers, strict=True))
        self.good = np.linspace(-1, 1, 18).reshape([6, 3])
        self.session = tf1.Session(graph=self.graph, config=CONFIG)

    def _tower(self, features):
        hidden = fully_connected_layer(features, 5, activation_fn=tf.tanh, name="one")
        output = fully_connected_layer(hidden, 2, name="two")
        loss = tf.reduce_mean(tf.square(output - 1.0))
        return loss, self.optimizer.compute_gradients(loss)

    def train_op(self, average=process_gradient_list, **options):
        with self.graph.as_default():
            train = self.optimizer.apply_gradients(average(self.gradients, **options))
            self.session.run(tf1.global_variables_initializer())
        return train

    def state(self):
        """All weights and the optimizer's slots."""
        with self.graph.as_default():
            variables = tf1.global_variables()
        return dict(
            zip([v.op.name for v in variables], self.session.run(variables),
                strict=True)
        )

    def swap_in(self, tower, index, wrap):
        """Replaces one gradient of one tower by `wrap` of it."""
        gradient, variable = self.gradients[tower][index]
        with self.graph.as_default():
            self.gradients[tower][index] = (wrap(gradient), variable)

    def close(self):
        self.session.close()


@pytest.fixture(params=list(OPTIMIZERS))
def net(request):
    net = Net(request.param)
    yield net
    net.close()


@pytest.fixture
def plain():
    net = Net()
    yield net
    net.close()


def unchanged(before, after):
    return all(before[name].tobytes() == after[name].tobytes() for name in before)


def refused(net, train, features, message):
    """Runs a step often: each time it is an error, and no weight and no slot moves."""
    before = net.state()
    for _ in range(10):
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            net.session.run(train, {net.features: features})
        assert unchanged(before, net.state())


# Variables: one removed, two swapped


@pytest.mark.parametrize("tower", range(TOWERS))
@pytest.mark.parametrize("index", range(len(VARIABLES)))
def test_one_variable_removed_from_one_tower(plain, tower, index):
    del plain.gradients[tower][index]
    message = f"tower {tower} lists no gradient for variable '{VARIABLES[index]}'"
    with plain.graph.as_default(), pytest.raises(ValueError, match=message):
        process_gradient_list(plain.gradients)


@pytest.mark.parametrize("tower", range(1, TOWERS))
@pytest.mark.parametrize("pair", [(0, 1), (0, 2), (1, 3), (2, 3)])
def test_two_variables_swapped_in_one_tower(plain, tower, pair):
    first, second = pair
    towers = plain.gradients
    towers[tower][first], towers[tower][second] = (
        towers[tower][second], towers[tower][first],
    )
    message = (
        f"tower {tower} lists variable '{VARIABLES[second]}' where tower 0 lists "
        f"'{VARIABLES[first]}'"
    )
    with plain.graph.as_default(), pytest.raises(ValueError, match=message):
        process_gradient_list(towers)


def test_variables_that_are_not_shared():
    with tf.Graph().as_default():
        optimizer = tf1.train.GradientDescentOptimizer(0.1)

        def tower(x):
            w = tf1.Variable([[1.0], [1.0]], name="w")  # get_variable would share it
            return optimizer.compute_gradients(tf.reduce_sum(tf.matmul(x, w)), [w])

        towers = build_towers(tower, cpu_devices(2), [tf.ones([1, 2])] * 2)
        with pytest.raises(ValueError, match="tower 0 lists no gradient.*'tower_1/w'"):
            process_gradient_list(towers)


# NaN and Inf


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("tower", range(TOWERS))
def test_nan_in_one_tower_leaves_every_weight_untouched(net, tower, bad):
    train = net.train_op(losses=net.losses)
    net.session.run(train, {net.features: net.good})
    before = net.state()
    broken = net.good.copy()
    broken[2 * tower, 1] = bad
    refused(net, train, broken, f"gradient of variable '.*' in tower {tower} ")
    net.session.run(train, {net.features: net.good})
    assert not unchanged(before, net.state())


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


def test_none_in_some_towers(plain):
    plain.swap_in(1, 2, lambda gradient: None)
    message = "'two/kernel' has no gradient.*tower 1,"
    with plain.graph.as_default(), pytest.raises(ValueError, match=message):
        process_gradient_list(plain.gradients)


SUMS = {
    "float16": (tf.float16, [2000.0] * 64, "float16"),
    "float32": (tf.float32, [3e38] * 2, "float32"),
}


def two_variables(dtype):
    v = tf1.get_variable("v", [3], dtype, initializer=tf1.zeros_initializer())
    w = tf1.get_variable("w", [3], dtype, initializer=tf1.zeros_initializer())
    return v, w


@pytest.mark.parametrize("kind", SUMS)
def test_a_sum_that_overflows_moves_no_variable(kind, tried):
    """All towers are finite, and infinity would be written into the variable."""
    dtype, values, name = SUMS[kind]
    tried(len(values))
    with tf.Graph().as_default(), tf1.Session() as session:
        v, w = two_variables(dtype)
        one = tf.ones([3], dtype)
        towers = [[(one, w), (one * tf.cast(x, dtype), v)] for x in values]
        optimizer = tf1.train.GradientDescentOptimizer(tf.cast(1.0, dtype))
        train = optimizer.apply_gradients(process_gradient_list(towers))
        session.run(tf1.global_variables_initializer())
        for _ in range(5):
            with pytest.raises(tf.errors.InvalidArgumentError,
                               match=f"gradients of variable 'v' overflows {name},"):
                session.run(train)
            assert not session.run(v).any() and not session.run(w).any()
        # The advice of the message.
        towers = process_gradient_list(towers, weights=[1] * len(values))
        average = session.run(towers[1][0]).astype(np.float64)
        np.testing.assert_allclose(average, values[0], rtol=1e-2)
