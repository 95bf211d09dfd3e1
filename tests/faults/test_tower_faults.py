"""Every fault of towers that we know, against ours and against the source's code.

`naive` is the source's `process_gradient_list`, as it stood there: each test that
has a silent contrast shows first that the fault is real.
"""

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


def naive(gradient_list):
    """The source's version: `None` becomes zero, then stack and mean."""

    def n_to_z(pair):
        gradient, variable = pair
        return tf.zeros_like(variable) if gradient is None else gradient

    averages = []
    for pairs in zip(*gradient_list):  # noqa: B905 (a fault of the source)
        stacked = tf.stack([n_to_z(pair) for pair in pairs])
        averages.append((tf.reduce_mean(stacked, axis=0), pairs[0][1]))
    return averages


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


# Variables: one removed, two swapped


@pytest.mark.parametrize("tower", range(TOWERS))
@pytest.mark.parametrize("index", range(len(VARIABLES)))
def test_one_variable_removed_from_one_tower(tower, index):
    net = Net()
    with net.session, net.graph.as_default():
        del net.gradients[tower][index]
        if index == len(VARIABLES) - 1:
            assert len(naive(net.gradients)) == 3, "dropped in silence"
        message = f"tower {tower} lists no gradient for variable '{VARIABLES[index]}'"
        with pytest.raises(ValueError, match=message):
            process_gradient_list(net.gradients)


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


@pytest.mark.naive
def test_another_order_is_a_wrong_average_without_the_check():
    with tf.Graph().as_default(), tf1.Session() as session:
        a, b = (tf1.get_variable(name, []) for name in "ab")
        towers = [
            [(tf.constant(1.0), a), (tf.constant(10.0), b)],
            [(tf.constant(10.0), b), (tf.constant(1.0), a)],
        ]
        assert session.run([g for g, _ in naive(towers)]) == [5.5, 5.5]
        with pytest.raises(ValueError, match="tower 1 lists variable 'b'.*'a'"):
            process_gradient_list(towers)


def test_variables_that_are_not_shared():
    with tf.Graph().as_default():
        optimizer = tf1.train.GradientDescentOptimizer(0.1)

        def tower(x):
            w = tf1.Variable([[1.0], [1.0]], name="w")  # get_variable would share it
            return optimizer.compute_gradients(tf.reduce_sum(tf.matmul(x, w)), [w])

        towers = build_towers(tower, cpu_devices(2), [tf.ones([1, 2])] * 2)
        assert [v for _, v in naive(towers)] == [towers[0][0][1]], "one never updated"
        with pytest.raises(ValueError, match="tower 0 lists no gradient.*'tower_1/w'"):
            process_gradient_list(towers)


def test_a_variable_listed_twice(plain):
    plain.gradients[2].append(plain.gradients[2][-1])
    with plain.graph.as_default(), pytest.raises(ValueError, match="tower 2.*twice"):
        process_gradient_list(plain.gradients)


# NaN and Inf


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("tower", range(TOWERS))
def test_nan_in_one_tower_leaves_every_weight_untouched(net, tower, bad):
    train = net.train_op(losses=net.losses)
    net.session.run(train, {net.features: net.good})
    before = net.state()
    broken = net.good.copy()
    broken[2 * tower, 1] = bad
    message = f"gradient of variable '.*' in tower {tower} "
    for _ in range(10):
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            net.session.run(train, {net.features: broken})
        assert unchanged(before, net.state())
    net.session.run(train, {net.features: net.good})
    assert not unchanged(before, net.state())


@pytest.mark.parametrize("index", range(len(VARIABLES)))
@pytest.mark.parametrize("optimizer", list(OPTIMIZERS))
def test_nan_in_one_gradient_names_its_variable_and_tower(optimizer, index):
    net = Net(optimizer)
    net.swap_in(1, index, lambda gradient: gradient * tf.math.log(-1.0))
    with net.session:
        train = net.train_op(losses=net.losses)
        before = net.state()
        message = f"gradient of variable '{VARIABLES[index]}' in tower 1 "
        for _ in range(10):
            with pytest.raises(tf.errors.InvalidArgumentError, match=message):
                net.session.run(train, {net.features: net.good})
            assert unchanged(before, net.state())


