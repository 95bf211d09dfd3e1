"""The checks of lesson 04: what is nearly right is refused by name."""

import pytest
import tensorflow as tf

from helpers import records
from helpers.checks.lesson_04 import check_digit_batches


def stopped_at(report):
    """Returns the claim that an attempt of a reader did not meet."""
    assert not report
    return report.claims[-1][0]


@pytest.mark.parametrize(
    ("batch", "label_shape", "claim"),
    [(1, [], "size asked for"), (8, [1], "labels [batch]")],
)
def test_digit_batches_looks_at_both_shapes(batch, label_shape, claim):
    def attempt(path_prefix, batch_size, height, width):
        def parse(serialized):
            fields = tf.io.parse_single_example(
                serialized,
                {"pixels": tf.io.FixedLenFeature([], tf.string),
                 "label": tf.io.FixedLenFeature(label_shape, tf.int64)},
            )
            pixels = tf.io.decode_raw(fields["pixels"], tf.uint8)
            image = tf.cast(tf.reshape(pixels, [height, width, 1]), tf.float32)
            return (image - 127.5) / 127.5, tf.cast(fields["label"], tf.int32)

        paths = records.open_shards(path_prefix)
        return tf.data.TFRecordDataset(paths).map(parse).batch(batch)

    assert claim in stopped_at(check_digit_batches(attempt))
