"""Exercise checks of lesson 07a: an update of several towers, and resumed training."""

import tempfile
import time
from pathlib import Path

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers import towers
from helpers.checks.claims import answering, drawn, exercise, near, raises, same
from helpers.training import Model


@exercise(
    "Exercise 1: train_op",
    "`process_gradient_list` averages the gradients, and checks them together with the "
    "losses. It needs the gradients and the losses in two separate lists.",
    "Begin with `losses, gradients = zip(*results)`. What is left is to average, with "
    "`losses=losses`, and to apply the averages with `global_step=step`.",
    about={
        "updates the weights with the average of the towers":
            "Apply the gradients once, after you have averaged those of all towers.",
        "moves the step by one":
            "The step moves only if `apply_gradients` gets it; see `The step that "
            "counts`.",
        "raises InvalidArgumentError for a gradient or loss that is not finite": (
            "A loss can be NaN although all gradients are finite, and this may happen "
            "in any tower. So the losses of all towers need the check, too."),
        "changes no weight, slot or step in such an update": (
            "Whatever changes a weight or the step has to wait for every check, and "
            "not only for its own gradient. Ops that merely stand beside a check may "
            "run before it."),
    },
    adds=("variables", "train_op"), twice=False,
)
def check_train_op(attempt):
    """Checks a training op of several towers, also with NaN in losses or gradients."""
    for rng, start in drawn(lambda *pair: pair, 6):
        number, rate = 1 + start % 4, [0.5, 0.25][start % 2]
        values = rng.integers(-9, 10, [number, 2]).astype(np.float32)
        case = f"{number} towers, rate {rate}, values {values.tolist()}"
        with tf.Graph().as_default() as graph:
            step = tf1.get_variable("counter", [], tf.int64, trainable=False,
                                    initializer=tf1.constant_initializer(start))
            tf1.train.get_or_create_global_step()  # another one, which stays
            # MomentumOptimizer's first update is that of gradient descent.
            optimizer = [tf1.train.GradientDescentOptimizer(rate),
                         tf1.train.MomentumOptimizer(rate, 0.9)][start % 2]
            feed = tf1.placeholder(tf.float32, [number, 2])
            poison = tf1.placeholder(tf.float32, [number, 2])  # of gradient, of loss

            def tower(of_one, poison, optimizer=optimizer):
                weight = tf1.get_variable("weight", initializer=0.0)
                loss = tf.reduce_mean((weight - of_one) ** 2)
                loss += tf1.get_variable("other", initializer=0.0)
                pairs = optimizer.compute_gradients(loss + poison[0, 0] * weight)
                return loss + poison[0, 1], pairs

            results = towers.build_towers(
                tower, towers.cpu_devices(number),
                towers.split_batch((feed, poison), number))
            with answering(case):
                attempt(optimizer, [(-loss, [(-g, v) for g, v in pairs])
                                    for loss, pairs in results], step)
                op = attempt(optimizer, results, step)
            yield ("returns an op or a tensor",
                   isinstance(op, tf.Operation) or tf.is_tensor(op),
                   f"it returned {op!r:.40}")
            state, init = tf1.global_variables(), tf1.global_variables_initializer()
            weight, _ = tf1.trainable_variables()
        with tf1.Session(graph=graph, config=towers.session_config()) as session:
            session.run(init)
            good = {feed: values, poison: np.zeros([number, 2])}
            with answering(case):
                session.run(op, good)
            before = session.run(state)
            yield near("updates the weights with the average of the towers",
                       rate * 2 * values.mean(), session.run(weight), case)
            yield near("moves the step by one", start + 1, session.run(step),
                       f"{case}: the step was {start}")
            for k, which in np.ndindex(number, 2):
                bad = np.zeros([number, 2])
                bad[k, which] = [np.inf, np.nan][(start + k) % 2]
                refused = [raises(tf.errors.InvalidArgumentError, session.run, op,
                                  good | {poison: bad}) for _ in range(5)]
                yield ("raises InvalidArgumentError for a gradient or loss that is not "
                       "finite", all(refused),
                       f"{case}: the {['gradient', 'loss'][which]} of tower {k} was "
                       f"{bad.sum()}, but no InvalidArgumentError was raised")
            names = ", ".join(variable.op.name for variable in state)
            yield near("changes no weight, slot or step in such an update", before,
                       session.run(state), f"{case}; the values of {names}", 0, 0)


