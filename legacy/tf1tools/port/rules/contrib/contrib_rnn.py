"""Replaces the cells of `tf.contrib.rnn` with those of `tf.nn.rnn_cell`.

The cells need legacy Keras. In early versions, a list `[cell] * 2` created two layers
with separate weights. Today it is the same layer twice, and `MultiRNNCell` rejects it.

Since: TensorFlow 2.0
Lesson: 10a
Side: TensorFlow 1.15

Before:

    # file: old.py
    from tensorflow.contrib import rnn
    import tensorflow as tf
    cell = rnn.GRUCell(3)
    out, state = tf.contrib.rnn.static_rnn(cell, x, dtype=tf.float32)

After:

    # file: old.py
    import os
    os.environ["TF_USE_LEGACY_KERAS"] = "1"
    import tensorflow.compat.v1 as tf
    tf.disable_v2_behavior()
    rnn = tf.nn.rnn_cell
    import tensorflow.compat.v1 as tf
    cell = rnn.GRUCell(3)
    out, state = tf.nn.static_rnn(cell, x, dtype=tf.float32)

Left:

    tf.contrib.rnn.MultiRNNCell([cell] * 2)  # left: each layer needs its own cell
    tf.contrib.rnn.GRUCell(3, input_size=2)  # left: it does not accept input_size=
    tf.contrib.rnn.LayerNormBasicLSTMCell(3)  # left: write your own cell

Report:

    tf.contrib.rnn.static_bidirectional_rnn()  # gone: static_bidirectional_rnn
"""

from tf1tools.port.rule import Need, Rule

rule = Rule(__name__, __doc__, __file__)

CELLS = ["tf.nn.rnn_cell", "tf.contrib.rnn", "tf.contrib.rnn.core_rnn_cell",
         "tf.contrib.rnn.python.ops.core_rnn_cell",
         "tf.contrib.rnn.python.ops.core_rnn_cell_impl", "tf.models.rnn.rnn_cell",
         "tf.python.ops.rnn_cell", "tf.python.ops.rnn_cell_impl"]
rule.rows(dict.fromkeys(CELLS[2:], "tf.nn.rnn_cell"))
rule.rows({
    "tf.contrib.rnn": ("tf.nn.rnn_cell",
                            "write your own cell, based on tf.compat.v1.nn.rnn_cell"),
    "tf.contrib.rnn.static_rnn": "tf.nn.static_rnn",
    "tf.contrib.rnn.static_bidirectional_rnn": "tf.nn.static_bidirectional_rnn",
    "tf.models.rnn.rnn": "tf.nn", "tf.models.rnn.rnn.rnn": "tf.nn.static_rnn",
})


@rule.writes("tf.nn.rnn_cell", "tf.layers", "tf.keras")
def legacy(new, part):
    """Requires legacy Keras for recurrent cells and `tf.layers`."""
    yield Need(part, "legacy keras")


@rule.call(*(f"{home}.*" for home in CELLS))
def refused(use):
    """Marks arguments that the current recurrent cells reject."""
    if "input_size" in use.call.keywords:
        yield use.left("it does not accept input_size=")
    elif use.name.endswith(".MultiRNNCell") and \
            use.call.first == "repeated":
        yield use.left("each layer needs its own cell: [make() for _ in range(n)]")