@pytest.mark.naive
def test_nan_stays_for_good_without_the_check():
    net = Net("adam")
    with net.session:
        train = net.train_op(naive)
        broken = net.good.copy()
        broken[0, 0] = np.nan
        net.session.run(train, {net.features: broken})
        net.session.run(train, {net.features: net.good})
        assert np.isnan(net.state()["one/kernel"]).all()


def test_nan_loss_with_finite_gradients():
    net = Net()
    with net.session:
        with net.graph.as_default():
            losses = [*net.losses[:2], net.losses[2] + tf.math.log(-1.0)]
        unguarded, train = net.train_op(), net.train_op(losses=losses)
        before = net.state()
        for _ in range(10):
            with pytest.raises(tf.errors.InvalidArgumentError, match="loss of tower 2"):
                net.session.run(train, {net.features: net.good})
            assert unchanged(before, net.state())
        net.session.run(unguarded, {net.features: net.good})
        assert not unchanged(before, net.state()), "gradients alone look healthy"


@pytest.mark.naive
def test_a_check_per_gradient_is_not_enough():
    """One check before each update: some weights change before another fails."""
    net = Net()
    net.swap_in(1, 0, lambda gradient: gradient * tf.math.log(-1.0))

    def checked_one_by_one(gradient_list):
        return [(tf.debugging.check_numerics(g, "bad"), v)
                for g, v in naive(gradient_list)]

    with net.session:
        train = net.train_op(checked_one_by_one)
        before = net.state()
        partial = 0
        for _ in range(30):
            with pytest.raises(tf.errors.InvalidArgumentError):
                net.session.run(train, {net.features: net.good})
            partial += not unchanged(before, net.state())
    assert partial, "some run updated a part of the weights"


@pytest.mark.parametrize("tower", [0, 1])
def test_sparse_nan_is_found(tower):
    message = f"'table' in tower {tower}"
    with tf.Graph().as_default(), tf1.Session() as session:
        table = tf1.get_variable("table", [7, 2])
        scale = tf1.placeholder(tf.float32, [])
        towers = [
            [(tf.gradients(tf.gather(table, [k]) * s, [table])[0], table)]
            for k, s in enumerate([1.0 if k != tower else scale for k in (0, 1)])
        ]
        train = tf1.train.AdamOptimizer(0.1).apply_gradients(
            process_gradient_list(towers)
        )
        session.run(tf1.global_variables_initializer())
        before = session.run(table)
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            session.run(train, {scale: np.nan})
        assert session.run(table).tobytes() == before.tobytes()


# None


@pytest.mark.parametrize("towers", [1, 2])
def test_sparse_rows_whose_sum_overflows_move_no_variable(towers):
    """A row that is listed twice gets the sum: each entry is finite, the row is not."""
    with tf.Graph().as_default(), tf1.Session() as session:
        table = tf1.get_variable("table", [5, 2], initializer=tf1.zeros_initializer())
        twice = tf.IndexedSlices(
            tf.fill([2, 2], 3e38), tf.constant([3, 3]), tf.constant([5, 2]))
        train = tf1.train.GradientDescentOptimizer(1.0).apply_gradients(
            process_gradient_list([[(twice, table)]] * towers))
        session.run(tf1.global_variables_initializer())
        with pytest.raises(tf.errors.InvalidArgumentError, match="'table' overflows"):
            session.run(train)
        assert not session.run(table).any()


def test_none_in_some_towers(plain):
    plain.swap_in(1, 2, lambda gradient: None)
    with plain.graph.as_default():
        whole, halved = naive([plain.gradients[0]] * 3), naive(plain.gradients)
        with pytest.raises(ValueError, match="'two/kernel' has no gradient.*tower 1,"):
            process_gradient_list(plain.gradients)
        plain.session.run(tf1.global_variables_initializer())
        feed = {plain.features: np.tile(plain.good[:2], [3, 1])}
        whole, halved = plain.session.run([whole[2][0], halved[2][0]], feed)
    np.testing.assert_allclose(halved, whole * 2 / 3, rtol=1e-5)


