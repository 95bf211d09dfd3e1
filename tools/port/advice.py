"""What no look-up tells: other results, what to write instead, which lesson."""

import functools
import re
from collections.abc import Callable, Mapping

from helpers.files import ROOT
from tools.port.installed import section
from tools.port.syntax import Arguments

CROSS_ENTROPIES = tuple(f"nn.{kind}_cross_entropy_with_logits"
                        for kind in ("softmax", "sparse_softmax", "sigmoid"))
SWAPPED = ("logits=..., labels=...: by position the labels come first today, under "
           "compat.v1 too, and nothing complains")

# What Keras 3 has in place of what legacy Keras runs as it stands, and what changes.
KERAS_3 = {
    "layers.batch_normalization": "tf.keras.layers.BatchNormalization: it puts nothing "
        "into UPDATE_OPS, so in a v1 graph its moving mean stays 0",
    "layers.dense": "tf.keras.layers.Dense", "layers.Input": "tf.keras.Input",
    "layers.conv2d": "tf.keras.layers.Conv2D",
    "layers.conv2d_transpose": "tf.keras.layers.Conv2DTranspose",
    "layers.dropout": "tf.keras.layers.Dropout",
    "layers.flatten": "tf.keras.layers.Flatten",
    "layers.max_pooling2d": "tf.keras.layers.MaxPool2D",
    "layers": "tf.keras.layers",
    "nn.rnn_cell.BasicLSTMCell":
        "tf.keras.layers.LSTM (its cell does not run in dynamic_rnn)",
    "nn.rnn_cell.LSTMCell":
        "tf.keras.layers.LSTM (its cell does not run in dynamic_rnn)",
    "nn.rnn_cell.LSTMStateTuple": "a list [h, c]",
    "nn.rnn_cell.GRUCell": "tf.keras.layers.GRU(reset_after=False)",
    "nn.rnn_cell.MultiRNNCell": "tf.keras.layers.RNN over its StackedRNNCells",
    "nn.rnn_cell.BasicRNNCell": "tf.keras.layers.SimpleRNN",
    "nn.rnn_cell.DropoutWrapper": "dropout= of tf.keras.layers.LSTM",
    "nn.rnn_cell": "the layers tf.keras.layers.LSTM, GRU and RNN",
    "keras.layers.CuDNNLSTM": "tf.keras.layers.LSTM",
    "keras.layers.CuDNNGRU": "tf.keras.layers.GRU",
    "keras.backend.get_session": "tf.compat.v1.Session",
}
_HALF_PIXEL = "tf.image.resize: half-pixel centres, [0, 2, 4] becomes [4.5, 6.5, 8.5]"
MOVED = {
    "app.flags": "argparse (or tf.compat.v1.app.flags, in a script of its own)",
    "flags": "argparse (or tf.compat.v1.flags, in a script of its own)",
    "app.run": "main() under if __name__ == '__main__'",
    "logging": "logging of the standard library",
    "gfile": "tf.io.gfile",
    "train.MomentumOptimizer": "tf.keras.optimizers.SGD(momentum=...)",
    "train.RMSPropOptimizer": "tf.keras.optimizers.RMSprop: its average begins at 0, "
                              "not 1; give epsilon, 1e-10 before",
    "train.AdagradOptimizer": "tf.keras.optimizers.Adagrad",
    "train.NewCheckpointReader": "tf.train.load_checkpoint",
    "losses": "tf.keras.losses, a mean that you write",
    "metrics": "tf.keras.metrics",
    **{f"image.{old}": _HALF_PIXEL for old in (
        "resize_images", "resize_bilinear", "resize_bicubic", "resize_area",
        "resize_nearest_neighbor")},
}
PRIVATE = {
    "examples.tutorials.mnist": "tf.keras.datasets.mnist",
    "models": "the repository tensorflow/models",
    "python.framework.ops": "tf, tf.compat.v1",
    "python.framework.dtypes": "tf.dtypes",
    "python.framework.graph_util": "tf.compat.v1.graph_util",
    "python.ops.variable_scope": "tf.compat.v1.variable_scope",
    "python.client.device_lib": "tf.config.list_physical_devices",
    "python.client.timeline": "tf.profiler.experimental",
    "python.platform.gfile": "tf.io.gfile",
    "python.platform.flags": "argparse",
    "python.saved_model": "tf.saved_model",
    "python.tools.inspect_checkpoint": "tf.train.list_variables",
    "python.tools": "tf.compat.v1.graph_util",
    "python.training": "tf.compat.v1.train",
    "python.util.nest": "tf.nest",
    "tensorboard": "the package tensorboard",
}
# `tf` has the name for something else: a call from 1.x fails, or does nothing.
ANOTHER_THING = {
    "saved_model.load": "tf.saved_model.load(folder), or compat.v1's with a session",
    "data.Iterator": "iter(dataset)",
    "test.compute_gradient": "tf.test.compute_gradient(f, x)",
    "nn.ctc_loss": "tf.nn.ctc_loss(labels, logits, label_length, logit_length)",
    "nn.erosion2d": "tf.nn.erosion2d with data_format and dilations",
    "distribute.experimental.ParameterServerStrategy":
        "tf.distribute.ParameterServerStrategy with a coordinator",
    "lite.TFLiteConverter": "tf.lite.TFLiteConverter.from_saved_model",
    "losses.Reduction": "tf.compat.v1.losses.Reduction, or Keras's words",
    "metrics": "tf.keras.metrics", "losses": "tf.keras.losses",
}
# Arguments that have another name and stand where they stood.
SAME_PLACE = {("value", "input"), ("tensor", "input"), ("filter", "filters"),
              ("keep_prob", "rate"),
              ("device_name_or_function", "device_name"), ("t", "x"),
              ("tensor", "data"), ("values", "data"),
              ("msg", "message"), ("box_ind", "box_indices"),
              ("string_tensor", "input"), ("uniform_noise", "noise")}
