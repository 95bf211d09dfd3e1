"""Planted faults: each is found at its own tensor, with its cause named."""

import numpy as np
import pytest
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.divergence import first_difference

RANDOM = np.random.default_rng(11)
PICTURES = RANDOM.uniform(0, 255, size=[5, 10, 10, 3]).astype(np.float32)
WORDS = RANDOM.normal(size=[4, 3, 6]).astype(np.float32)
FEEDS = {"pictures": PICTURES}


def trained(*shape, mean=0.0, sd=0.4):
    return (mean + sd * RANDOM.normal(size=shape)).astype(np.float32)


WEIGHTS = {
    "conv/kernel": trained(3, 3, 3, 7), "conv/bias": trained(7, mean=0.5),
    "norm/gamma": trained(7, mean=1.0, sd=0.1), "norm/beta": trained(7),
    "norm/moving_mean": trained(7, mean=0.2),
    "norm/moving_variance": np.abs(trained(7, mean=1.0)) + 0.1,
    "fc/kernel": trained(7, 7), "fc/bias": trained(7),
    "scores/kernel": trained(7, 5), "scores/bias": trained(5),
}


def old_graph():
    """The old program: a session and its tensors by name."""
    with tf.Graph().as_default() as graph:
        x = tf1.placeholder(tf.float32, [None, 10, 10, 3], name="pictures")
        v = {name: tf1.get_variable(name, initializer=w) for name, w in WEIGHTS.items()}
        t = {"pixels": x / 127.5 - 1}
        t["small"] = tf1.image.resize_bilinear(t["pixels"], [6, 6])
        t["conv"] = tf.nn.conv2d(t["small"], v["conv/kernel"], 2, "SAME") \
            + v["conv/bias"]
        t["norm"] = tf1.nn.batch_normalization(
            t["conv"], v["norm/moving_mean"], v["norm/moving_variance"],
            v["norm/beta"], v["norm/gamma"], 1e-3)
        t["pool"] = tf.reduce_mean(tf.nn.relu(t["norm"]), [1, 2])
        t["fc"] = tf.nn.relu(t["pool"] @ v["fc/kernel"] + v["fc/bias"])
        t["scores"] = t["fc"] @ v["scores/kernel"] + v["scores/bias"]
        t["label"] = tf.argmax(t["scores"], 1)
        session = tf1.Session(graph=graph)
        session.run(tf1.global_variables_initializer())
    return session, t


class New(tf.Module):
    """The port, with a fault on request; it returns its tensors by name."""

    def __init__(self, fault="", **changed):
        super().__init__()
        self.fault = fault
        values = {name: changed.get(name, w) for name, w in WEIGHTS.items()}
        self.v = {name: tf.Variable(w, name=name) for name, w in values.items()}

    @tf.function
    def __call__(self, x):
        t = {}
        t["pixels"] = self.pixels(x)
        aligned = self.fault == "resize corners"
        resize = (tf.image.resize if self.fault == "half pixels" else
                  lambda *a: tf1.image.resize_bilinear(*a, align_corners=aligned))
        t["small"] = resize(t["pixels"], [6, 6])
        t["conv"] = self.conv(t["small"])
        t["norm"] = tf.nn.batch_normalization(
            t["conv"], self.v["norm/moving_mean"], self.v["norm/moving_variance"],
            self.v["norm/beta"], self.v["norm/gamma"],
            1e-2 if self.fault == "epsilon" else 1e-3)
        t["pool"] = tf.reduce_mean(tf.nn.relu(t["norm"]), [1, 2])
        t["fc"] = tf.nn.relu(t["pool"] @ self.v["fc/kernel"] + self.v["fc/bias"])
        if self.fault == "dropout":
            t["fc"] = tf.nn.dropout(t["fc"], 0.5)
        t["scores"] = t["fc"] @ self.v["scores/kernel"] + self.v["scores/bias"]
        t["label"] = tf.argmax(t["scores"], 1) + (self.fault == "label shift")
        return t

    def pixels(self, x):
        if self.fault == "dtype":
            x = tf.cast(tf.cast(x, tf.uint8), tf.float32)
        if self.fault == "channel order":
            x = x[..., ::-1]
        return x / 127.5 - 1 if self.fault != "scale" else x / 255.0

    def conv(self, x):
        if self.fault == "padding":     # what other frameworks do at a stride of 2
            x = tf.pad(x, [[0, 0], [1, 1], [1, 1], [0, 0]])
            x = tf.nn.conv2d(x, self.v["conv/kernel"], 2, "VALID")
        else:
            x = tf.nn.conv2d(x, self.v["conv/kernel"], 2, "SAME")
        return x if self.fault == "no bias" else x + self.v["conv/bias"]


