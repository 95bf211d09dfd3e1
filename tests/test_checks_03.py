"""The checks of lesson 03: what is nearly right is refused by name."""

import time

import pytest
import tensorflow as tf

from helpers.checks.lesson_03 import check_repeat_until_stop, check_twin


def stopped_at(report):
    """Returns the claim that an attempt of a reader did not meet."""
    assert not report
    return report.claims[-1][0]


@pytest.mark.usefixtures("no_thread_left")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_repeat_until_stop_leaves_no_thread_of_a_slow_attempt():
    def attempt(coord, job):
        while not coord.should_stop():
            job()
            time.sleep(1.5)

    assert "again and again" in stopped_at(check_repeat_until_stop(attempt))


def test_repeat_until_stop_wants_the_pause():
    def attempt(coord, job):
        with coord.stop_on_exception():
            while not coord.should_stop():
                job()

    assert "pauses" in stopped_at(check_repeat_until_stop(attempt))


@pytest.mark.parametrize(
    ("buffer", "claim"), [(1, "order of its own"), (2, "move far"), (10, "move far")]
)
def test_twin_wants_a_full_shuffle(buffer, claim):
    def attempt(numbers, batch_size, epochs):
        dataset = tf.data.Dataset.from_tensor_slices(numbers)
        return dataset.shuffle(buffer).repeat(epochs).batch(batch_size)

    assert claim in stopped_at(check_twin(attempt))
