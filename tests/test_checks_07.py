"""The checks of lesson 07: right answers pass, nearly right ones are told why not."""

import numpy as np
import pytest
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers import towers
from helpers.checks.lesson_07 import (
    check_logged_run,
    check_train_op,
    check_with_updates,
)


def refused(check, attempt, claim, fault):
    """Whether the check stops at a claim, with words that name the fault."""
    report = check(attempt)
    assert not report
    text, _, wrong = report.claims[-1]
    assert claim in text and fault in wrong, (text, wrong)


def train_op(optimizer, results, step, *, check_losses=True, count=True):
    losses, gradients = zip(*results, strict=True)
    averaged = towers.process_gradient_list(
        gradients, losses=losses if check_losses else None
    )
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
    """The answer that the check once accepted: nothing orders the two."""
    return tf.group(
        step.assign_add(1), train_op(optimizer, results, step, count=False)
    )


def of_tower_0(optimizer, results, step):
    return train_op(optimizer, results[:1], step)


def plain_mean(optimizer, results, step):
    _, gradients = zip(*results, strict=True)
    averaged = [(tf.add_n([g for g, _ in pairs]) / len(pairs), pairs[0][1])
                for pairs in zip(*gradients, strict=True)]
    return optimizer.apply_gradients(averaged, global_step=step)


def adds_up(optimizer, results, step):
    _, gradients = zip(*results, strict=True)
    return optimizer.apply_gradients(
        [(tf.add_n([of_one[0][0] for of_one in gradients]), gradients[0][0][1])], step)


@pytest.mark.parametrize("attempt", [train_op, counts_after_the_update, checks_first])
def test_train_op_right(attempt):
    assert check_train_op(attempt)


@pytest.mark.parametrize("attempt, claim, fault", [
    (lambda *a: train_op(*a, count=False), "moves the step by one", "the step is 0"),
    (lambda *a: train_op(*a, check_losses=False), "a NaN loss", "all losses were NaN"),
    (counts_failed_steps, "counts no step that failed", "none of 21 updates"),
    (of_tower_0, "average of the towers", "tower 0 alone"),
    (adds_up, "average of the towers", "the sum over the towers"),
    (plain_mean, "refuses NaN in one tower", "no InvalidArgumentError"),
    (lambda optimizer, results, step: results, "returns an op", "it returned ["),
])
def test_train_op_wrong(attempt, claim, fault):
    refused(check_train_op, attempt, claim, fault)


def updates_of(pattern):
    return tf1.get_collection(tf1.GraphKeys.UPDATE_OPS, scope=pattern)


def with_updates(train, tower="tower_0", *, end="/"):
    return tf.group(train, *updates_of(tower + end))


def by_control_dependencies(train, tower="tower_0"):
    with tf.control_dependencies([train, *updates_of(f"{tower}/")]):
        return tf.no_op()


def by_name(train, tower="tower_0"):
    updates = [op for op in updates_of(None) if op.name.split("/")[0] == tower]
    with tf.control_dependencies([train, *updates]):
        return tf.constant(0)


def waits_for_nothing(train, tower="tower_0"):
    with tf.control_dependencies(updates_of(f"{tower}/")):
        return train


def without_train(train, tower="tower_0"):
    return tf.group(*updates_of(f"{tower}/"))


def ignores_the_tower(train, tower="tower_0"):
    return with_updates(train, "tower_0")


@pytest.mark.parametrize("attempt", [with_updates, by_control_dependencies, by_name])
def test_with_updates_right(attempt):
    assert check_with_updates(attempt)


@pytest.mark.parametrize("attempt, claim, fault", [
    (lambda train, tower: with_updates(train, tower, end=""), "no other tower",
     "tower_10 moved too"),
    (lambda train, tower: with_updates(train, "", end=""), "no other tower", "[0, 2"),
    (waits_for_nothing, "updates of that tower", "did not move"),
    (without_train, "the train op, once", "0 times"),
    (ignores_the_tower, "updates of that tower", "did not move"),
    (lambda train, tower: [train], "returns an op", "it returned ["),
])
def test_with_updates_wrong(attempt, claim, fault):
    refused(check_with_updates, attempt, claim, fault)