@pytest.fixture(scope="module")
def old():
    session, tensors = old_graph()
    yield session, tensors
    session.close()


def averaged(name):
    return WEIGHTS[name] * 0.98 + trained(*WEIGHTS[name].shape, sd=0.02)


CODE = [
    ("channel order", "pixels", None),
    ("scale", "pixels", None),
    ("dtype", "pixels", None),
    ("resize corners", "small", None),
    ("half pixels", "small", None),
    ("padding", "conv", None),
    ("no bias", "conv", "bias"),
    ("epsilon", "norm", "epsilon"),
    ("dropout", "fc", "dropout left on"),
    ("label shift", "label", "everything is +1: a label shift"),
]
LOADED = [
    ({"conv/bias": WEIGHTS["conv/bias"][::-1]}, "conv", "a wrong bias"),
    ({"fc/kernel": WEIGHTS["fc/kernel"].T}, "fc", "transposed by (1, 0)"),
    ({"norm/moving_mean": np.zeros(7, "f")}, "norm", "never restored"),
    ({"norm/moving_variance": np.ones(7, "f")}, "norm", "never restored"),
    ({"conv/kernel": averaged("conv/kernel")}, "conv", "averages against raw"),
]


def test_a_right_port_differs_nowhere(old):
    found = first_difference(old, New(), FEEDS)
    assert not found
    assert found.name is None
    assert repr(found).count("8 tensors equal") == 2


@pytest.mark.parametrize("fault, tensor, cause", CODE, ids=[row[0] for row in CODE])
def test_a_fault_of_the_code_shows_with_the_same_weights(old, fault, tensor, cause):
    found = first_difference(old, New(fault), FEEDS)
    assert (found.name, found.stage) == (tensor, "same")
    assert found.largest > 0 and found.relative > found.tolerance
    assert cause is None or any(cause in c for c in found.causes[:-1]), found
    assert "common in code" in found.causes[-1]


@pytest.mark.parametrize("changed, tensor, cause", LOADED,
                         ids=[", ".join(row[0]) for row in LOADED])
def test_a_fault_of_the_weights_shows_with_their_own(old, changed, tensor, cause):
    found = first_difference(old, New(**changed), FEEDS)
    assert (found.name, found.stage) == (tensor, "own")
    assert "the same weights in both: 8 tensors equal" in repr(found)
    assert any(cause in c for c in found.causes[:-1]), found


class Permuting(tf.Module):
    """A net; with a fault its code takes something in an order of its own."""

    def __init__(self, fault="", names=("dense/kernel", "gates/kernel", "last/kernel")):
        super().__init__()
        self.fault = fault
        self.dense, self.gates, self.last = (
            tf.Variable(SQUARES[index], name=name) for index, name in enumerate(names))

    def __call__(self, x):
        if self.fault == "channels reversed":
            x = x[..., ::-1]
        if self.fault == "channels first before Flatten":
            x = tf.transpose(x, [0, 3, 1, 2])
        dense = self.dense
        if self.fault == "kernel transposed":
            dense = tf.transpose(dense)
        first = tf.reshape(x, [-1, 12]) @ dense
        gates = tf.split(first @ self.gates, 4, axis=1)
        order = (0, 2, 1, 3) if self.fault == "gates" else (0, 1, 2, 3)
        i, j, f, o = (gates[k] for k in order)
        hidden = tf.concat([tf.sigmoid(i), tf.tanh(j), f, tf.nn.relu(o)], 1)
        return {"first": first, "hidden": hidden, "scores": hidden @ self.last}


SQUARES = [trained(12, 12) for _ in range(3)]
SMALL = {"x": PICTURES[:, :2, :2] / 255}


@pytest.mark.parametrize("fault, tensor", [
    ("channels reversed", "first"), ("channels first before Flatten", "first"),
    ("kernel transposed", "first"), ("gates", "hidden"),
])
def test_a_permutation_in_the_code_is_called_code(fault, tensor):
    found = first_difference(Permuting(), Permuting(fault), SMALL)
    assert (found.name, found.stage) == (tensor, "same")
    assert "transpose before Flatten" in found.causes[-1]


