"""What became of each old name; a change in TensorFlow shows here."""

import pytest
import tensorflow as tf

from helpers.tf1_names import (
    LATER_NAMES,
    OTHER_CALLS,
    SOURCE_NAMES,
    verdict,
)

ALL = [old for names in SOURCE_NAMES.values() for old in names] + LATER_NAMES \
    + OTHER_CALLS

# Every name that is not here is "kept".
EXPECTED = {
    "moved": """
        Session ConfigProto GPUOptions get_default_graph placeholder get_variable
        variable_scope get_variable_scope assign_add trainable_variables
        global_variables_initializer initialize_all_variables
        truncated_normal_initializer truncated_normal to_float to_int32
        train.AdamOptimizer train.GradientDescentOptimizer train.exponential_decay
        train.Saver train.MonitoredSession FIFOQueue PaddingFIFOQueue PriorityQueue
        RandomShuffleQueue train.QueueRunner train.add_queue_runner
        train.start_queue_runners train.batch train.shuffle_batch
        train.string_input_producer train.match_filenames_once
        data.Dataset.make_one_shot_iterator python_io.TFRecordWriter TFRecordReader
        parse_single_example FixedLenFeature image.resize_bilinear
        summary.FileWriter summary.merge_all nn.dynamic_rnn
        train.replica_device_setter
    """,
    "replaced": """
        argmax(dimension=) squeeze(squeeze_dims=) expand_dims(dim=)
        reduce_mean(reduction_indices=) reduce_mean(keep_dims=) nn.softmax(dim=)
        nn.conv2d(filter=) name_scope(name,default,values)
    """,
    "another result": """
        nn.softmax_cross_entropy_with_logits summary.histogram nn.dropout
        nn.embedding_lookup(two,shards) image.resize(4x4,to,2x2)
        where(one,axis,matrix,matrix) random_normal_initializer()
    """,
    "gone": """
        contrib.rnn.GRUCell contrib.rnn.MultiRNNCell contrib.seq2seq.sequence_loss
        train.MonitorSession Coordinator QueueRunner nn.rnn_cell.GRUCell
        nn.rnn_cell.MultiRNNCell layers.dense layers.conv2d estimator.Estimator
    """,
}


@pytest.mark.parametrize("old", ALL, ids=lambda old: old.name)
def test_what_became_of_it(old):
    changed = {name: v for v, names in EXPECTED.items() for name in names.split()}
    assert verdict(old) == changed.get(_word(old), "kept")


def _word(old):
    """The name without spaces: those of `EXPECTED` end at one."""
    return old.name.replace(", ", ",").replace(" ", ",")


@pytest.mark.parametrize("name", sorted({old.today for old in ALL}))
def test_todays_name_is_there(name):
    value = tf
    for part in name.split(", ")[0].split(".")[1:]:
        value = getattr(value, part)


def test_every_name_once_and_none_forgotten():
    names = [_word(old) for old in ALL]
    assert len(set(names)) == len(names)
    assert set(" ".join(EXPECTED.values()).split()) < set(names)
