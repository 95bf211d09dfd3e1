"""TensorFlow 1 names of five old tutorials, with an example call of each.

The names are spelled as the course's sources spell them. This module does not record
the fate of a name, because `verdict` determines it by running the old call.
"""

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.tf1_names.trial import OldName, entered


def _variable(tf):
    return tf1.get_variable("v", [2], initializer=tf1.ones_initializer())


def _with_runner(tf):
    queue = tf1.FIFOQueue(3, tf1.float32, [[]])
    return tf1.train.QueueRunner(queue, [queue.enqueue(1.0)])


def _label_gradient(tf):
    """Returns whether the loss has no gradient with respect to its labels.

    The old loss treats its labels as data, whereas the new one has a gradient for them.
    """
    labels, logits = tf1.constant([[1.0, 0.0]]), tf1.constant([[2.0, 3.0]])
    loss = tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    return tf1.gradients(loss, labels)[0] is None


def _decoded(tf):
    return tf.image.decode_jpeg(tf1.io.encode_jpeg(np.full([8, 8, 3], 128, np.uint8)))


def _parsed(tf):
    example = tf1.train.Example(features=tf1.train.Features(feature={
        "label": tf1.train.Feature(int64_list=tf1.train.Int64List(value=[7]))}))
    record = example.SerializeToString()
    wanted = {"label": tf1.FixedLenFeature([], "int64")}
    return tf.parse_single_example(record, features=wanted)["label"]


def _feature(tf, **values):
    return tf.train.Feature(**values).SerializeToString()


def _sampled(tf):
    return tf.nn.sampled_softmax_loss(
        weights=np.ones([5, 2], "f"), biases=np.ones(5, "f"),
        labels=np.array([[1], [4]]), inputs=np.ones([2, 2], "f"),
        num_sampled=3, num_classes=5,
    ).shape.as_list()


def _minimized(optimizer):
    return optimizer.minimize(tf1.square(_variable(tf1))).type


def _shuffled(tf):
    return tf.train.shuffle_batch([np.ones(3, "f")], 2, 9, 1).shape.as_list()


def _is_type(name):
    return OldName(name, lambda tf: getattr(tf, name).name, f"tf.{name}")


ROWS = np.array([[1.0, 4.0], [2.0, 3.0]], np.float32)
_QUEUE = {"capacity": 3, "dtypes": [tf.float32], "shapes": [[]]}

