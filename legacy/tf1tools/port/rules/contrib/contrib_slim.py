"""Replaces `tf.contrib.slim` and its layers with the package tf-slim.

tf-slim imports parts of TensorFlow and Keras from modules that no longer exist, and
`slim_shim.py` restores these modules. Because it is imported by its bare name, it is
put into the folder in which the program starts, and not next to the file that needs it.

Since: TensorFlow 2.0
Lesson: 10a
Side: TensorFlow 1.15

Before:

    # file: main.py
    from nets.model import net
    print(net(3))
    # file: nets/__init__.py
    # file: nets/model.py
    import tensorflow as tf
    import tensorflow.contrib.slim as slim
    def net(x):
        return slim.fully_connected(tf.zeros([2, x]), 4)

After:

    # file: slim_shim.py
    # file: nets/model.py
    import os
    os.environ["TF_USE_LEGACY_KERAS"] = "1"
    import slim_shim
    import tensorflow.compat.v1 as tf
    tf.disable_v2_behavior()
    import tf_slim as slim
    def net(x):
        return slim.fully_connected(tf.zeros([2, x]), 4)

Before:

    w = tf.get_variable("w", [2], initializer=tf.contrib.layers.xavier_initializer())

After:

    w = tf.get_variable("w", [2], initializer=tf.glorot_uniform_initializer())

Report:

    tf.contrib.layers.batch_norm(x)  # gone: slim_shim
    tf.contrib.slim.nets.vgg.vgg_16(x)  # gone: tf_slim.nets
"""

from tf1tools.port.rule import Need, Renamed, Rule

rule = Rule(__name__, __doc__, __file__)

rule.rows({
    **{f"tf.contrib.{old}": "tf_slim" for old in (
             "slim", "slim.python.slim", "layers", "layers.python.layers",
             "layers.python.layers.layers", "framework", "framework.python.ops")},
    "tf.contrib.slim.nets": "tf_slim.nets",
    "tf.contrib.layers.summaries": "tf_slim",
    "tf.contrib.layers.python.layers.summaries": "tf_slim",
    "tf.contrib.slim.python.slim.nets": "tf_slim.nets",
    "tf.contrib.losses": "tf_slim.losses", "tf.contrib.metrics": "tf_slim.metrics",
    "tf.contrib.training.create_train_op": "tf_slim.training.create_train_op",
    "tf.contrib.layers.xavier_initializer": "tf.glorot_uniform_initializer",
    "tf.contrib.layers.xavier_initializer_conv2d": "tf.glorot_uniform_initializer",
})


@rule.writes("tf_slim")
def shim(new, part):
    """Requires legacy Keras and the module `slim_shim`."""
    yield Need(part, "legacy keras")
    yield Need(part, "import slim_shim")
    yield Need(part, "beside slim_shim.py")


@rule.call("tf.contrib.layers.xavier_initializer",
      "tf.contrib.layers.xavier_initializer_conv2d")
def normal(use):
    """Keeps tf-slim's Xavier initializer if the call may set `uniform`."""
    if (use.call.positional or "uniform" in use.call.keywords):
        yield Renamed(f"tf_slim.{use.name.rpartition('.')[2]}")
