"""The checks of lesson 07: one train op, the right updates, a run that goes on."""

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers import towers
from helpers.checks.report import Claim, exercise
from helpers.training import Model

SLICES = np.array([[1.0, 3.0], [5.0, 7.0], [11.0, 13.0]], np.float32)
RATE = 0.5


def _is_op(attempt) -> bool:
    return isinstance(attempt, tf.Operation) or tf.is_tensor(attempt)


@exercise(
    "Exercise 1: train_op",
    "what build_towers returns is a list of pairs; process_gradient_list wants the "
    "losses and the gradients apart. What moves the step, and when may it not move?",
    "begin with: losses, gradients = zip(*results)",
)
def check_train_op(train_op: Callable) -> Iterator[Claim]:
    """Trains three towers of one weight, then spoils a slice and a loss.

    Args:
      train_op: `(optimizer, results, step)` to an op.
    """
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
        state = [tf1.trainable_variables()[0], step]
        init = tf1.global_variables_initializer()
    config = tf1.ConfigProto(device_count={"CPU": 3})
    with tf1.Session(graph=graph, config=config) as session:
        session.run(init)
        yield from _train_op_claims(session, train, state, values, poison)


def _train_op_claims(session, train, state, values, poison) -> Iterator[Claim]:
    session.run(train, {values: SLICES})
    # Gradient of mean((w - x)^2) at w = 0 is -2 mean(x); one step of RATE.
    wanted = RATE * 2 * SLICES.mean()
    got, at = session.run(state)
    yield ("updates by the average of the towers", bool(np.isclose(got, wanted)),
           f"the weight went from 0 to {got:.3f}, the average gives {wanted:.3f}"
           + _not_the_average(got))
    yield ("moves the step by one", at == 1, f"after one update the step is {at}")
    poisoned = SLICES.copy()
    poisoned[1, 0] = np.nan
    yield ("refuses NaN in one tower", _refuses(session, train, {values: poisoned}),
           "tower 1 had a NaN gradient, and no InvalidArgumentError came")
    for _ in range(20):  # what is not ordered may go right once
        _refuses(session, train, {values: poisoned})
    weight, at = session.run(state)
    yield ("leaves the weight alone then", weight == got,
           f"21 refused steps moved the weight from {got:.3f} to {weight:.3f}")
    yield ("counts no step that failed", at == 1,
           f"the step went from 1 to {at}, though none of 21 updates was made")
    feed = {values: SLICES, poison: np.nan}
    yield ("refuses a NaN loss, though all gradients are finite",
           _refuses(session, train, feed),
           "all losses were NaN, and no InvalidArgumentError came")
    again = session.run(state)
    yield ("leaves weight and step alone then", list(again) == [got, 1],
           f"the weight is {again[0]:.3f} and the step {again[1]}, not {got:.3f} and 1")


def _not_the_average(weight: float) -> str:
    """Names what the weight was moved by instead, if it is a usual slip."""
    means = SLICES.mean(1)
    for value, name in ((means.sum(), "that is the sum over the towers"),
                        (means[0], "tower 0 alone moved it"),
                        (means[-1], "the last tower alone moved it")):
        if np.isclose(weight, RATE * 2 * value):
            return f": {name}"
    return ""


def _refuses(session, train, feed) -> bool:
    try:
        session.run(train, feed)
    except tf.errors.InvalidArgumentError:
        return True
    return False


@exercise(
    "Exercise 2: with_updates",
    "get_collection takes a scope, which is the beginning of a name; tower_10 begins "
    "like tower_1. And what makes one op run whenever another is fetched?",
    "begin with: updates = tf1.get_collection(tf1.GraphKeys.UPDATE_OPS, "
    "scope=f\"{tower}/\")",
)
def check_with_updates(with_updates: Callable) -> Iterator[Claim]:
    """Gives each of eleven towers a mean of its own, and looks which ones moved.

    Args:
      with_updates: `(train, tower)` to an op.
    """
    with tf.Graph().as_default() as graph:
        trained = tf1.get_variable("trained", [], initializer=tf1.zeros_initializer())
        means = [_tower_with_a_mean(index) for index in range(11)]
        train = with_updates(trained.assign_add(1.0).op, tower="tower_1")
        yield "returns an op", _is_op(train), f"it returned {train!r:.40}"
        init = tf1.global_variables_initializer()
    with tf1.Session(graph=graph) as session:
        session.run(init)
        session.run(train)
        count, values = session.run([trained, means])
    yield ("runs the train op, once", count == 1,
           f"one fetch of your op ran the train op {count:.0f} times")
    yield ("runs the updates of that tower", values[1] == 2,
           "the moving mean of tower_1 did not move" if values[1] == 0 else
           f"the update of tower_1 ran {values[1] / 2:.0f} times")
    others = [k for k, value in enumerate(values) if value != 0 and k != 1]
    yield ("and of no other tower", not others,
           "asked for tower_1, the mean of tower_10 moved too" if others == [10]
           else f"the means of towers {others} moved too")