def test_none_in_all_towers_does_not_move_under_adam():
    """Zeros in place of `None` let the momentum of earlier steps go on."""

    def moved(average):
        with tf.Graph().as_default(), tf1.Session() as session:
            used, idle = (
                tf1.get_variable(n, [], initializer=tf1.ones_initializer())
                for n in ("used", "idle")
            )
            optimizer = tf1.train.AdamOptimizer(0.1)
            once = optimizer.apply_gradients([(tf.constant(1.0), idle)])
            towers = [[(tf.constant(1.0), used), (None, idle)]] * 2
            then = optimizer.apply_gradients(average(towers))
            session.run(tf1.global_variables_initializer())
            session.run(once)
            before = session.run(idle)
            session.run(then)
            return float(session.run(idle) - before)

    assert moved(naive) < -0.05
    assert moved(process_gradient_list) == 0.0


def test_none_everywhere():
    with tf.Graph().as_default(), tf1.Session() as session:
        v = tf1.get_variable("v", [], initializer=tf1.ones_initializer())
        optimizer = tf1.train.GradientDescentOptimizer(0.1)
        towers = [[(None, v)], [(None, v)]]
        with pytest.raises(ValueError, match="no gradient reaches any variable"):
            process_gradient_list(towers)
        train = optimizer.apply_gradients(naive(towers))
        session.run(tf1.global_variables_initializer())
        session.run(train)
        assert session.run(v) == 1.0, "trains nothing, says nothing"


# Sparse gradients


@pytest.mark.naive
def test_naive_makes_sparse_gradients_dense_and_moves_other_rows():
    def rows_moved(average):
        with tf.Graph().as_default(), tf1.Session() as session:
            table = tf1.get_variable("table", [5, 2])
            optimizer = tf1.train.MomentumOptimizer(0.1, 0.9)
            trains = []
            for row in (1, 3):
                gradient = tf.gradients(tf.gather(table, [row]), [table])[0]
                trains.append(optimizer.apply_gradients(
                    average([[(gradient, table)]] * 2)
                ))
            session.run(tf1.global_variables_initializer())
            session.run(trains[0])
            before = session.run(table)
            session.run(trains[1])
            return np.flatnonzero((session.run(table) != before).any(axis=1)).tolist()

    assert rows_moved(naive) == [1, 3]
    assert rows_moved(process_gradient_list) == [3]


# The same batch for all


@pytest.mark.naive
def test_the_sources_wiring_gives_every_tower_the_same_gradient():
    def spread(slices_of):
        with tf.Graph().as_default(), tf1.Session() as session:
            queue = tf.queue.FIFOQueue(12, [tf.float32], [[3]])
            fill = queue.enqueue_many([np.random.default_rng(3).normal(size=[12, 3])])

            def tower(features):
                output = fully_connected_layer(features, 1, name="one")
                return tf.gradients(tf.reduce_mean(tf.square(output)),
                                    tf1.trainable_variables())[0]

            towers = build_towers(tower, ["/cpu:0"] * 3, slices_of(queue))
            session.run(tf1.global_variables_initializer())
            session.run(fill)
            return float(np.ptp(session.run(towers), axis=0).max())

    def shared(queue):
        return [queue.dequeue_many(4)] * 3

    def own(queue):
        return [queue.dequeue_many(4) for _ in range(3)]

    assert spread(shared) == 0.0
    assert spread(own) > 0.1


# Arguments


@pytest.mark.parametrize("towers", [[], [[]], [[], []]])
def test_nothing_to_average(towers):
    with pytest.raises(ValueError, match="no towers|no tower lists a variable"):
        process_gradient_list(towers)


@pytest.mark.parametrize(
    "weights, message",
    [
        ([1, 2], "2 weights for 3 towers"),
        ([0, 0, 0], "nor all 0"),
        ([1, -1, 2], "must not be negative"),
        ([1, float("nan"), 2], "must not be negative"),
        ([1, float("inf"), 2], "must not be negative"),
    ],
)
def test_bad_weights(plain, weights, message):
    with plain.graph.as_default(), pytest.raises(ValueError, match=message):
        process_gradient_list(plain.gradients, weights)


