"""Marks queues and readers that are placed on a GPU, for which they have no kernel.

With soft placement, TensorFlow 1.15 moved a queue from a GPU to the CPU. Today the
program fails with "Cannot place the graph", even on a machine without a GPU.

Since: TensorFlow 2.0
Lesson: 02a
Side: TensorFlow 1.15

Left:

    with tf.device("/gpu:0"):
        names = tf.train.string_input_producer(files)  # left: tf.device("/cpu:0")
    with tf.device("/cpu:0"):
        more = tf.train.string_input_producer(files)
"""

import ast

from tf1tools.port.rule import Rule

rule = Rule(__name__, __doc__, __file__)

QUEUES = ["tf.train.string_input_producer", "tf.train.slice_input_producer",
          "tf.train.input_producer", "tf.train.range_input_producer",
          "tf.train.batch", "tf.train.batch_join", "tf.train.shuffle_batch",
          "tf.train.shuffle_batch_join", "tf.TFRecordReader", "tf.TextLineReader",
          "tf.WholeFileReader", "tf.FixedLengthRecordReader", "tf.FIFOQueue",
          "tf.RandomShuffleQueue", "tf.PaddingFIFOQueue", "tf.PriorityQueue"]


@rule.call(*QUEUES)
def under_a_gpu(use):
    """Marks a queue in a `with` block that requests a GPU."""
    node = use.node
    while node in use.part.parents:
        node = use.part.parents[node]
        if isinstance(node, ast.With):
            wished = [_device(one.context_expr, use.part) for one in node.items]
            if word := next((one for one in wished if one), ""):
                if "gpu" in word:
                    yield use.left('put it under tf.device("/cpu:0")')
                return


def _device(node, part) -> str:
    """Returns the device name that a block requests, in lower case, or ""."""
    if isinstance(node, ast.Call) and node.args and isinstance(
            node.args[0], ast.Constant) and \
            part.full(node.func).rpartition(".")[2] == "device":
        return str(node.args[0].value).lower()
    return ""