@exercise(
    "Exercise 2: logged_run",
    "`model.fit` has the arguments `every=`, `also=` and `each=`. It calls `each` with "
    "the global step and the values of `also`.",
    "Begin with `model.restore(folder)` and `with model.graph.as_default(), "
    "tf1.summary.FileWriter(str(folder)) as writer:`. What is left are a scalar "
    "summary, `fit`, and `save`.",
    about={
        "trains the given number of steps, and gets the loss from the same runs": (
            "A further run of the loss computes it again, with other weights. `fit` "
            "can fetch it in the run that trains."),
        ("goes on from the newest checkpoint, and logs every global step that 10 "
         "divides"): (
            "Restore first, and count with the global step, not with the steps of "
            "this start. If the log has no step at all, look at the tag."),
        "logs the losses of a run that never stopped": (
            "Write each loss at the step that `fit` passes to the function, and let "
            "`restore` bring back the slots with the weights."),
    },
    adds=["summaries"],
)
def check_logged_run(attempt):
    """Checks interrupted, resumed trainings against one without interruption."""
    for starts in ([10], [50], [7, 3, 2, 10]):
        rate = 0.01 * len(starts)
        with tempfile.TemporaryDirectory() as name:
            folder, total = Path(name) / "run", 0
            for k, steps in enumerate(starts, 1):
                case = f"starts of {starts[:k]} steps"
                if k > 1:  # two writers of one second share a file
                    time.sleep(1 - time.time() % 1)
                    folder = folder.rename(folder.with_name(f"run_{k}"))
                    case += ", and the folder was renamed before the last start"
                total += steps
                with _small_model(rate) as model, answering(case):
                    attempt(model, folder, steps)
                    computed = int(model.session.run("losses:0"))
                yield same("trains the given number of steps, and gets the loss from "
                           "the same runs", total, computed,
                           f"{case}; counted how often the loss was computed")
                yield same("goes on from the newest checkpoint, and logs every global "
                           "step that 10 divides", [*range(10, total + 1, 10)],
                           sorted(_log_of(folder)), f"{case}; steps in the log")
                with _small_model(rate) as model:
                    saved = model.restore(folder)
                yield near("saves a checkpoint at the end", total, saved,
                           f"{case}; global step of the newest checkpoint")
            log = _log_of(folder)
        with _small_model(rate) as model:
            losses = model.fit(total + 1)
        for at, value in sorted(log.items()):
            due = min(losses[at - 1: at + 1],  # before its update, or after it
                      key=lambda loss, value=value: abs(loss - value))
            yield near("logs the losses of a run that never stopped", due, value,
                       f"starts of {starts} steps, at {at}", 1e-3)


def _small_model(rate: float) -> Model:
    """Builds a linear regression with momentum on four fixed rows."""
    features = np.array([[1.0], [2.0], [3.0], [4.0]], np.float32)
    with tf.Graph().as_default() as graph:
        step = tf1.train.get_or_create_global_step()
        weight = tf1.get_variable("w", [1, 1], initializer=tf1.zeros_initializer())
        computed = tf1.get_variable("losses", initializer=0, trainable=False,
                                    use_resource=False)
        with tf.control_dependencies([computed.assign_add(1)]):
            errors = tf.square(tf.matmul(features, weight) - 2 * features)
        loss = tf.reduce_mean(errors)
        train = tf1.train.MomentumOptimizer(rate, 0.95).minimize(loss, step)
    return Model(graph, train, loss)


def _log_of(folder: Path) -> dict[int, float]:
    """Reads the `train/loss` value of each step from the event files in a folder."""
    log = {}
    for path in sorted(folder.glob("*tfevents*")):
        for event in tf1.train.summary_iterator(str(path)):
            for value in event.summary.value:
                if value.tag == "train/loss":
                    log[event.step] = (tf.make_ndarray(value.tensor).item()
                                       if value.HasField("tensor")
                                       else value.simple_value)
    return log