def _tower_with_a_mean(index: int) -> tf.Variable:
    """Builds a tower whose update adds its number plus one to a mean of its own."""
    with tf1.name_scope(f"tower_{index}"):
        mean = tf1.get_variable(
            f"mean_{index}", [], initializer=tf1.zeros_initializer(), trainable=False
        )
        tf1.add_to_collection(
            tf1.GraphKeys.UPDATE_OPS, mean.assign_add(tf.constant(index + 1.0))
        )
    return mean


@exercise(
    "Exercise 3: logged_run",
    "the model's restore, fit and save do three of the four things. fit takes every=, "
    "also= and each=, and tells `each` the global step.",
    "begin with: model.restore(folder), then "
    "with model.graph.as_default(), tf1.summary.FileWriter(str(folder)) as writer:",
)
def check_logged_run(logged_run: Callable) -> Iterator[Claim]:
    """Stops a small training twice and compares its log with one that never stopped.

    Args:
      logged_run: `(model, folder, steps)`.
    """
    with tempfile.TemporaryDirectory() as name:
        folder, other = Path(name) / "run", Path(name) / "other"
        expected = _losses_without_a_stop(50)
        with _small_model() as model:
            logged_run(model, folder, 25)
            log, at = _log_of(folder), int(model.session.run(model.step))
        yield ("trains as many steps as asked", at == 25,
               f"asked for 25 steps, the global step is {at}")
        yield ("logs train/loss", bool(log), f"no event file under {folder.name}/ has "
               "a value with the tag train/loss; a writer keeps values until its close")
        yield ("logs every 10 steps", sorted(log) == [10, 20],
               f"25 steps are logged at {sorted(log)[:8]}, wanted [10, 20]")
        with _small_model() as model:
            logged_run(model, folder, 25)
            # Writers of one second share a file name: the first log may be gone.
            log, at = log | _log_of(folder), int(model.session.run(model.step))
        yield ("goes on from the checkpoint", at == 50,
               f"after 25 steps, a stop and 25 more the global step is {at}")
        yield ("the log goes on at the global step",
               sorted(log) == [10, 20, 30, 40, 50],
               f"the log of both starts stands at {sorted(log)}")
        yield from _same_curve(log, expected)
        with _small_model(rate=0.01) as model:
            logged_run(model, other, 10)
        found = _log_of(other)
        yield ("another run logs into its own folder", sorted(found) == [10],
               f"a run into another folder is logged at {sorted(found)} there")


def _small_model(rate: float = 0.05) -> Model:
    """Returns a regression under momentum, on four rows that never change."""
    features = np.array([[1.0], [2.0], [3.0], [4.0]], np.float32)
    with tf.Graph().as_default() as graph:
        step = tf1.train.get_or_create_global_step()
        weight = tf1.get_variable("w", [1, 1], initializer=tf1.zeros_initializer())
        loss = tf.reduce_mean(tf.square(tf.matmul(features, weight) - 2 * features))
        train = tf1.train.MomentumOptimizer(rate / 5, 0.95).minimize(loss, step)
    return Model(graph, train, loss)


def _losses_without_a_stop(steps: int) -> list[float]:
    """Returns the losses before each of so many updates, and the one after them."""
    with _small_model() as model:
        return model.fit(steps + 1)


def _log_of(folder: Path) -> dict[int, float]:
    """Returns the last train/loss of each step in a folder's event files."""
    log = {}
    for path in sorted(folder.rglob("*tfevents*")):
        for event in tf1.train.summary_iterator(str(path)):
            for value in event.summary.value:
                if value.tag == "train/loss":
                    log[event.step] = (tf.make_ndarray(value.tensor).item()
                                       if value.HasField("tensor")
                                       else value.simple_value)
    return log


def _same_curve(log: dict[int, float], expected: list[float]) -> Iterator[Claim]:
    """Claims about each logged loss: of before the update, or of after it."""
    wrong = [at for at, value in sorted(log.items())
             if not np.isclose(value, expected[at - 1 : at + 1], rtol=1e-3).any()]
    first = wrong[0] if wrong else 10
    fault = (f"at step {first} the log says {log[first]:.4f}, a run without a stop has "
             f"{expected[first - 1]:.4f}")
    if wrong and first > 20:
        fault += ": something of the first start was lost at the second"
    yield "the losses are those of a run that never stopped", not wrong, fault
