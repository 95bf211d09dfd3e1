"""Lesson 06's checks: each mistake gets a hint that names the place."""

import pytest
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.checks.lesson_06 import check_receptive_field, check_vgg_net
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


def test_right_answers_pass():
    assert check_vgg_net(own_vgg)
    assert check_vgg_net(vgg_net)


@pytest.mark.parametrize(
    "options, hint",
    [
        ({"widths": (64, 128, 256, 256, 512)}, "conv4_1: expected 3x3 convolution to "
         "28x28x512; yours has 3x3 convolution to 28x28x256"),
        ({"size": 5}, "conv1_1: expected 3x3 convolution"),
        ({"padding": "VALID"}, "Negative dimension"),
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
        (lambda x, keep_prob: None, "it returned None"),
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


def test_an_untouched_stub_gets_a_start():
    for check in (check_vgg_net, check_receptive_field):
        assert "Start here" in repr(check(lambda *arguments: None))


def right_field(layers):
    pixels, step = 1, 1
    for size, stride in layers:
        pixels, step = pixels + (size - 1) * step, step * stride
    return pixels


def test_receptive_field():
    assert check_receptive_field(right_field)
    assert not check_receptive_field(lambda layers: 1 + 2 * len(layers))
    assert not check_receptive_field(
        lambda layers: 1 + sum(size - 1 for size, _ in layers))