SOURCE_NAMES = {
    "graph and session": [
        OldName("Graph", lambda tf: tf.Graph(), "tf.Graph, or tf.function"),
        OldName("Session", lambda tf: tf.Session(), "tf.function"),
        OldName("ConfigProto", lambda tf: tf.ConfigProto(allow_soft_placement=True),
                "tf.config.set_soft_device_placement"),
        OldName("GPUOptions", lambda tf: tf.GPUOptions(allow_growth=True),
                "tf.config.experimental.set_memory_growth"),
        OldName("device", lambda tf: entered(tf.device("/cpu:0")), "tf.device"),
        OldName("get_default_graph", lambda tf: tf.get_default_graph(), "tf.function"),
        OldName("placeholder", lambda tf: tf.placeholder(tf.float32, [None]).name,
                "tf.TensorSpec"),
        OldName("constant", lambda tf: tf.constant(ROWS), "tf.constant"),
        OldName("convert_to_tensor", lambda tf: tf.convert_to_tensor(ROWS),
                "tf.convert_to_tensor"),
        OldName("errors.OutOfRangeError", lambda tf: tf.errors.OutOfRangeError,
                "tf.errors.OutOfRangeError"),
        *map(_is_type, ["float32", "int32", "int64", "string"]),
    ],
    "variables and scopes": [
        OldName("Variable", lambda tf: tf.Variable(0, trainable=False, name="s"),
                "tf.Variable"),
        OldName("get_variable",
                lambda tf: tf.get_variable("v", [2]).name,
                "tf.Variable"),
        OldName("variable_scope", lambda tf: entered(tf.variable_scope("s")).name,
                "tf.Module"),
        OldName("get_variable_scope", lambda tf: tf.get_variable_scope().name,
                "tf.Module"),
        OldName("name_scope", lambda tf: entered(tf.name_scope("s")), "tf.name_scope"),
        OldName("assign_add", lambda tf: tf.assign_add(_variable(tf), [1.0, 1.0]),
                "tf.Variable.assign_add"),
        OldName("trainable_variables",
                lambda tf: [_variable(tf), len(tf.trainable_variables())][1],
                "tf.Module.trainable_variables"),
        OldName("global_variables_initializer",
                lambda tf: tf.global_variables_initializer().type, "tf.Variable"),
        OldName("initialize_all_variables",
                lambda tf: tf.initialize_all_variables().type, "tf.Variable"),
        OldName("truncated_normal_initializer",
                lambda tf: tf.truncated_normal_initializer()([2]).shape.as_list(),
                "tf.keras.initializers.TruncatedNormal"),
        OldName("zeros_initializer",
                lambda tf: tf1.get_variable(
                    "z", [2], initializer=tf.zeros_initializer()),
                "tf.zeros_initializer"),
        OldName("truncated_normal", lambda tf: tf.truncated_normal([2]).shape.as_list(),
                "tf.random.truncated_normal"),
    ],
    "arithmetic and shapes": [
        OldName("argmax", lambda tf: tf.argmax(ROWS, 1), "tf.argmax"),
        OldName("expand_dims", lambda tf: tf.expand_dims(ROWS, 0), "tf.expand_dims"),
        OldName("less", lambda tf: tf.less(ROWS, 3.0), "tf.less"),
        OldName("matmul", lambda tf: tf.matmul(ROWS, ROWS), "tf.matmul"),
        OldName("multiply", lambda tf: tf.multiply(ROWS, ROWS), "tf.multiply"),
        OldName("one_hot", lambda tf: tf.one_hot([1, 0], 3), "tf.one_hot"),
        OldName("range", lambda tf: tf.range(5), "tf.range"),
        OldName("reduce_mean",
                lambda tf: tf.reduce_mean(ROWS, axis=0),
                "tf.reduce_mean"),
        OldName("reshape", lambda tf: tf.reshape(ROWS, [-1]), "tf.reshape"),
        OldName("shape", lambda tf: tf.shape(ROWS), "tf.shape"),
        OldName("square", lambda tf: tf.square(ROWS), "tf.square"),
        OldName("squeeze", lambda tf: tf.squeeze(ROWS[:1]), "tf.squeeze"),
        OldName("stack", lambda tf: tf.stack([ROWS, ROWS]), "tf.stack"),
        OldName("tile", lambda tf: tf.tile(ROWS, [2, 1]), "tf.tile"),
        OldName("to_float", lambda tf: tf.to_float([1, 2]), "tf.cast"),
        OldName("to_int32", lambda tf: tf.to_int32([1.5]), "tf.cast"),
        OldName("transpose", lambda tf: tf.transpose(ROWS), "tf.transpose"),
        OldName("unstack", lambda tf: tf.unstack(ROWS)[0], "tf.unstack"),
        OldName("zeros", lambda tf: tf.zeros([2]), "tf.zeros"),
        OldName("zeros_like", lambda tf: tf.zeros_like(ROWS), "tf.zeros_like"),
    ],
    "neural networks": [
        OldName("nn.embedding_lookup",
                lambda tf: tf.nn.embedding_lookup(tf1.constant(ROWS), [1]),
                "tf.nn.embedding_lookup"),
        OldName("nn.softmax", lambda tf: tf.nn.softmax(ROWS), "tf.nn.softmax"),
        OldName("nn.softmax_cross_entropy_with_logits", _label_gradient,
                "tf.nn.sparse_softmax_cross_entropy_with_logits"),
        OldName("nn.sampled_softmax_loss", _sampled, "tf.nn.sampled_softmax_loss"),
        OldName("contrib.rnn.GRUCell", lambda tf: tf.contrib.rnn.GRUCell(4),
                "tf.keras.layers.GRUCell"),
        OldName("contrib.rnn.MultiRNNCell", lambda tf: tf.contrib.rnn.MultiRNNCell([]),
                "tf.keras.layers.StackedRNNCells"),
        OldName("contrib.seq2seq.sequence_loss",
                lambda tf: tf.contrib.seq2seq.sequence_loss,
                "tf.nn.sparse_softmax_cross_entropy_with_logits"),
    ],
    "optimizers and training": [
        OldName("train.AdamOptimizer",
                lambda tf: _minimized(tf.train.AdamOptimizer(0.1)),
                "tf.keras.optimizers.Adam"),
        OldName("train.GradientDescentOptimizer",
                lambda tf: _minimized(tf.train.GradientDescentOptimizer(0.1)),
                "tf.keras.optimizers.SGD"),
        OldName("train.exponential_decay",
                lambda tf: tf.train.exponential_decay(
                    1.0, tf1.constant(3), 2, 0.5, staircase=True),
                "tf.keras.optimizers.schedules.ExponentialDecay"),
        OldName("train.Saver", lambda tf: [_variable(tf), tf.train.Saver()][1],
                "tf.train.Checkpoint"),
        OldName("train.MonitoredSession",
                lambda tf: [_variable(tf), tf.train.MonitoredSession().close()][1],
                "tf.function"),
        OldName("train.MonitorSession", lambda tf: tf.train.MonitorSession(),
                "tf.function"),
    ],
    "queues and coordinators": [
        OldName("FIFOQueue",
                lambda tf: tf.FIFOQueue(**_QUEUE).dtypes,
                "tf.data.Dataset"),
        OldName("PaddingFIFOQueue", lambda tf: tf.PaddingFIFOQueue(**_QUEUE).dtypes,
                "tf.data.Dataset.padded_batch"),
        OldName("PriorityQueue",
                lambda tf: tf.PriorityQueue(3, [tf.float32], [[]]).dtypes,
                "tf.queue.PriorityQueue"),
        OldName("RandomShuffleQueue",
                lambda tf: tf.RandomShuffleQueue(min_after_dequeue=1, **_QUEUE).dtypes,
                "tf.data.Dataset.shuffle"),
        OldName("Coordinator", lambda tf: tf.Coordinator(), "tf.train.Coordinator"),
        OldName("train.Coordinator", lambda tf: tf.train.Coordinator(),
                "tf.train.Coordinator"),
        OldName("QueueRunner", lambda tf: tf.QueueRunner(), "tf.data.Dataset.prefetch"),
        OldName("train.QueueRunner",
                lambda tf: tf.train.QueueRunner(tf1.FIFOQueue(**_QUEUE), [tf1.no_op()]),
                "tf.data.Dataset.prefetch"),
        OldName("train.add_queue_runner",
                lambda tf: tf.train.add_queue_runner(_with_runner(tf)),
                "tf.data.Dataset.prefetch"),
        OldName("train.start_queue_runners",
                lambda tf: tf.train.start_queue_runners(tf1.Session()),
                "tf.data.Dataset.prefetch"),
        OldName("train.batch",
                lambda tf: tf.train.batch([ROWS], 2).shape.as_list(),
                "tf.data.Dataset.batch"),
        OldName("train.shuffle_batch", _shuffled, "tf.data.Dataset.shuffle"),
        OldName("train.string_input_producer",
                lambda tf: tf.train.string_input_producer(["a"]).dtypes,
                "tf.data.Dataset.from_tensor_slices"),
        OldName("train.match_filenames_once",
                lambda tf: tf.train.match_filenames_once("no such file").name,
                "tf.data.Dataset.list_files"),
        OldName("data.Dataset.from_tensor_slices",
                lambda tf: tf.data.Dataset.from_tensor_slices([1]).cardinality(),
                "tf.data.Dataset.from_tensor_slices"),
        OldName("data.Dataset.make_one_shot_iterator",
                lambda tf: tf.data.Dataset.range(3).make_one_shot_iterator().get_next(),
                "tf.data.Dataset.as_numpy_iterator"),
    ],
    "records and pictures": [
        OldName("python_io.TFRecordWriter", lambda tf: tf.python_io.TFRecordWriter,
                "tf.io.TFRecordWriter"),
        OldName("TFRecordReader", lambda tf: tf.TFRecordReader().reader_ref.dtype.name,
                "tf.data.TFRecordDataset"),
        OldName("parse_single_example", _parsed, "tf.io.parse_single_example"),
        OldName("FixedLenFeature", lambda tf: tf.FixedLenFeature([], "int64"),
                "tf.io.FixedLenFeature"),
        OldName("train.Example", lambda tf: tf.train.Example().SerializeToString(),
                "tf.train.Example"),
        OldName("train.Features", lambda tf: tf.train.Features().SerializeToString(),
                "tf.train.Features"),
        OldName("train.Feature", lambda tf: _feature(tf), "tf.train.Feature"),
        OldName("train.BytesList",
                lambda tf: _feature(tf, bytes_list=tf.train.BytesList(value=[b"a"])),
                "tf.train.BytesList"),
        OldName("train.FloatList",
                lambda tf: _feature(tf, float_list=tf.train.FloatList(value=[1])),
                "tf.train.FloatList"),
        OldName("train.Int64List",
                lambda tf: _feature(tf, int64_list=tf.train.Int64List(value=[1])),
                "tf.train.Int64List"),
        OldName("image.decode_jpeg", _decoded, "tf.io.decode_jpeg"),
        OldName("image.resize_bilinear",
                lambda tf: tf.image.resize_bilinear(np.ones([1, 2, 2, 1], "f"), [3, 3]),
                "tf.image.resize"),
    ],
    "summaries": [
        OldName("summary.FileWriter", lambda tf: tf.summary.FileWriter,
                "tf.summary.create_file_writer"),
        OldName("summary.histogram",
                lambda tf: tf.summary.histogram("h", _variable(tf)).dtype.name,
                "tf.summary.histogram"),
        OldName("summary.merge_all", lambda tf: tf.summary.merge_all(),
                "tf.summary.create_file_writer"),
    ],
}

