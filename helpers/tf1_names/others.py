"""Younger names, and the same names called as old code also calls them."""


import numpy as np
import tensorflow.compat.v1 as tf1

from helpers.tf1_names.source import ROWS, gru_output, stacked_size
from helpers.tf1_names.trial import OldName, entered

# Not in the documents; where 1.x code moved when it left `tf.contrib`.
LATER_NAMES = [
    OldName("nn.rnn_cell.GRUCell", lambda tf: gru_output(tf, tf.nn.rnn_cell),
            "tf.keras.layers.GRUCell"),
    OldName("nn.rnn_cell.MultiRNNCell", lambda tf: stacked_size(tf, tf.nn.rnn_cell),
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
