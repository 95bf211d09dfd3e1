"""The checks of 06a to 06c: right answers in several ways, wrong ones, the hints."""

import re

import pytest
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers import layers
from helpers.checks.lesson_06a import check_receptive_field, check_vgg_net
from helpers.checks.lesson_06b import check_with_decay
from helpers.checks.lesson_06c import check_name_map
from helpers.vgg import CONFIGURATIONS, vgg_net

pytestmark = pytest.mark.timeout(600)


def code_of(check, hint: int) -> str:
    """Returns what a hint says to write."""
    [line] = re.findall(rf"Hint {hint}: ((?:.|\n)*?)(?=\nHint|\nTo get|\Z)",
                        repr(check(lambda *_: 0, hints=hint)))
    return " ".join(line.split())


def by_hand(incoming, keep_prob, *, names="conv{}_{}", pool=tf.nn.max_pool2d,
            last=None, drop=("fc6", "fc7"), share=lambda keep: 1 - keep):
    """VGG-19 with no layer function of ours but the initializer's."""
    outgoing = incoming

    def layer(name, shape, product):
        with tf1.variable_scope(name):
            kernel = tf1.get_variable("kernel", shape,
                                      initializer=layers.he_initializer())
            bias = tf1.get_variable("bias", shape[-1:],
                                    initializer=tf1.zeros_initializer())
        return product(outgoing, kernel) + bias

    for block, sizes in enumerate(CONFIGURATIONS["E"], 1):
        for index, size in enumerate(sizes, 1):
            width = min(512, 32 * 2**block)
            shape = [size, size, outgoing.shape[-1], width]
            outgoing = tf.nn.relu(layer(names.format(block, index), shape,
                                        lambda x, k: tf.nn.conv2d(x, k, 1, "SAME")))
        outgoing = pool(outgoing, 2, 2, "VALID")
    outgoing = layers.flatten(outgoing)
    for name, nodes in (("fc6", 4096), ("fc7", 4096), ("fc8", 1000)):
        outgoing = layer(name, [outgoing.shape[-1], nodes], tf.matmul)
        if name != "fc8" or last:
            outgoing = (last if name == "fc8" else tf.nn.relu)(outgoing)
        if name in drop:
            outgoing = tf.nn.dropout(outgoing, rate=share(keep_prob))
    return outgoing


@pytest.mark.parametrize("answer", [by_hand, lambda x, keep: vgg_net(x, keep)])
def test_right_nets_are_accepted(answer):
    assert check_vgg_net(lambda x, keep: answer(x, keep))


@pytest.mark.parametrize(("options", "claim"), [
    ({"names": "conv{}{}"}, "kernel and bias"),
    ({"pool": tf.nn.avg_pool2d}, "Keras's"),
    ({"last": tf.nn.relu}, "Keras's"),
    ({"drop": ("fc6",)}, "keep_prob"),
    ({"share": lambda keep: 0.4}, "Keras's"),
])
def test_wrong_nets_are_refused(options, claim):
    report = check_vgg_net(lambda x, keep: by_hand(x, keep, **options))
    assert not report and claim in report.claims[-1][0], report


def test_narrow_scopeless_and_fixed_nets_are_refused():
    for wrong in (lambda x, keep: vgg_net(x, keep, configuration="D"),
                  lambda x, keep: vgg_net(x, keep, base_width=32),
                  lambda x, keep: vgg_net(tf.ensure_shape(x, [None, 32, 32, 3]), keep),
                  lambda x, keep: None):
        report = check_vgg_net(wrong)
        assert not report and not report.broken, report
    assert "What is left" in code_of(check_vgg_net, 2)


def field(stacked):
    pixels, step = 1, 1
    for size, stride in stacked:
        pixels, step = pixels + (size - 1) * step, step * stride
    return pixels


def field_from_behind(stacked):
    pixels = 1
    for size, stride in reversed(stacked):
        pixels = (pixels - 1) * stride + size
    return pixels


def field_by_hints(stacked):
    held = {}
    exec(code_of(check_receptive_field, 2), held)
    for held["size"], held["stride"] in stacked:
        for line in code_of(check_receptive_field, 3).split(": ")[1].split(", then "):
            exec(line, held)
    return held["pixels"]


@pytest.mark.parametrize("right", [field, field_from_behind, field_by_hints])
def test_right_fields_are_accepted(right):
    assert check_receptive_field(right)