def proto(loss):
    return tf1.Summary(value=[tf1.Summary.Value(tag="train/loss", simple_value=loss)])


def logged_run(model, folder, steps, *, restore=True, save=True, every=10, close=True,
               tag="train/loss", shift=0):
    """A right run with a switch for each usual fault."""
    if restore:
        model.restore(folder)
    with model.graph.as_default():
        summary = tf1.summary.scalar(tag, model.loss)
        writer = tf1.summary.FileWriter(str(folder))
        model.fit(steps, every=every, also=summary,
                  each=lambda at, value: writer.add_summary(value, at - shift))
        if close:
            writer.close()
    if save:
        model.save(folder)


def step_by_step(model, folder, steps):
    at = model.restore(folder) or 0
    with model.graph.as_default(), tf1.summary.FileWriter(str(folder)) as writer:
        for _ in range(steps):
            loss, at = model.fit(1)[0], at + 1
            if at % 10 == 0:
                writer.add_summary(proto(loss), at)
                model.save(folder)
    model.save(folder)


def afterwards(model, folder, steps):
    begun = model.restore(folder) or 0
    losses = model.fit(steps)
    writer = tf.summary.create_file_writer(str(folder))
    with writer.as_default():
        for at, loss in enumerate(losses, begun + 1):
            if at % 10 == 0:
                tf.summary.scalar("train/loss", loss, step=at)
    writer.close()
    model.save(folder)


def from_its_own_zero(model, folder, steps):
    model.restore(folder)
    with model.graph.as_default(), tf1.summary.FileWriter(str(folder)) as writer:
        for at, loss in enumerate(model.fit(steps), 1):
            if at % 10 == 0:
                writer.add_summary(proto(loss), at)
    model.save(folder)


def weights_alone(model, folder, steps):
    with model.graph.as_default():
        model.saver = tf1.train.Saver([*tf1.trainable_variables(), model.step])
        if path := tf.train.latest_checkpoint(str(folder)):
            model.saver.restore(model.session, path)
        with tf1.summary.FileWriter(str(folder)) as writer:
            model.fit(steps, every=10, also=model.loss,
                      each=lambda at, loss: writer.add_summary(proto(loss), at))
        model.saver.save(model.session, str(folder / "weights"),
                         int(model.session.run(model.step)))


def one_folder_for_all(model, folder, steps):
    logged_run(model, folder.parent / "run", steps)


@pytest.mark.parametrize("attempt", [logged_run, step_by_step, afterwards])
def test_logged_run_right(attempt):
    assert check_logged_run(attempt)


@pytest.mark.parametrize("attempt, claim, fault", [
    (lambda *a: logged_run(*a, restore=False), "goes on from", "the global step is 25"),
    (lambda *a: logged_run(*a, save=False), "goes on from", "the global step is 25"),
    (lambda *a: logged_run(*a, every=1), "every 10 steps", "[1, 2, 3"),
    (lambda *a: logged_run(*a, tag="loss"), "logs train/loss", "tag train/loss"),
    (lambda *a: logged_run(*a, shift=10), "every 10 steps", "[0, 10]"),
    (from_its_own_zero, "goes on at the global step", "[10, 20]"),
    (weights_alone, "never stopped", "lost at the second"),
    (lambda model, folder, steps: model.fit(1), "as many steps", "global step is 1"),
    (one_folder_for_all, "its own folder", "logged at [] there"),
])
def test_logged_run_wrong(attempt, claim, fault):
    refused(check_logged_run, attempt, claim, fault)


def test_logged_run_refuses_a_made_up_loss():
    def made_up(model, folder, steps):
        at = model.restore(folder) or 0
        model.fit(steps)
        with model.graph.as_default(), tf1.summary.FileWriter(str(folder)) as writer:
            for when in range(at + 10 - at % 10, at + steps + 1, 10):
                writer.add_summary(proto(float(np.exp(-when))), when)
        model.save(folder)

    refused(check_logged_run, made_up, "never stopped", "at step 10 the log says")


@pytest.mark.parametrize("check", [
    check_train_op, check_with_updates, check_logged_run])
def test_two_hints_and_none_unasked(check):
    def wrong(*_, **__):
        return 3

    assert "Hint" not in repr(check(wrong))
    assert "Hint 2" in repr(check(wrong, hints=2))
