"""One corner of each page that a module draws: what its frame says is what was run."""

import re

import matplotlib.pyplot as plt
import numpy as np
import pytest

from helpers.pages.confusion import confusion_frame
from helpers.pages.damage import damage_frame
from helpers.pages.deaths import draw_deaths
from helpers.pages.differences import difference_frame
from helpers.pages.loops import loop_frame
from helpers.pages.memory import memory_frame
from helpers.pages.shelf import reuse_frame
from helpers.pages.shuffles import shuffle_frame
from helpers.pages.signals import signal_frame
from helpers.pages.stale import stale_frame
from helpers.pages.tanks import outcome, take_frame
from helpers.pages.threads import Lanes
from helpers.pages.till import till_frame
from helpers.pages.towers import tower_frame
from helpers.pages.travel import travel_frame

# A page's function, what it is called with, and a part of what the frame says.
SAID = [
    (till_frame, ("read, then write", "0 1 0 1"), "contains 1 at the end"),
    (till_frame, ("read, then write", "0 0 1 1"), "contains 2 at the end"),
    (till_frame, ("assign_add", "0 1 0 1"), "no coin is lost"),
    (till_frame, ("with a lock", "0 1 0 1"), "0 0 1 1: the till contains 2"),
    (till_frame, ("read, then write", "0 1 2 2 1 0"), "2 coins are lost"),
    (take_frame, ("FIFO", "dequeue_many(10)", "left open"),
     "90 items arrived in 9 batches, 0 stayed inside, and 9"),
    (take_frame, ("FIFO", "dequeue_many(10)", "closed"),
     "90 items arrived in 9 batches, 9 stayed inside, and 0"),
    (take_frame, ("FIFO", "dequeue_up_to(33)", "closed"),
     "99 items arrived in 3 batches, 0 stayed inside, and 0"),
    (reuse_frame, ("False", "weights", "by its name"), "already exists"),
    (reuse_frame, ("True", "wieghts", "by its object"),  # codespell:ignore
     "does not exist"),
    (reuse_frame, ("True", "weights", "by its name"), "One variable"),
    (reuse_frame, ("AUTO_REUSE", "wieghts", "by its name"),  # codespell:ignore
     "Two variables"),
    (reuse_frame, ("False", "weights", "inside itself"), "coder/coder/weights"),
    (travel_frame, ("0 and 0", "today's", "by each use"), "0 crossings"),
    (travel_frame, ("1 and 1", "today's", "by each use"), "4 crossings"),
    (travel_frame, ("1 and 1", "TF1's", "by each use"), "1 crossing,"),
    (travel_frame, ("1 and 2", "today's", "once"), "2 crossings"),
    (damage_frame, ("cut", 43),
     "2 of 3 records, no error; check_shards: CutShortError"),
    (damage_frame, ("cut", 42), "2 of 3 records, no error; check_shards: no error"),
    (damage_frame, ("cut", 54),
     "2 of 3 records, DataLossError; check_shards: CutShortError"),
    (damage_frame, ("flip", 24),
     "1 of 3 records, DataLossError; check_shards: DataError"),
    (damage_frame, ("cut", 20, [b"four"]),
     "1 of 1 records, no error; check_shards: no error"),
    (memory_frame, ([1, 3, 5, 2, 1], 3, "two layers"),
     "two layers: the peak is 5.0 layer outputs, in the forward pass"),
    (confusion_frame, ([["red", "star"], ["red", "cross"], ["blue", "star"]],
                       np.array([0, 1, 2]), np.array([1, 1, 0]), 1),
     "2 of 3 answers are wrong, and 1 of these lie inside"),
    (signal_frame, ({"He": np.array([1.0, 0.5])}, "He", "tanh"),
     "He, tanh: the signal is multiplied by 5e-01. It lives"),
    (signal_frame, ({"He": np.array([1.0, 1e-5])}, "He", "tanh"), "It dies"),
    (stale_frame, ([1.0, 0.1, 0.25, 0.1, 0.1], [1.0, 0.5, 0.4], 2, "workers: 2"),
     "workers: 2: final loss 2.5e-01; one worker 5.0e-01, so more workers are better"),
]


@pytest.mark.parametrize("frame, setting, said", SAID)
def test_a_frame_says_what_was_run(frame, setting, said):
    drawn = frame(*setting)
    assert said in drawn.says and all(drawn.layers)


def test_the_till_wants_two_turns_of_each_thread():
    with pytest.raises(ValueError, match="two turns"):
        till_frame("assign_add", "0 1 1")


@pytest.mark.parametrize("loop", ["TensorFlow 1", "today"])
def test_a_loop_leaves_with_the_power(loop):
    says = [loop_frame(loop, turn, n=3, x=2.0).says for turn in range(4)]
    assert len(set(says)) == 4
    assert re.search(r"\b8\b", says[-1]), says


@pytest.mark.parametrize("towers, slices, rows, equal", [
    (2, "equal", "mixed", True), (2, "equal", "sorted", True),
    (3, "equal", "half sorted", True), (2, "first one small", "sorted", False),
])
def test_equal_slices_have_the_mean_of_the_batch(towers, slices, rows, equal):
    frame = tower_frame(towers=towers, slices=slices, rows=rows)
    plain, weighted = map(int, re.findall(r"by (\d+)%", frame.says))
    assert weighted == 0 and (plain == 0) == equal


@pytest.mark.parametrize("buffer, files, classes", [
    (1, 1, 1.1), (1, 20, 20.0), (4000, 1, 16.3)])
def test_a_buffer_mixes_what_it_holds(buffer, files, classes):
    found = float(shuffle_frame(buffer, files).says.split()[0])
    assert found == pytest.approx(classes, abs=0.3)


def test_each_death_of_a_cluster_has_its_cross():
    lives = [np.array([[a, 100.0 + a], [a + 5, 105.0 + a]]) for a in (0, 10, 20)]
    fig = draw_deaths(99.0, lives, np.array([[1, 101.0], [2, 102.0]]),
                      {"worker 1": (103.0, 0), "chief": (106.0, 3), "ps": (116.0, 12)})
    words = [text.get_text() for text in fig.axes[0].texts]
    assert any("chief dies: back to 3" in word for word in words)
    plt.close(fig)


@pytest.mark.parametrize("op, closed, held, told", [
    ("enqueue", False, 4, "waits"), ("enqueue", False, 2, "goes on"),
    ("enqueue", True, 0, "Cancelled"), ("dequeue", False, 0, "waits"),
    ("dequeue_many(3)", True, 2, "OutOfRange"),
    ("dequeue_up_to(3)", True, 2, "goes on"),
])
def test_an_open_queue_makes_one_wait_and_a_closed_one_none(op, closed, held, told):
    assert outcome(op, closed, held) == told


def test_one_thread_works_for_one_device_at_a_time():
    frame = Lanes()(1, "waits 5 ms", "apart")
    assert "with up to 1 device at work at once" in frame.says
    assert frame.layers[1].count("<rect") == 16


@pytest.mark.parametrize("name, stage, words, red", [
    (None, None, "No tensor differs.", 0),
    ("conv", "same", "in conv, because of the code.", 2),
    ("scores", "own", "in scores, because of the weights.", 1),
])
def test_a_box_is_red_where_a_tensor_differs(name, stage, words, red):
    same, own = ({"conv": 0.02 * (stage == run), "scores": 0.5 * (stage is not None)}
                 for run in ("same", "other"))
    same["scores"] *= stage == "same"
    frame = difference_frame({"same": same, "own": own}, name, stage)
    assert frame.says.endswith(words)
    assert "".join(frame.layers).count("class='bad' fill='none'") >= red
