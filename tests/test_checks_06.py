"""Lesson 06's checks: each mistake gets a hint that names the place."""

import pytest
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.checks.lesson_06 import (
    check_name_map,
    check_receptive_field,
    check_vgg_net,
)
from helpers.layers import conv_layer, flatten, fully_connected_layer, pool_layer
from helpers.vgg import CONFIGURATIONS, vgg_net

WIDTHS = (64, 128, 256, 512, 512)


def own_vgg(
    incoming, keep_prob, *, widths=WIDTHS, size=3, padding="SAME", last=None,
    conv_name="conv{}_{}", drop=True, pools=5, fc_names=("fc6", "fc7"),
):
    """A VGG-19 as a reader may write it, with one thing wrong on demand."""
    outgoing = incoming
    for n, (block, width) in enumerate(
        zip(CONFIGURATIONS["E"], widths, strict=True), 1
    ):
        for m in range(1, len(block) + 1):
            outgoing = conv_layer(outgoing, width, size, padding=padding,
                                  name=conv_name.format(n, m))
        if n <= pools:
            outgoing = pool_layer(outgoing, 2)
    outgoing = flatten(outgoing)
    for name in fc_names:
        outgoing = fully_connected_layer(
            outgoing, 4096, activation_fn=tf.nn.relu,
            keep_prob=keep_prob if drop else None, name=name)
    return fully_connected_layer(outgoing, 1000, activation_fn=last, name="fc8")


def nothing(*arguments):
    """An attempt that forgets its `return`."""
    return {"arguments": arguments}.get("result")


def turned_round(incoming, keep_prob):
    return own_vgg(incoming, 1.0 - keep_prob)


def wrong_spread(incoming, keep_prob):
    """Kernels drawn from a plain normal, as in the first VGG."""
    def drawn(getter, name, *arguments, **options):
        if name.endswith("kernel"):
            options["initializer"] = tf1.random_normal_initializer(stddev=0.01)
        return getter(name, *arguments, **options)

    with tf1.variable_scope(tf1.get_variable_scope(), custom_getter=drawn):
        return own_vgg(incoming, keep_prob)


def relu_after_the_pool(incoming, keep_prob):
    """The same values, because ReLU and a maximum may change places."""
    outgoing = incoming
    for n, (block, width) in enumerate(
        zip(CONFIGURATIONS["E"], WIDTHS, strict=True), 1
    ):
        for m in range(1, len(block) + 1):
            last = m == len(block)
            outgoing = conv_layer(outgoing, width, 3, name=f"conv{n}_{m}",
                                  activation_fn=None if last else tf.nn.relu)
        outgoing = tf.nn.relu(pool_layer(outgoing, 2))
    return dense_layers(flatten(outgoing), keep_prob)


def dense_layers(outgoing, keep_prob):
    """fc6 to fc8 with dropout before ReLU: zero stays zero, the rest is scaled."""
    for name in ("fc6", "fc7"):
        outgoing = tf.nn.relu(fully_connected_layer(
            outgoing, 4096, keep_prob=keep_prob, name=name))
    return fully_connected_layer(outgoing, 1000, name="fc8")


@pytest.mark.parametrize("attempt", [own_vgg, vgg_net, relu_after_the_pool])
def test_right_answers_pass(attempt):
    assert check_vgg_net(attempt)


@pytest.mark.parametrize(
    "options, hint",
    [
        ({"widths": (64, 128, 256, 256, 512)}, "conv4_1: expected 3x3 convolution to "
         "28x28x512; yours has 3x3 convolution to 28x28x256"),
        ({"size": 5}, "conv1_1: expected 3x3 convolution"),
        ({"padding": "VALID"}, "conv1_1: its padding is VALID, so the picture shrinks"),
        ({"padding": "VALID", "pools": 2}, "conv1_1: its padding is VALID"),
        ({"last": tf.nn.relu}, "after fc8: there is a ReLU too many"),
        ({"last": tf.nn.softmax}, "after fc8: there is a softmax too many"),
        ({"pools": 4}, "pool5: expected 2x2 max pool with strides (2, 2) to 7x7x512"),
        ({"drop": False}, "fc6: expected dropout to 4096; yours has matrix product"),
        ({"conv_name": "layer{}_{}"}, "no conv1_1/kernel; the first of yours is "
         "layer1_1/kernel"),
        ({"fc_names": ("fc6",)}, "fc7: expected matrix product to 4096"),
    ],
)
def test_each_mistake_is_named(options, hint):
    report = check_vgg_net(lambda x, keep_prob: own_vgg(x, keep_prob, **options))
    assert not report
    assert hint in report.claims[-1][2]


