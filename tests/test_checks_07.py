"""The checks of lessons 07a and 07b: right answers pass, wrong ones are refused."""

import inspect

import pytest
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers import towers
from helpers.checks.lesson_07a import check_logged_run, check_train_op
from helpers.checks.lesson_07b import check_with_updates


def refused(check, attempt, claim):
    """Whether the check stops at a claim of the answer, not of its own."""
    report = check(attempt)
    assert not report and not report.broken
    assert claim in report.claims[-1][0], report


def train_op(optimizer, results, step, *, check_losses=True, count=True):
    losses, gradients = zip(*results, strict=True)
    averaged = towers.process_gradient_list(
        gradients, losses=losses if check_losses else None)
    return optimizer.apply_gradients(averaged, global_step=step if count else None)


def counts_after_the_update(optimizer, results, step):
    update = train_op(optimizer, results, step, count=False)
    with tf.control_dependencies([update]):
        return step.assign_add(1)


def checks_first(optimizer, results, step):
    losses, gradients = zip(*results, strict=True)
    averaged = towers.process_gradient_list(gradients)
    finite = [tf.debugging.check_numerics(loss, "loss") for loss in losses]
    finite += [gradient for gradient, _ in averaged]
    with tf.control_dependencies(finite):
        averaged = [(tf.identity(g), v) for g, v in averaged]
        return optimizer.apply_gradients(averaged, step)


def counts_failed_steps(optimizer, results, step):
    return tf.group(
        step.assign_add(1), train_op(optimizer, results, step, count=False))


def plain(optimizer, results, step, by=len):
    _, gradients = zip(*results, strict=True)
    averaged = [(tf.add_n([g for g, _ in pairs]) / by(pairs), pairs[0][1])
                for pairs in zip(*gradients, strict=True)]
    return optimizer.apply_gradients(averaged, global_step=step)


@pytest.mark.parametrize("attempt", [train_op, counts_after_the_update, checks_first])
def test_train_op_right(attempt):
    assert check_train_op(attempt)


@pytest.mark.parametrize("attempt, claim", [
    (lambda *a: train_op(*a, count=False), "moves the step"),
    (lambda o, r, s: train_op(o, r, tf1.train.get_global_step()), "moves the step"),
    (lambda *a: train_op(*a, check_losses=False), "refuses NaN"),
    (lambda o, r, s: tf.group(train_op(o, r, s), train_op(o, r, s, count=False)),
     "average of the towers"),
    (counts_failed_steps, "leaves"), (plain, "refuses NaN"),
    (lambda o, r, s: train_op(o, r[:1], s), "average of the towers"),
    (lambda o, r, s: train_op(o, r[:2], s), "average of the towers"),
    (lambda *a: plain(*a, by=lambda pairs: 2), "average of the towers"),
    (lambda optimizer, results, step: results, "returns an op"),
])
def test_train_op_wrong(attempt, claim):
    refused(check_train_op, attempt, claim)


def with_updates(train, tower="tower_0", *, end="/", times=1, ours=slice(None)):
    updates = tf1.get_collection(tf1.GraphKeys.UPDATE_OPS, scope=f"{tower}/")
    if end != "/":
        updates = tf1.get_collection(tf1.GraphKeys.UPDATE_OPS, scope=tower + end)
    return tf.group(train, *updates[ours])


def by_names(train, tower="tower_0"):
    updates = tf1.get_collection(tf1.GraphKeys.UPDATE_OPS)
    with tf.control_dependencies([train, *[
            u for u in updates if u.name.startswith(tower + "/")]]):
        return tf.no_op()


def as_a_tensor(train, tower="tower_0"):
    with tf.control_dependencies([with_updates(train, tower)]):
        return tf.constant(0)


@pytest.mark.parametrize("attempt", [with_updates, by_names, as_a_tensor])
def test_with_updates_right(attempt):
    assert check_with_updates(attempt)


@pytest.mark.parametrize("attempt, claim", [
    (lambda train, tower="tower_0": with_updates(train, tower, end=""), "no other"),
    (lambda train, tower="tower_0": with_updates(train, tower, ours=slice(1)),
     "updates of that tower"),
    (lambda train, tower="tower_0": with_updates(train), "updates of that tower"),
    (lambda train, tower="tower_0": with_updates(train, end="", tower=""), "no other"),
    (lambda train, tower="tower_0": with_updates(tf.no_op(), tower), "train op"),
    (lambda train, tower="tower_0": train, "updates of that tower"),
    (lambda train, tower="tower_0": [train], "returns an op"),
])
def test_with_updates_wrong(attempt, claim):
    refused(check_with_updates, attempt, claim)


def logged_run(model, folder, steps, *, restore=True, by=0, every=10, save=True,
               erase=False, tag="train/loss"):
    """A right answer with a switch for each fault."""
    if restore:
        model.restore(folder)
    if erase:
        for file in folder.glob("*tfevents*"):
            file.unlink()
    with model.graph.as_default(), tf1.summary.FileWriter(str(folder)) as writer:
        summary = tf1.summary.scalar(tag, model.loss)
        model.fit(steps, every=every, also=summary,
                  each=lambda at, value: writer.add_summary(value, at - by))
    if save:
        model.save(folder)


def step_by_step(model, folder, steps):
    model.restore(folder)
    with model.graph.as_default():
        writer = tf1.summary.FileWriter(str(folder))
    for _ in range(steps):
        [value], at = model.fit(1), int(model.run(model.step))
        if at % 10 == 0:
            writer.add_summary(tf1.Summary(value=[tf1.Summary.Value(
                tag="train/loss", simple_value=value)]), at)
    writer.close()
    model.save(folder)


@pytest.mark.parametrize("attempt", [logged_run, step_by_step])
def test_logged_run_right(attempt):
    assert check_logged_run(attempt)


@pytest.mark.parametrize("switches, claim", [
    ({"restore": False}, "as many steps more"), ({"by": 1}, "keeps the log"),
    ({"every": 5}, "keeps the log"), ({"erase": True}, "keeps the log"),
    ({"tag": "loss"}, "keeps the log"), ({"save": False}, "saves at the end"),
])
def test_logged_run_wrong(switches, claim):
    refused(check_logged_run, lambda *args: logged_run(*args, **switches), claim)


@pytest.mark.parametrize("check, attempt, line", [
    (check_train_op, train_op, "losses, gradients = zip(*results"),
    (check_with_updates, with_updates, "updates = tf1.get_collection("
     'tf1.GraphKeys.UPDATE_OPS, scope=f"{tower}/")'),
    (check_logged_run, logged_run, "with model.graph.as_default(), "
     "tf1.summary.FileWriter(str(folder)) as writer:"),
])
def test_an_answer_that_begins_as_the_last_hint_says_is_accepted(check, attempt, line):
    report = check(attempt, hints=2)
    assert line in report.steps[-1] and line in inspect.getsource(attempt)
    assert report
