"""The checks: what a report says, and that every one is found by its name."""

import re
import time
from pathlib import Path

import pytest
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers import checks, layers, records
from helpers.checks.report import Report, exercise

FOLDER = Path(checks.__file__).parent


@exercise("Exercise 0: halve", "divide by two.")
def check_halve(halve):
    yield "returns a number", isinstance(halve(4), float), "it returned something else"
    yield "halves 4", halve(4) == 2, f"it gave {halve(4)}"
    yield "halves 0", halve(0) == 0, f"it gave {halve(0)}"


def test_a_stub_gets_a_friendly_word():
    report = check_halve(lambda x: None)
    assert not report
    assert "Start here: divide by two." in repr(report)
    assert "✓" not in repr(report)


def test_a_wrong_attempt_stops_at_the_first_cross():
    report = check_halve(lambda x: x / 3)
    assert not report
    assert [holds for _, holds, _ in report.claims] == [True, False]
    assert "it gave" in repr(report) and "Start here" not in repr(report)


def test_an_error_is_a_cross_not_a_traceback():
    report = check_halve(lambda x: 1 / 0)
    assert not report
    assert "ZeroDivisionError: division by zero" in repr(report)


def test_a_right_attempt_is_true():
    report = check_halve(lambda x: x / 2)
    assert report
    assert repr(report).count("✓") == 3


def test_no_claims_at_all_is_no_pass():
    assert not Report("Exercise 0", "begin")


def test_every_check_is_found_by_its_name():
    written = {
        name
        for file in FOLDER.glob("lesson_*.py")
        for name in re.findall(r"^def (check_\w+)", file.read_text("utf-8"), re.M)
    }
    assert written == set(checks.__all__)
    for name in written:
        assert getattr(checks, name).__name__ == name


def test_another_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no check_nothing"):
        checks.check_nothing  # noqa: B018


def stopped_at(report):
    """Returns the claim that an attempt of a reader did not meet."""
    assert not report
    return report.claims[-1][0]


def test_siamese_refuses_reuse_that_stays_on():
    def attempt(left, right, units):
        a = layers.fully_connected_layer(left, units, name="embed")
        tf1.get_variable_scope().reuse_variables()
        b = layers.fully_connected_layer(right, units, name="embed")
        return tf.reduce_sum((a - b) ** 2, axis=1)

    assert "scope as it was" in stopped_at(checks.check_siamese(attempt))


@pytest.mark.usefixtures("no_thread_left")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_repeat_until_stop_leaves_no_thread_of_a_slow_attempt():
    def attempt(coord, job):
        while not coord.should_stop():
            job()
            time.sleep(1.5)

    assert "again and again" in stopped_at(checks.check_repeat_until_stop(attempt))


def test_repeat_until_stop_wants_the_pause():
    def attempt(coord, job):
        with coord.stop_on_exception():
            while not coord.should_stop():
                job()

    assert "pauses" in stopped_at(checks.check_repeat_until_stop(attempt))


@pytest.mark.parametrize(
    ("buffer", "claim"), [(1, "order of its own"), (2, "move far"), (10, "move far")]
)
def test_twin_wants_a_full_shuffle(buffer, claim):
    def attempt(numbers, batch_size, epochs):
        dataset = tf.data.Dataset.from_tensor_slices(numbers)
        return dataset.shuffle(buffer).repeat(epochs).batch(batch_size)

    assert claim in stopped_at(checks.check_twin(attempt))


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

    assert claim in stopped_at(checks.check_digit_batches(attempt))
