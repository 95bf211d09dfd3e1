"""The checks of lesson 10: right answers of every shape, wrong ones named."""

import numpy as np
import pytest
import tensorflow as tf

from helpers.checks.lesson_10 import (
    check_fix,
    check_inference_weights,
    check_keras_lstm_weights,
    check_running_mean,
)

ANY = tf.TensorSpec([None], tf.float32)


class Two(tf.Module):
    def __init__(self):
        super().__init__()
        self.total, self.count = tf.Variable(0.0), tf.Variable(0.0)

    def more(self, batch):
        self.total.assign_add(tf.reduce_sum(batch))
        self.count.assign_add(tf.cast(tf.size(batch), tf.float32))
        return self.total / self.count


class Decorated(Two):
    update = tf.function(Two.more, input_signature=[ANY])


class MadeInInit(Two):
    def __init__(self):
        super().__init__()
        self.update = tf.function(self.more, input_signature=[ANY])


class Concrete(Two):
    def __init__(self):
        super().__init__()
        self.update = tf.function(self.more).get_concrete_function(ANY)

    def more(self, batch):
        return super().more(batch)


class OnlineMean(tf.Module):
    """Moves the mean itself, in place of a sum."""

    def __init__(self):
        super().__init__()
        self.mean, self.count = tf.Variable(0.0), tf.Variable(0, dtype=tf.int32)

    @tf.function(input_signature=[ANY])
    def update(self, batch):
        self.count.assign_add(tf.size(batch))
        change = tf.reduce_sum(batch - self.mean) / tf.cast(self.count, tf.float32)
        return self.mean.assign_add(change)


class Retraced(Two):
    update = tf.function(Two.more)


class Plain(Two):
    update = Two.more


class Forgetful(Two):
    @tf.function(input_signature=[ANY])
    def update(self, batch):
        self.total.assign_add(0.0)
        return tf.reduce_mean(batch)


class MeanOfMeans(Two):
    @tf.function(input_signature=[ANY])
    def update(self, batch):
        self.total.assign_add(tf.reduce_mean(batch))
        self.count.assign_add(1.0)
        return self.total / self.count


class Shared(tf.Module):
    total, count = tf.Variable(0.0), tf.Variable(0.0)
    update = tf.function(Two.more, input_signature=[ANY])


class OneVariable(tf.Module):
    def __init__(self):
        super().__init__()
        self.total, self.count = tf.Variable(0.0), 0.0

    def update(self, batch):
        self.total.assign_add(tf.reduce_sum(batch))
        self.count += len(batch)
        return self.total / self.count


def lstm(order=(0, 2, 1, 3), forget=1.0, bias_order=None):
    def attempt(kernel, bias):
        gates, biases = np.split(kernel, 4, 1), np.split(bias, 4)
        kernel = np.concatenate([gates[i] for i in order], 1)
        bias = np.concatenate([biases[i] for i in bias_order or order])
        bias[5:10] += forget
        return [kernel[:3], kernel[3:], bias]

    return attempt


def lstm_by_reshape(kernel, bias):
    rows, units = len(kernel), len(bias) // 4
    swapped = kernel.reshape(rows, 4, units)[:, [0, 2, 1, 3]].reshape(rows, -1)
    bias = bias.reshape(4, units)[[0, 2, 1, 3]] + [[0.0], [1.0], [0.0], [0.0]]
    return swapped[:rows - units], swapped[rows - units:], bias.ravel()


def lstm_by_places(kernel, bias):
    units = bias.size // 4
    places = np.r_[:units, 2 * units:3 * units, units:2 * units, 3 * units:4 * units]
    new_bias = bias[places]
    new_bias[units:2 * units] += 1
    return list(np.split(kernel[:, places], [len(kernel) - units])) + [new_bias]