# Not in the documents; where 1.x code moved when it left `tf.contrib`.
LATER_NAMES = [
    OldName("nn.rnn_cell.GRUCell", lambda tf: tf.nn.rnn_cell.GRUCell(4),
            "tf.keras.layers.GRUCell"),
    OldName("nn.rnn_cell.MultiRNNCell", lambda tf: tf.nn.rnn_cell.MultiRNNCell([]),
            "tf.keras.layers.StackedRNNCells"),
    OldName("nn.dynamic_rnn", lambda tf: tf.nn.dynamic_rnn, "tf.keras.layers.RNN"),
    OldName("nn.dropout",
            lambda tf: tf.nn.dropout(np.ones(1000, "f"), 0.999, seed=7) > 0,
            "tf.nn.dropout"),
    OldName("layers.dense", lambda tf: tf.layers.dense(ROWS, 2),
            "tf.keras.layers.Dense"),
    OldName("layers.conv2d",
            lambda tf: tf.layers.conv2d(np.ones([1, 3, 3, 1], "f"), 2, 3),
            "tf.keras.layers.Conv2D"),
    OldName("estimator.Estimator", lambda tf: tf.estimator.Estimator,
            "tf.keras.Model.fit"),
    OldName("train.replica_device_setter",
            lambda tf: tf.train.replica_device_setter(1)(tf1.no_op()),
            "tf.distribute.experimental.ParameterServerStrategy"),
]