@pytest.mark.parametrize("wrong", [
    lambda stacked: 1 + sum(size - 1 for size, _ in stacked),
    lambda stacked: field([(size, 1 if size > 2 else stride)
                           for size, stride in stacked]),
    lambda stacked: field(stacked[:3]),
    lambda stacked: field(stacked) if stacked else 0,
    lambda stacked: field([(3, stride) for _, stride in stacked]),
    lambda stacked: [field(stacked)],
    lambda stacked: stacked.append((1, 1)) or field(stacked),
])
def test_wrong_fields_are_refused(wrong):
    report = check_receptive_field(wrong)
    assert not report and not report.broken


def is_kernel(variable):
    return variable.op.name.endswith("/kernel")


def decay_at_once(loss, variables, strength):
    squares = [tf.reduce_sum(tf.square(v)) / 2 for v in filter(is_kernel, variables)]
    return tf.add_n([loss, *(strength * one for one in squares)])


def decay_by_hints(loss, variables, strength):
    lines = [code_of(check_with_decay, 2), "    " + code_of(check_with_decay, 3)]
    held = {"loss": loss, "strength": strength, "tf": tf}
    for held["variable"] in variables:
        exec("\n".join(lines), held)
    return held["loss"]


@pytest.mark.parametrize("right", [decay_at_once, decay_by_hints])
def test_right_decays_are_accepted(right):
    assert check_with_decay(right)


def decayed(loss, chosen, strength):
    return loss + sum(strength * tf.nn.l2_loss(v) for v in chosen)


@pytest.mark.parametrize("wrong", [
    lambda loss, variables, strength: loss,
    lambda loss, variables, strength: decayed(loss, variables, strength),
    lambda loss, variables, strength: decayed(
        loss, [v for v in variables if "kernel" in v.op.name], strength),
    lambda loss, variables, strength: decayed(
        loss, [v for v in variables if v.op.name.endswith("kernel")], strength),
    lambda loss, variables, strength: decay_at_once(loss, variables, 2 * strength),
    lambda loss, variables, strength: decay_at_once(loss, variables, 5e-4),
    lambda loss, variables, strength: decay_at_once(loss, variables[:2], strength),
    lambda loss, variables, strength: loss + strength * tf.add_n(
        [tf.nn.l2_loss(v) for v in variables if is_kernel(v)]),
    lambda loss, variables, strength: loss + tf.stop_gradient(
        decay_at_once(loss, variables, strength) - loss),
    lambda loss, variables, strength: tf.cast(
        decay_at_once(loss, variables, strength), tf.float32),
])
def test_wrong_decays_are_refused(wrong):
    report = check_with_decay(wrong)
    assert not report and not report.broken


def mapped(name_of, fits=None):
    fits = fits or (lambda shape, variable: shape == variable.shape.as_list())
    return lambda saved, variables, scope: {
        name_of(v.op.name, scope): v for v in variables
        if name_of(v.op.name, scope) in saved
        and fits(saved[name_of(v.op.name, scope)], v)}


def map_by_hints(saved, variables, scope):
    found = {}
    for variable in variables:
        held = {"variable": variable, "scope": scope, "saved": saved}
        exec(code_of(check_name_map, 2), held)
        if eval(code_of(check_name_map, 3).removeprefix("Keep it only if "), held):
            found[held["name"]] = variable
    return found


@pytest.mark.parametrize("right", [
    mapped(lambda name, scope: name[len(scope) + 1:]),
    mapped(lambda name, scope: name.replace(scope + "/", "", 1)),
    mapped(lambda name, scope: name.removeprefix(scope + "/"),
           lambda shape, variable: tuple(shape) == tuple(variable.shape)),
    map_by_hints,
])
def test_right_maps_are_accepted(right):
    assert check_name_map(right)


@pytest.mark.parametrize("wrong", [
    mapped(lambda name, scope: name),
    mapped(lambda name, scope: name.split("/", 1)[1]),
    mapped(lambda name, scope: name.replace(scope + "/", "")),
    mapped(lambda name, scope: name.split(scope + "/")[-1]),
    mapped(lambda name, scope: name.removeprefix(scope + "/"), lambda *_: True),
    mapped(lambda name, scope: name.removeprefix(scope + "/"),
           lambda shape, variable: sorted(shape) == sorted(variable.shape.as_list())),
    mapped(lambda name, scope: name.removeprefix(scope + "/"),
           lambda shape, variable: "fc8" not in variable.op.name),
    lambda saved, variables, scope: map_by_hints(saved, variables[:1], scope),
    lambda saved, variables, scope: list(saved),
])
def test_wrong_maps_are_refused(wrong):
    report = check_name_map(wrong)
    assert not report and not report.broken