def lstm_one_elsewhere(kernel, bias):
    kernel, recurrent, bias = lstm(forget=0.0)(kernel, bias)
    return [kernel, recurrent, bias + np.repeat([0, 0, 1, 0], len(bias) // 4)]


def lstm_states_first(kernel, bias):
    kernel, recurrent, bias = lstm()(kernel, bias)
    both = np.concatenate([recurrent, kernel])
    return [both[:3], both[3:], bias]


def lstm_in_place(kernel, bias):
    units = len(bias) // 4
    bias[2 * units:3 * units] += 1
    return lstm(forget=0.0)(kernel, bias)


def weights(average=True, statistics=True, slots=False, order=None):
    """The likely ways to move a slim checkpoint, right and wrong."""
    def attempt(reader):
        found = {}
        for name in reader.get_variable_to_shape_map():
            if name == "global_step" or name.endswith("ExponentialMovingAverage"):
                continue
            if name.endswith("Momentum") and not slots:
                continue
            if "moving" in name and not statistics:
                continue
            new = name.removeprefix("net/").replace("/BatchNorm", "_norm")
            new = new.replace("weights", "kernel").replace("biases", "bias")
            shadow = name + "/ExponentialMovingAverage"
            use = shadow if average and reader.has_tensor(shadow) else name
            found[new] = reader.get_tensor(use)
        return found

    return attempt


def weights_from_the_end(reader):
    """Takes the raw values first and lets the averages replace them."""
    ends = {"weights": "kernel", "biases": "bias"}
    found = {}
    for name in sorted(reader.get_variable_to_shape_map()):
        parts = name.split("/")
        if parts[-1] == "Momentum" or name == "global_step":
            continue
        parts = [p for p in parts[1:] if p != "ExponentialMovingAverage"]
        layer = parts[0] + ("_norm" if "BatchNorm" in parts else "")
        found[f"{layer}/{ends.get(parts[-1], parts[-1])}"] = reader.get_tensor(name)
    return found


def weights_by_dictionary(reader):
    names = [n for n in reader.get_variable_to_shape_map() if n.count("/") > 1
             and not n.endswith(("Momentum", "Average"))]
    shadow = {n: n + "/ExponentialMovingAverage" for n in names}
    table = str.maketrans("", "")
    return {n[4:].replace("/BatchNorm/", "_norm/").replace("/weights", "/kernel")
            .replace("/biases", "/bias").translate(table):
            reader.get_tensor(shadow[n] if reader.has_tensor(shadow[n]) else n)
            for n in names}


def weights_typed(reader):
    return {f"{layer}/kernel": reader.get_tensor(f"net/{layer}/weights")
            for layer in ("conv1", "conv2", "scores")}


def weights_without_exception(reader):
    found = weights()(reader)
    return {n: reader.get_tensor("net/" + n.replace("_norm", "/BatchNorm").replace(
        "kernel", "weights").replace("bias", "biases") + "/ExponentialMovingAverage")
        for n in found}


def fix(epsilon=1e-3, scores=True, hidden=False):
    def attempt(new):
        new.epsilon = epsilon
        if scores:
            new.scores.assign(tf.transpose(new.scores))
        if hidden:
            new.hidden.assign(tf.transpose(new.hidden))

    return attempt


def fix_with_new_variables(new):
    new.scores = tf.Variable(new.scores.numpy().T)
    setattr(new, "epsilon", 0.001)  # noqa: B010


def fix_in_numpy(new):
    new.scores.assign(np.swapaxes(new.scores, 0, 1))
    new.epsilon *= 100


def fix_typed(new):
    fix(scores=False)(new)
    new.scores.assign(np.random.default_rng(7).normal(size=[6, 6]))


RIGHT = [
    (check_running_mean, Decorated),
    (check_running_mean, MadeInInit),
    (check_running_mean, Concrete),
    (check_running_mean, OnlineMean),
    (check_keras_lstm_weights, lstm()),
    (check_keras_lstm_weights, lstm_by_reshape),
    (check_keras_lstm_weights, lstm_by_places),
    (check_inference_weights, weights()),
    (check_inference_weights, weights_from_the_end),
    (check_inference_weights, weights_by_dictionary),
    (check_fix, fix()),
    (check_fix, fix_with_new_variables),
    (check_fix, fix_in_numpy),
]
WRONG = [
    (check_running_mean, Retraced, "made 5 traces"),
    (check_running_mean, Plain, "plain Python"),
    (check_running_mean, Forgetful, "the last batch alone"),
    (check_running_mean, MeanOfMeans, "a batch of 1 counts as much"),
    (check_running_mean, Shared, "lists 0"),
    (check_running_mean, OneVariable, "lists 1"),
    (check_running_mean, Two, "no `update`"),
    (check_running_mean, lambda: 1, "not a class"),
    (check_keras_lstm_weights, lstm(forget=0.0), "is missing from the bias"),
    (check_keras_lstm_weights, lstm(forget=2.0), "twice"),
    (check_keras_lstm_weights, lstm((0, 1, 2, 3)), "as the old cell had them"),
    (check_keras_lstm_weights, lstm((0, 2, 3, 1)), "are not input, forget"),
    (check_keras_lstm_weights, lstm((0, 2, 1, 3), 0.0, (0, 1, 2, 3)), "still the old"),
    (check_keras_lstm_weights, lstm_one_elsewhere, "a 1 elsewhere"),
    (check_keras_lstm_weights, lstm_states_first, "are mixed up"),
    (check_keras_lstm_weights, lstm_in_place, "changed in place"),
    (check_keras_lstm_weights, lambda k, b: [k, b], "this is list of 2"),
    (check_keras_lstm_weights, lambda k, b: [k[3:], k[:3], b], "yours are"),
    (check_keras_lstm_weights, lambda k, b: 1 / 0, "ZeroDivisionError"),
    (check_inference_weights, weights(average=False), "is the raw weight"),
    (check_inference_weights, weights(statistics=False), "missing: ['conv1_norm/mov"),
    (check_inference_weights, weights(slots=True), "not Keras's: ["),
    (check_inference_weights, weights_typed, "missing"),
    (check_inference_weights, weights_without_exception, "NotFoundError"),
    (check_inference_weights, lambda reader: [1], "it returned list of 1"),
    (check_inference_weights, lambda reader: {
        n: v * 0 for n, v in weights()(reader).items()}, "is neither"),
    (check_fix, fix(scores=False), "is now scores"),
    (check_fix, fix(epsilon=1e-5), "still norm"),
    (check_fix, fix(epsilon=1e-2), "still norm"),
    (check_fix, fix(scores=False, hidden=True), "is now hidden"),
    (check_fix, lambda new: new, "still norm"),
    (check_fix, fix_typed, "is now"),
]


@pytest.mark.parametrize("check, attempt", RIGHT)
def test_right_answers_of_every_shape_pass(check, attempt):
    report = check(attempt)
    assert report, report


@pytest.mark.parametrize("check, attempt, words", WRONG)
def test_wrong_answers_are_refused_and_named(check, attempt, words):
    report = check(attempt)
    assert not report
    assert words in " ".join(repr(report).split()), report
    assert "Hint" not in repr(report)


@pytest.mark.parametrize("check", sorted({row[0] for row in RIGHT}, key=str))
def test_two_hints_on_request(check):
    wrong = next(attempt for c, attempt, _ in WRONG if c is check)
    assert "Hint 2" in repr(check(wrong, hints=2))
