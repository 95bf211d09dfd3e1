"""The checks of lesson 07a: one train op, and a run that goes on."""

import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers import towers
from helpers.checks.report import Claim, answering, close, drawn, exercise, shown
from helpers.training import Model


@exercise(
    "Exercise 1: train_op",
    "what build_towers returns is a list of pairs; process_gradient_list wants the "
    "losses and the gradients apart. What moves the step, and when may it not move?",
    "begin with: losses, gradients = zip(*results)",
)
def check_train_op(train_op: Callable) -> Iterator[Claim]:
    """Trains drawn towers, then spoils each gradient and each loss in turn.

    Args:
      train_op: `(optimizer, results, step)` to an op.
    """
    for claims in drawn(lambda rng, size: _train_op_case(train_op, rng, size), 6):
        yield from claims


def _train_op_case(train_op, rng, size) -> Iterator[Claim]:
    number, rate = 1 + size % 4, [0.5, 0.25][size % 2]
    values = rng.integers(-9, 10, [number, 2]).astype(np.float32)
    text = f"{number} towers, rate {rate}, values {values.tolist()}"
    with tf.Graph().as_default() as graph:
        step = tf1.get_variable("counter", [], tf.int64, trainable=False,
                                initializer=tf1.constant_initializer(size))
        tf1.train.get_or_create_global_step()  # another one, which stays
        # MomentumOptimizer's first update is that of gradient descent.
        optimizer = [tf1.train.GradientDescentOptimizer(rate),
                     tf1.train.MomentumOptimizer(rate, 0.9)][size % 2]
        feed = tf1.placeholder(tf.float32, [number, 2])
        poison = tf1.placeholder(tf.float32, [number])  # reaches the losses alone

        def tower(of_one, poison):
            weight = tf1.get_variable("weight", [], initializer=tf1.zeros_initializer())
            loss = tf.reduce_mean(tf.square(weight - of_one)) + tf.reduce_sum(poison)
            return loss, optimizer.compute_gradients(loss)

        results = towers.build_towers(tower, towers.cpu_devices(number),
                                      towers.split_batch((feed, poison), number))
        op = train_op(optimizer, results, step)
        yield ("returns an op", isinstance(op, tf.Operation) or tf.is_tensor(op),
               f"it returned {op!r:.40}")
        state, init = tf1.global_variables(), tf1.global_variables_initializer()
    with tf1.Session(graph=graph, config=tf1.ConfigProto(
            device_count={"CPU": 4})) as session:
        session.run(init)
        good = np.zeros([number], np.float32)
        with answering(text):
            session.run(op, {feed: values, poison: good})
        weight, at = session.run([graph.get_tensor_by_name(
            "weight/Read/ReadVariableOp:0"), step])
        due = rate * 2 * values.mean()
        yield ("updates by the average of the towers", close(weight, due),
               f"{text}: {shown(due, weight)}")
        yield "moves the step by one", at == size + 1, f"{text}: {shown(size + 1, at)}"
        before = session.run(state)
        for k in range(number):
            one = np.where(np.arange(number) == k, np.nan, 0).astype(np.float32)
            for what, spoilt in (("gradient", {feed: values + one[:, None],
                                               poison: good}),
                                 ("loss", {feed: values, poison: one})):
                refused = [_refuses(session, op, spoilt) for _ in range(5)]
                yield ("refuses NaN in any gradient or loss", all(refused),
                       f"{text}: tower {k} had a NaN {what}, and no error came")
        after = session.run(state)
        yield ("leaves weights, slots and step alone then", all(
            map(np.array_equal, before, after)), f"{text}: {shown(before, after)}")


def _refuses(session, op, feed) -> bool:
    try:
        session.run(op, feed)
    except tf.errors.InvalidArgumentError:
        return True
    return False


@exercise(
    "Exercise 2: logged_run",
    "the model's restore, fit and save do three of the four things. fit takes every=, "
    "also= and each=, and tells `each` the global step.",
    "begin with: model.restore(folder), then "
    "with model.graph.as_default(), tf1.summary.FileWriter(str(folder)) as writer:",
)
def check_logged_run(logged_run: Callable) -> Iterator[Claim]:
    """Stops small trainings and compares their logs with one that never stopped.

    Args:
      logged_run: `(model, folder, steps)`.
    """
    for starts in ([10], [25, 25], [7, 3, 12]):
        rate = 0.01 * len(starts)
        with tempfile.TemporaryDirectory() as name:
            folder, total = Path(name) / "run", 0
            for k, steps in enumerate(starts, 1):
                total += steps
                text = f"starts of {starts[:k]} steps"
                with _small_model(rate) as model:
                    with answering(text):
                        logged_run(model, folder, steps)
                    at = int(model.session.run(model.step))
                yield ("trains as many steps more as asked", at == total,
                       f"{text}: {shown(total, at)}")
                due = list(range(10, total + 1, 10))
                yield ("logs at the global steps that 10 divides, and keeps the log",
                       sorted(_log_of(folder)) == due,
                       f"{text}: {shown(due, sorted(_log_of(folder)))}")
                with _small_model(rate) as model:
                    saved = model.restore(folder)
                yield ("saves at the end", saved == total,
                       f"{text}: {shown(total, saved)}")
                time.sleep(1.1)  # two writers of one second share a file
            yield from _same_curve(_log_of(folder), rate, total, starts)


def _same_curve(log, rate, total, starts) -> Iterator[Claim]:
    """Claims about each logged loss: that before its update, or that after it."""
    with _small_model(rate) as model:
        due = model.fit(total + 1)
    for at, value in sorted(log.items()):
        yield ("the losses are those of a run that never stopped",
               any(close(value, one, 1e-3) for one in due[at - 1: at + 1]),
               f"starts of {starts} steps, at {at}: {shown(due[at - 1], value)}")


def _small_model(rate: float) -> Model:
    """Returns a regression under momentum, on four rows that never change."""
    features = np.array([[1.0], [2.0], [3.0], [4.0]], np.float32)
    with tf.Graph().as_default() as graph:
        step = tf1.train.get_or_create_global_step()
        weight = tf1.get_variable("w", [1, 1], initializer=tf1.zeros_initializer())
        loss = tf.reduce_mean(tf.square(tf.matmul(features, weight) - 2 * features))
        train = tf1.train.MomentumOptimizer(rate, 0.95).minimize(loss, step)
    return Model(graph, train, loss)


def _log_of(folder: Path) -> dict[int, float]:
    """Returns the train/loss of each step in a folder's event files."""
    log = {}
    for path in sorted(folder.rglob("*tfevents*")):
        for event in tf1.train.summary_iterator(str(path)):
            for value in event.summary.value:
                if value.tag == "train/loss":
                    log[event.step] = (tf.make_ndarray(value.tensor).item()
                                       if value.HasField("tensor")
                                       else value.simple_value)
    return log