# Before TensorFlow 1.0 the axis stood first.
AXIS_FIRST = {"concat": "tf.concat(values, axis)",
              "split": "tf.split(value, number, axis)"}
_INITIALIZER = "a Keras initializer: its defaults and its seed work otherwise"
_SHARDS = "the ids of several shards go to other rows"
_WRITER = "it gives False and writes nothing without tf.summary.create_file_writer"


def _shards(call: Arguments) -> bool:
    return call.first == "list" or "partition_strategy" in call.keywords


_OTHER: dict[str, tuple[str, Callable[[Arguments], bool]]] = {
    "nn.dropout": ("tf.nn.dropout(rate=1 - keep_prob): the second argument drops",
                   lambda call: "rate" not in call.keywords),
    "nn.embedding_lookup": (_SHARDS, _shards),
    "nn.embedding_lookup_sparse": (_SHARDS, _shards),
    "nn.safe_embedding_lookup_sparse": (_SHARDS, _shards),
    "nn.sampled_softmax_loss": (_SHARDS, _shards),
    "nn.nce_loss": (_SHARDS, _shards),
    "nn.softmax_cross_entropy_with_logits": (
        "tf.nn.sparse_softmax_cross_entropy_with_logits, or tf.stop_gradient(labels): "
        "the labels get a gradient", lambda call: call.positional < 2),
    "image.resize": (_HALF_PIXEL, lambda call: True),
    **{f"summary.{kind}": (_WRITER, lambda call: True)
       for kind in ("scalar", "histogram", "image", "audio", "text")},
    "where": ("a condition of one axis picks rows no more: it broadcasts",
              lambda call: call.positional + len(call.keywords) > 1),
    "strings.split": ("a ragged tensor in place of a sparse one", lambda call: True),
    "random_normal_initializer": (
        "give stddev: its default went from 1 to 0.05",
        lambda call: call.positional < 2 and "stddev" not in call.keywords),
    "random_uniform_initializer": (
        "give minval and maxval: the defaults went from 0 and 1 to -0.05 and 0.05",
        lambda call: call.positional + len(call.keywords) < 2),
    "initializers": (_INITIALIZER, lambda call: True),
}
KERAS_KEYWORDS = {
    "lr": "learning_rate= for lr=", "decay": "a schedule for decay=",
    "batch_input_shape": "tf.keras.Input for batch_input_shape=",
    "weights": "set_weights for weights=",
}
KERAS_RESULTS = {
    "keras.layers.GRU": "give reset_after=False for weights of Keras 2.0 or of GRUCell",
    "keras.backend.learning_phase": "training= of the call",
}


def another_result(path: str, call: Arguments | None) -> str:
    """Returns what to mind where `tf` takes an old call and answers otherwise.

    Args:
      path: the name without `tf.`.
      call: its arguments; `None`, a name that is passed on, is taken at its worst.
    """
    if path in CROSS_ENTROPIES and call and call.positional > 1:
        return SWAPPED
    key = "initializers" if path.startswith("initializers.") else path
    if key not in _OTHER:
        return ""
    text, applies = _OTHER[key]
    return text if call is None or call.open or applies(call) else ""


def longest(path: str, table: Mapping[str, str]) -> str:
    """Returns the entry of the longest name that a path begins with, or ""."""
    parts = path.split(".")
    for length in range(len(parts), 0, -1):
        if found := table.get(".".join(parts[:length])):
            return found
    return ""


def lesson(path: str) -> str:
    """Returns the sitting that shows a name; 10a shows them all."""
    return longest(path, _lessons()) or "10a"


@functools.cache
def _lessons() -> Mapping[str, str]:
    """Returns the first lesson with each name, or where docs/names.md says it is."""
    found: dict[str, str] = {}
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        for name in re.findall(r"\btf1?\.([A-Za-z][\w.]*\w)", path.read_text("utf-8")):
            found.setdefault(name, path.name.partition("_")[0])
    page = (ROOT / "docs" / "names.md").read_text("utf-8")
    return found | dict(re.findall(r"^\| `tf\.([\w.]+)`.*?\[(\d\d[a-z]?)", page, re.M))


def keywords(name: str) -> Mapping[str, str]:
    """Returns the arguments of a function that were renamed: old name to new."""
    wide, own = (section("arguments").get(key, []) for key in ("*", name))
    return dict(word.split(":") for word in [*wide, *own])
