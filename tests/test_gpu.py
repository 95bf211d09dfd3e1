"""What needs a GPU: placement, towers, soft placement, memory. Without one it skips."""


import numpy as np
import pytest
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers import towers, tracing

GPUS = tf.config.list_physical_devices("GPU")
pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not GPUS, reason="no GPU here")]
# One session that takes all of the memory would leave the next test none.
GROWING = {"gpu_options": tf1.GPUOptions(allow_growth=True)}


def ran_on(graph, fetches, **options):
    """Returns the device of every op that a run of these fetches ran."""
    config = tracing.as_written(tf1.ConfigProto(**GROWING, **options))
    with graph.as_default(), tf1.Session(config=config) as session:
        session.run(tf1.global_variables_initializer())
        return {row.op: row.device for row in tracing.placement(session, fetches)}


def test_an_op_runs_on_the_gpu_that_it_names():
    with tf.Graph().as_default() as graph, tf.device("/gpu:0"):
        rows = tf1.placeholder_with_default(tf.eye(3), [3, 3], name="rows")
        product = tf.matmul(rows, rows, name="product")
    assert ran_on(graph, product)["product"] == "GPU:0"


def test_towers_run_on_the_gpus_and_their_variable_on_the_cpu():
    def tower(rows):
        kernel = tf1.get_variable("kernel", [3, 3])
        return tf.matmul(rows, kernel, name="product")

    with tf.Graph().as_default() as graph:
        names = towers.devices(len(GPUS))
        assert names == [f"/gpu:{index}" for index in range(len(GPUS))]
        rows = tf1.placeholder_with_default(np.eye(3, dtype="f"), [3, 3])
        products = towers.build_towers(tower, names, [rows] * len(names))
    found = ran_on(graph, products, allow_soft_placement=True)
    for index in range(len(GPUS)):
        assert found[f"tower_{index}/product"] == f"GPU:{index}"
    assert found["kernel"] == "CPU:0"


def test_soft_placement_takes_to_the_cpu_what_a_gpu_cannot_do():
    with tf.Graph().as_default() as graph:
        words = tf1.placeholder_with_default(["a b"], [1])
        with tf.device("/gpu:0"):
            length = tf.strings.length(words, name="length")
    with pytest.raises(tf.errors.InvalidArgumentError, match="length"):
        ran_on(graph, length)
    assert ran_on(graph, length, allow_soft_placement=True)["length"] == "CPU:0"