@pytest.mark.parametrize(
    "attempt, hint",
    [
        (nothing, "it returned None"),
        (lambda x, keep_prob: x, "expected float32 [batch, 1000]"),
        (turned_round, "rate is the share that is dropped"),
        (lambda x, keep_prob: own_vgg(x, 0.9), "pays no heed to keep_prob"),
        (wrong_spread, "conv1_2/kernel: expected a standard deviation of 0.0589"),
    ],
)
def test_what_is_no_vgg_is_named(attempt, hint):
    report = check_vgg_net(attempt)
    assert not report
    assert hint in report.claims[-1][2]


def untouched(*arguments):
    pass


@pytest.mark.parametrize(
    "check", [check_vgg_net, check_name_map, check_receptive_field]
)
def test_a_stub_is_not_tried_and_hints_come_in_two_steps(check):
    assert "not tried yet" in repr(check(untouched))
    report = repr(check(nothing, hints=2))
    assert "Hint 1: " in report and "Hint 2: " in report


def by_prefix(saved, variables, scope):
    names = {v.op.name.removeprefix(scope + "/"): v for v in variables}
    return {n: v for n, v in names.items() if saved.get(n) == v.shape.as_list()}


def by_slice(saved, variables, scope):
    found = {}
    for variable in variables:
        name = variable.name[len(scope) + 1 : -2]
        if name in saved and tuple(saved[name]) == tuple(variable.shape):
            found[name] = variable
    return found


def by_saved_name(saved, variables, scope):
    mine = {v.op.name: v for v in variables}
    return {name: mine[f"{scope}/{name}"] for name, shape in saved.items()
            if f"{scope}/{name}" in mine and mine[f"{scope}/{name}"].shape == shape}


@pytest.mark.parametrize("attempt", [by_prefix, by_slice, by_saved_name])
def test_a_name_map_of_any_form_passes(attempt):
    assert check_name_map(attempt)


@pytest.mark.parametrize(
    "attempt, hint",
    [
        (lambda saved, variables, scope: variables, "it returned list"),
        (lambda saved, variables, scope: {v: v.op.name for v in variables},
         "a key is no string"),
        (lambda saved, variables, scope: {v.op.name: v for v in variables},
         "encoder/conv/kernel is no name in the checkpoint: the scope is still there"),
        (lambda saved, variables, scope: {
            v.op.name.lstrip("encod/"): v
            for v in variables}, "is no name in the checkpoint"),
        (lambda saved, variables, scope: {
            v.op.name.replace("encoder/", ""): v for v in variables},
         "sub_kernel is no name in the checkpoint"),
        (lambda saved, variables, scope: {
            v.op.name.removeprefix("encoder/"): v for v in variables
            if v.op.name.removeprefix("encoder/") in saved},
         "turned/kernel is [2, 3] in the checkpoint and [3, 2] here"),
        (lambda saved, variables, scope: {
            name: v for name, v in by_prefix(saved, variables, scope).items()
            if "kernel" in name}, "conv/bias fits, and is left out"),
        (lambda saved, variables, scope: {
            name: v.op.name
            for name, v in by_prefix(saved, variables, scope).items()},
         "a value is no variable"),
    ],
)
def test_each_mistake_in_a_name_map_is_named(attempt, hint):
    report = check_name_map(attempt)
    assert not report
    assert hint in report.claims[-1][2]


def right_field(layers):
    pixels, step = 1, 1
    for size, stride in layers:
        pixels, step = pixels + (size - 1) * step, step * stride
    return pixels


def backwards_field(layers):
    """From the one value back: n values come from (n - 1) x stride + size."""
    pixels = 1
    for size, stride in reversed(layers):
        pixels = (pixels - 1) * stride + size
    return pixels


def summed_field(layers):
    steps = [1]
    for _, stride in layers:
        steps.append(steps[-1] * stride)
    return 1 + sum((size - 1) * step
                   for (size, _), step in zip(layers, steps, strict=False))


@pytest.mark.parametrize("attempt", [right_field, backwards_field, summed_field])
def test_a_receptive_field_of_any_form_passes(attempt):
    assert check_receptive_field(attempt)


def own_stride_first(layers):
    pixels, step = 1, 1
    for size, stride in layers:
        step *= stride
        pixels += (size - 1) * step
    return pixels


@pytest.mark.parametrize(
    "attempt, hint",
    [
        (lambda layers: 1 + 2 * len(layers), "counts as a 3x3 convolution"),
        (lambda layers: 1 + sum(size - 1 for size, _ in layers),
         "the strides have no say"),
        (own_stride_first, "a layer's own stride already spreads its own kernel"),
        (lambda layers: right_field(layers[::-1]), "from the last to the first"),
        (lambda layers: max(1, right_field(layers) - 1), "begins with no pixel"),
        (lambda layers: 0, "for an empty list it returned 0"),
    ],
)
def test_each_mistake_in_a_receptive_field_is_named(attempt, hint):
    report = check_receptive_field(attempt)
    assert not report
    assert hint in report.claims[-1][2]