def test_weights_that_turn_out_to_be_all_zero(plain):
    with plain.graph.as_default():
        weights = [tf.constant(0)] * TOWERS
    with pytest.raises(tf.errors.InvalidArgumentError, match="weight of tower"):
        train = plain.train_op(weights=weights)
        plain.session.run(train, {plain.features: plain.good})


def test_losses_not_one_per_tower(plain):
    with (
        plain.graph.as_default(),
        pytest.raises(ValueError, match="2 losses for 3 towers"),
    ):
        process_gradient_list(plain.gradients, losses=plain.losses[:2])


def test_other_shapes_and_types_are_errors():
    with tf.Graph().as_default(), tf1.Session() as session:
        v = tf1.get_variable("v", [2])
        with pytest.raises(ValueError, match="hapes"):
            process_gradient_list([[(tf.ones([2]), v)], [(tf.ones([3]), v)]])
        with pytest.raises((ValueError, TypeError)):
            process_gradient_list(
                [[(tf.ones([2]), v)], [(tf.ones([2], tf.float64), v)]]
            )
        unknown = tf1.placeholder(tf.float32)
        (average, _), = process_gradient_list([[(tf.ones([2]), v)], [(unknown, v)]])
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(average, {unknown: [1.0, 2.0, 3.0]})


# The sum, and the precision of weights ----------------------------------------------

SUMS = {
    "float16": (tf.float16, [-40000.0] * 2, "float16"),
    "float16, many towers": (tf.float16, [2000.0] * 64, "float16"),
    "float32": (tf.float32, [3e38] * 2, "float32"),
    "bfloat16": (tf.bfloat16, [3e38] * 2, "bfloat16"),
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


def test_large_numbers_whose_total_overflows_are_no_fault(tried):
    """The quick look sums the whole gradient; what it suspects is looked at again."""
    tried(2)
    with tf.Graph().as_default(), tf1.Session() as session:
        v = tf1.get_variable("v", [9], tf.float16, initializer=tf1.zeros_initializer())
        gradient = tf.fill([9], tf.cast(30000.0, tf.float16))
        for sign in (1, -1):
            averages = process_gradient_list([[(sign * gradient, v)]] * 2)
            assert session.run(averages[0][0]).tolist() == [sign * 30000.0] * 9


@pytest.mark.parametrize("weights", [[1, -1, 2], [-1, 2, 2], [0, 0, 0], [1, 1, np.nan],
                                     [1, 1, np.inf]])
def test_bad_weights_given_as_tensors_move_no_variable(plain, weights):
    """They are numbers only when the step runs."""
    with plain.graph.as_default():
        feeds = [tf1.placeholder(tf.float32, []) for _ in weights]
        train = plain.train_op(weights=feeds)
    before = plain.state()
    with pytest.raises(tf.errors.InvalidArgumentError, match="weight of tower"):
        feed = dict(zip(feeds, weights, strict=True))
        plain.session.run(train, {plain.features: plain.good, **feed})
    assert unchanged(before, plain.state())


@pytest.mark.parametrize("as_tensors", [False, True])
def test_weights_keep_the_precision_of_float64(as_tensors):
    with tf.Graph().as_default(), tf1.Session() as session:
        v = tf1.get_variable("v", [2], tf.float64)
        parts = np.random.default_rng(3).normal(size=[3, 2])
        weights = [3, 7, 11]
        given = [tf.constant(w) for w in weights] if as_tensors else weights
        (average, _), = process_gradient_list(
            [[(tf.constant(part), v)] for part in parts], weights=given
        )
        wanted = np.average(parts, axis=0, weights=weights)
        np.testing.assert_allclose(session.run(average), wanted, rtol=1e-15)


def test_the_check_reads_the_towers_only_where_the_average_is_bad():
    """What is searched for the tower to blame stands in a branch of its own."""
    with tf.Graph().as_default() as graph:
        v = tf1.get_variable("v", [3])
        process_gradient_list([[(tf.ones([3]), v)]] * 4)
        outside = [op.type for op in graph.get_operations()]
    assert "CheckNumerics" not in outside and outside.count("Sum") == 1