def _shards(tf):
    return tf.nn.embedding_lookup(
        [np.float32([0, 1]), np.float32([2, 3])], [0, 1, 2, 3])


_PICTURE = np.arange(16, dtype=np.float32).reshape(1, 4, 4, 1)

# The same names, called as old code also calls them: one call is not every call.
OTHER_CALLS = [
    OldName("argmax(dimension=)", lambda tf: tf.argmax(ROWS, dimension=1),
            "tf.argmax"),
    OldName("squeeze(squeeze_dims=)",
            lambda tf: tf.squeeze(ROWS[:1], squeeze_dims=[0]), "tf.squeeze"),
    OldName("expand_dims(dim=)", lambda tf: tf.expand_dims(ROWS, dim=0),
            "tf.expand_dims"),
    OldName("reduce_mean(reduction_indices=)",
            lambda tf: tf.reduce_mean(ROWS, reduction_indices=[0]), "tf.reduce_mean"),
    OldName("reduce_mean(keep_dims=)",
            lambda tf: tf.reduce_mean(ROWS, 0, keep_dims=True), "tf.reduce_mean"),
    OldName("nn.softmax(dim=)", lambda tf: tf.nn.softmax(ROWS, dim=0),
            "tf.nn.softmax"),
    OldName("nn.conv2d(filter=)",
            lambda tf: tf.nn.conv2d(_PICTURE, filter=np.ones([2, 2, 1, 1], "f"),
                                    strides=[1, 1, 1, 1], padding="SAME"),
            "tf.nn.conv2d"),
    OldName("name_scope(name, default, values)",
            lambda tf: entered(tf.name_scope(None, "s", [ROWS])), "tf.name_scope"),
    OldName("nn.embedding_lookup(two shards)", _shards, "tf.nn.embedding_lookup"),
    OldName("image.resize(4x4 to 2x2)", lambda tf: tf.image.resize(_PICTURE, [2, 2]),
            "tf.image.resize"),
    OldName("where(one axis, matrix, matrix)",
            lambda tf: tf.where([True, False], ROWS, -ROWS), "tf.where"),
    OldName("random_normal_initializer()",
            lambda tf: np.std(tf1.Session().run(tf.random_normal_initializer(seed=7)(
                [1000]))).round(1), "tf.random_normal_initializer"),
]
