"""The checks of lesson 07: one train op, the right updates, when to cut the rate."""

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers import towers
from helpers.checks.report import exercise

SLICES = np.array([[1.0, 3.0], [5.0, 7.0], [11.0, 13.0]], np.float32)
RATE = 0.5


def _is_op(attempt) -> bool:
    return isinstance(attempt, tf.Operation) or tf.is_tensor(attempt)


@exercise(
    "Exercise 1: train_op",
    "zip(*results) gives you the losses and the gradients; process_gradient_list "
    "takes both.",
)
def check_train_op(train_op):
    with tf.Graph().as_default() as graph:
        step = tf1.train.get_or_create_global_step()
        optimizer = tf1.train.GradientDescentOptimizer(RATE)
        values = tf1.placeholder(tf.float32, SLICES.shape)
        # It spoils the losses alone: no gradient depends on it.
        poison = tf1.placeholder_with_default(0.0, [])

        def tower(slice_of_it):
            weight = tf1.get_variable("weight", [], initializer=tf1.zeros_initializer())
            loss = tf.reduce_mean(tf.square(weight - slice_of_it)) + poison
            return loss, optimizer.compute_gradients(loss)

        results = towers.build_towers(
            tower, towers.cpu_devices(3), towers.split_batch(values, 3)
        )
        train = train_op(optimizer, results, step)
        yield "returns an op", _is_op(train), f"it returned {train!r:.40}"
        weight = tf1.trainable_variables()[0]
        init = tf1.global_variables_initializer()
    yield from _train_op_claims(graph, train, weight, step, init, values, poison)


def _train_op_claims(graph, train, weight, step, init, values, poison):
    config = tf1.ConfigProto(device_count={"CPU": 3})
    with tf1.Session(graph=graph, config=config) as session:
        session.run(init)
        session.run(train, {values: SLICES})
        # Gradient of mean((w - x)^2) at w = 0 is -2 mean(x); one step of RATE.
        wanted = RATE * 2 * SLICES.mean()
        got = float(session.run(weight))
        yield ("updates by the average of the towers", bool(np.isclose(got, wanted)),
               f"the weight went from 0 to {got:.3f}, the average gives {wanted:.3f}")
        at = int(session.run(step))
        yield ("moves the step by one", at == 1,
               f"the step is {at}: pass global_step=step to apply_gradients")
        poisoned = SLICES.copy()
        poisoned[1, 0] = np.nan
        yield ("refuses NaN in one tower", _refuses(session, train, {values: poisoned}),
               "average with towers.process_gradient_list, which checks")
        same = float(session.run(weight)) == got
        yield "leaves the weight alone then", same, "the weight moved all the same"
        feed = {values: SLICES, poison: np.nan}
        yield ("refuses a NaN loss, though all gradients are finite",
               _refuses(session, train, feed),
               "give process_gradient_list the losses: losses=losses")


def _refuses(session, train, feed) -> bool:
    try:
        session.run(train, feed)
    except tf.errors.InvalidArgumentError:
        return True
    return False


@exercise(
    "Exercise 2: with_updates",
    "tf1.get_collection(..., scope=...) picks the ops whose names begin like that; "
    "tf.control_dependencies makes others wait for them.",
)
def check_with_updates(with_updates):
    with tf.Graph().as_default() as graph:
        trained = tf1.get_variable("trained", [], initializer=tf1.zeros_initializer())
        means = []

        def tower(value):
            # A variable for each tower here, to see which updates ran.
            mean = tf1.get_local_variable(
                f"mean_{len(means)}", initializer=0.0, use_resource=True
            )
            update = mean.assign_add(value[0])
            tf1.add_to_collection(tf1.GraphKeys.UPDATE_OPS, update)
            means.append(mean)
            return update

        with tf1.variable_scope("", reuse=tf1.AUTO_REUSE):
            _separate_towers(tower)
        train = with_updates(trained.assign_add(1.0).op, tower="tower_1")
        yield "returns an op", _is_op(train), f"it returned {train!r:.40}"
        init = [tf1.global_variables_initializer(), tf1.local_variables_initializer()]
    with tf1.Session(graph=graph) as session:
        session.run(init)
        session.run(train)
        count, values = session.run([trained, means])
    yield ("runs the train op, once", count == 1,
           f"it ran {count:.0f} times: return an op that depends on it")
    yield ("runs the updates of that tower", values[1] == 2,
           "its update did not run: make the result wait for it")
    others = [k for k, value in enumerate(values) if value != 0 and k != 1]
    yield ("and of no other tower", not others,
           "`tower_1` is also how `tower_10` begins: end the scope with a slash"
           if others == [10] else
           "another tower's update ran too: filter the collection by scope")


def _separate_towers(tower) -> None:
    for index in range(11):  # so that one tower's name begins like another's
        with tf1.name_scope(f"tower_{index}"):
            tower(tf.constant([index + 1.0]))


# Validation accuracies, and how many cuts they earn with a patience of 3, by hand.
CURVES = (
    ([0.1, 0.2, 0.3, 0.4], 0),
    ([0.5, 0.4, 0.4, 0.4], 1),
    ([0.5, 0.4, 0.4, 0.4, 0.4, 0.4, 0.4], 2),
    ([0.2, 0.1, 0.1, 0.3, 0.3, 0.3], 0),
    ([0.5, 0.4, 0.4, 0.4, 0.6, 0.5], 1),  # a new best does not undo a cut
    ([], 0),
)


@exercise(
    "Exercise 3: rate_after",
    "keep the best accuracy so far and a count of the epochs since; go through the "
    "list once.",
)
def check_rate_after(rate_after):
    got = rate_after([0.1], 0.01, 3)
    yield ("returns a number", isinstance(got, (int, float)),
           f"it returned {got!r:.40}")
    for curve, cuts in CURVES:
        wanted, got = 0.01 / 10**cuts, rate_after(curve, 0.01, 3)
        yield (f"after {curve}", bool(np.isclose(got, wanted, rtol=1e-6)),
               f"the next rate is {got:g}, it should be {wanted:g}")
    got = rate_after([0.5, 0.4], 1.0, 1)
    yield ("heeds rate and patience", bool(np.isclose(got, 0.1)),
           f"with rate 1 and patience 1, after [0.5, 0.4], it is {got:g}, not 0.1")