def test_weights_are_matched_by_words_of_their_names_then_by_values():
    names = "net/last/weights", "net/gates/weights", "net/dense/weights"
    old, new = Permuting(), Permuting(names=names[::-1])
    new.last.assign(tf.transpose(new.last))
    found = first_difference(old, new, SMALL)
    assert found.partners == {f"net/{name}/weights:0": f"{name}/kernel:0"
                              for name in ("dense", "gates", "last")}
    assert (found.name, found.stage) == ("scores", "own")
    found = first_difference(old, Permuting(names="abc"), SMALL)
    assert not found and found.partners["a:0"] == "dense/kernel:0"


def test_partners_can_be_given():
    names = "last/kernel", "dense/kernel", "gates/kernel"    # misleading
    assert first_difference(Permuting(), Permuting(names=names), SMALL).stage == "same"
    rename = {f"{new}:0": f"{old}:0" for new, old in zip(
        names, ("dense/kernel", "gates/kernel", "last/kernel"), strict=True)}
    assert not first_difference(Permuting(), Permuting(names=names), SMALL,
                                rename=rename)
    with pytest.raises(ValueError, match="Unknown weight lost:0"):
        first_difference(Permuting(), Permuting(), SMALL,
                         rename={"lost:0": "last/kernel:0"})


def test_a_layer_that_cuts_its_kernel_has_no_partners():
    """A bias alone would be matched, and its gates may stand in another order."""
    class Old(tf.Module):
        def __init__(self):
            super().__init__()
            self.kernel = tf.Variable(SQUARES[0], name="rnn/cell/kernel")
            self.bias = tf.Variable(SQUARES[1][0], name="rnn/cell/bias")

        def __call__(self, x):
            return {"sum": x @ self.kernel + self.bias}

    class New(tf.Module):
        def __init__(self):
            super().__init__()
            self.first = tf.Variable(SQUARES[0][:5, ::-1], name="lstm/kernel")
            self.rest = tf.Variable(SQUARES[0][5:, ::-1], name="lstm/recurrent")
            self.bias = tf.Variable(SQUARES[1][0, ::-1], name="lstm/bias")

        def __call__(self, x):
            found = x[:, :5] @ self.first + x[:, 5:] @ self.rest + self.bias
            return {"sum": found[:, ::-1]}

    found = first_difference(Old(), New(), {"x": SQUARES[2]})
    assert not found and not found.partners
    assert "no partner, so one constant" in repr(found)
    assert found.alone == ["lstm/bias:0", "lstm/kernel:0", "lstm/recurrent:0"]


def keras_lstm(kernel, bias):
    model = tf.keras.Sequential([tf.keras.Input([3, 6], name="words"),
                                 tf.keras.layers.LSTM(5, name="lstm")])
    model.layers[0].set_weights([kernel[:6], kernel[6:], bias])
    return model


def test_gates_in_another_order():
    kernel, bias = trained(11, 20), trained(20)
    wrong = np.concatenate([np.split(kernel, 4, 1)[i] for i in (0, 2, 1, 3)], 1)
    found = first_difference(keras_lstm(kernel, bias), keras_lstm(wrong, bias),
                             {"words": WORDS})
    assert (found.name, found.stage) == ("lstm", "own")
    assert any("4 gates in another order" in c for c in found.causes), found


def test_a_constant_held_in_a_weight_is_said_to_be_one(old):
    """The 1 that an old cell adds at run time stands in the bias of the new one."""
    class Adds(tf.Module):
        def __init__(self, bias, extra):
            super().__init__()
            self.bias, self.extra = tf.Variable(bias), extra

        def __call__(self, x):
            return {"sum": x + (self.bias + self.extra)}

    programs = Adds([1.0, 2.0], 1.0), Adds([2.0, 3.0], 0.0)
    found = first_difference(*programs, {"x": np.ones([3, 2], "f")})
    assert (found.name, found.stage) == ("sum", "same")
    assert any("equal with their own weights" in cause for cause in found.causes)


def test_weights_are_put_back_also_after_an_error(old):
    session, tensors = old
    new = New()
    before = [v.numpy() for v in new.variables]
    first_difference(old, new, FEEDS)
    with pytest.raises(Exception, match="shape|pictures"):
        first_difference(old, new, {"pictures": PICTURES[..., :2]})
    assert all(np.array_equal(b, v) for b, v in zip(before, new.variables, strict=True))
    values = session.run(session.graph.get_collection("variables"))
    for value, weight in zip(values, WEIGHTS.values(), strict=True):
        assert np.array_equal(value, weight)
