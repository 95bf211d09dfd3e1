"""The list of ops that a stranger's graph may run, and graphs that it must let pass."""

import itertools
from fnmatch import fnmatchcase

import numpy as np
import pytest
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.inherited import allowed, open_model
from tests.faults.op_by_op import registered


def test_every_registered_op_is_allowed_or_refused_and_none_is_both():
    """A new TensorFlow's ops are in neither: read them, and put each into a family."""
    may, must_not = allowed.families()
    patterns = [pattern for names in must_not.values() for pattern in names]
    ops = registered()
    assert len(ops) == 1910 or not tf.__version__.startswith("2.21")
    listed = [name for names in may.values() for name in names]
    assert len(listed) == len(set(listed)) and set(listed) <= set(ops)
    for op in ops:
        refused = any(fnmatchcase(op, pattern) for pattern in patterns)
        assert refused != (op in listed), f"{op} is in both or in neither"
    for pattern in patterns:
        assert any(fnmatchcase(op, pattern) for op in ops), f"{pattern} is of no op"


def test_what_no_list_names_is_refused():
    assert allowed.why_not("Add") is None
    assert allowed.why_not("WriteFile") == "reads or writes files"
    assert allowed.why_not("OpOfTomorrow") == "is not known to be harmless"


def through_while(x):
    return tf1.while_loop(lambda i, _: i < 3, lambda i, v: [i + 1, v * 2], [0, x])[1]


def through_cond(x):
    return tf1.cond(tf.reduce_sum(x) > 0, lambda: x * 8, lambda: x)


def through_table(x):
    keys, values = tf.constant([1, 2], tf.int64), tf.constant([8.0, 8.0])
    table = tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(keys, values), 8.0)
    return x * table.lookup(tf.cast(x, tf.int64))


def through_bits(x):
    low, high = tf.constant(0.0), tf.constant(255.0)
    small, *range_ = tf.raw_ops.QuantizeV2(input=x, min_range=low, max_range=high,
                                           T=tf.quint8)
    whole = tf.raw_ops.Dequantize(input=small, min_range=range_[0], max_range=range_[1])
    return tf.round(whole) * 8


def through_cell(x):
    rows = tf.reshape(x, [-1, 1])
    zeros = tf.zeros_like(rows)
    found = tf.raw_ops.LSTMBlockCell(
        x=rows, cs_prev=zeros, h_prev=zeros, w=tf.zeros([2, 4]), wci=[0.0], wcf=[0.0],
        wco=[0.0], b=tf.zeros([4]))
    return x * 8 + tf.reshape(found.h, [-1])


def through_function(x):
    return tf.function(lambda v: tf.function(lambda w: w * 4)(v) * 2)(x)


def through_variable(x):
    return x * tf1.get_variable("v", [], initializer=tf1.constant_initializer(8.0),
                                use_resource=False)


def through_resource(x):
    return x * tf1.get_variable("v", [], initializer=tf1.constant_initializer(8.0),
                                use_resource=True)


def through_print(x):
    return tf1.Print(x, [x], "\x1b[2J") * 8


@pytest.mark.parametrize(("build", "version"), [
    (through_while, 1), (through_while, 2), (through_cond, 1), (through_cond, 2),
    *itertools.product([through_table, through_bits, through_cell, through_function,
                        through_variable, through_resource, through_print], [2])])
def test_a_graph_of_each_kind_opens_with_its_values(build, version, tmp_path):
    """As a `.meta` beside its checkpoint, in both kinds of control flow."""
    switch = {1: tf1.disable_control_flow_v2, 2: tf1.enable_control_flow_v2}
    was = tf1.control_flow_v2_enabled()
    switch[version]()
    try:
        with tf.Graph().as_default() as graph:
            x = tf1.placeholder(tf.float32, [None], name="x")
            tf.identity(build(x), name="y")
            tf1.get_variable("other", [2])
            saver = tf1.train.Saver()
            with tf1.Session(graph=graph) as session:
                session.run([tf1.global_variables_initializer(),
                             tf1.tables_initializer()])
                saver.save(session, str(tmp_path / "model.ckpt"))
    finally:
        switch[1 + was]()
    with open_model(tmp_path / "model.ckpt.meta", outputs=["y"]) as model:
        np.testing.assert_allclose(model(x=[1.0, 2.0]), [8, 16])


class Words(tf.Module):
    def __init__(self, file):
        super().__init__()
        self.more = tf.Variable(10)
        self.table = tf.lookup.StaticVocabularyTable(tf.lookup.TextFileInitializer(
            file, tf.string, 0, tf.int64, -1, delimiter=" "), 1)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def ids(self, words):
        return tf.cast(self.table.lookup(words), tf.int32) + self.more


def test_a_saved_model_of_today_reads_its_own_assets_and_variables(tmp_path):
    (tmp_path / "words.txt").write_text("a\nb\n")
    words = Words(str(tmp_path / "words.txt"))
    tf.saved_model.save(words, str(tmp_path / "model"), words.ids)
    (tmp_path / "words.txt").unlink()
    with open_model(tmp_path / "model") as model:
        np.testing.assert_array_equal(model(words=np.array([b"b", b"z"])), [11, 12])
