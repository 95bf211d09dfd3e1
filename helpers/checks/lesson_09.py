"""The checks of lesson 09: beyond one machine."""

import json
import os
import shutil
import tempfile
from pathlib import Path
from unittest import mock

import numpy as np
import tensorflow as tf

from helpers.checks.report import exercise


@exercise(
    "Exercise 1: tf_configs",
    "`A cluster is a dictionary of addresses` shows what the dictionary `cluster` "
    "looks like; the other key, `task`, has a `type` and an `index`.",
    'cluster = {"ps": [f"{hosts[0]}:2222"], '
    '"worker": [f"{host}:2222" for host in hosts[1:]]}',
)
def check_tf_configs(attempt):
    """Lets TensorFlow read each text, as a process of the cluster would.

    Args:
      attempt: a list of host names to one `TF_CONFIG` text for each.
    """
    for hosts in (["alpha", "beta", "gamma"], ["one", "two"]):
        texts = attempt(list(hosts))
        alone = texts is None or isinstance(texts, str | dict)
        texts = texts if alone else list(texts)
        yield (f"{len(hosts)} hosts: one text per host", not alone
               and len(texts) == len(hosts) and all(isinstance(t, str) for t in texts),
               f"for {hosts} wanted {len(hosts)} strings, got {_kinds(texts)}.")
        broken = [text for text in texts if not _is_json(text)]
        yield (f"{len(hosts)} hosts: each text is JSON", not broken,
               f"{broken[:1]} is not what json.dumps writes.")
        configs = [json.loads(text) for text in texts]
        wanted = {"ps": [f"{hosts[0]}:2222"],
                  "worker": [f"{host}:2222" for host in hosts[1:]]}
        wrong = [c.get("cluster") for c in configs if c.get("cluster") != wanted]
        yield (f"{len(hosts)} hosts: all know the same cluster", not wrong,
               f"one of them holds {wrong[:1]}, wanted {wanted}.")
        yield from _tasks(hosts, texts, configs)


def _kinds(texts) -> str:
    if texts is None or isinstance(texts, str | dict):
        return f"one {type(texts).__name__}"
    return str([type(text).__name__ for text in texts])


def _is_json(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


def _tasks(hosts, texts, configs):
    """Claims about the task that each host is told, in text and as TensorFlow reads."""
    tasks = [config.get("task") or {} for config in configs]
    wrong = [task for task in tasks if set(task) != {"type", "index"}]
    yield (f"{len(hosts)} hosts: each has a task", not wrong,
           f"`task` is {wrong[:1]}, wanted a type and an index.")
    indices = [task["index"] for task in tasks]
    yield (f"{len(hosts)} hosts: the index is a whole number",
           all(type(index) is int for index in indices),
           f"the indices are {indices}.")
    found = []
    for text in texts:
        with mock.patch.dict(os.environ, TF_CONFIG=text):
            me = tf.distribute.cluster_resolver.TFConfigClusterResolver()
            found.append((me.task_type, me.task_id))
    expected = [("ps", 0)] + [("worker", n) for n in range(len(hosts) - 1)]
    yield (f"{len(hosts)} hosts: each is told which task it is", found == expected,
           f"expected {expected}, TensorFlow read {found}: the index counts within "
           "the job, so the second host is worker 0.")


@exercise(
    "Exercise 2: repeated_steps",
    "write the log of one kill by hand, with a checkpoint after step 2: which numbers "
    "are in it more than once, and how many different ones?",
    "seen, again = set(), set()",
)
def check_repeated_steps(attempt):
    """Compares with a count of 200 simulated trainings that are killed at random.

    Args:
      attempt: a list of global steps to the number of distinct repeated steps.
    """
    empty, whole = attempt([]), attempt([1, 2, 3])
    yield ("an undisturbed training repeats nothing",
           (empty, whole) == (0, 0) and empty is not None,
           f"for [] and [1, 2, 3] the answer is 0; yours: {empty} and {whole}.")
    one = attempt([1, 2, 3, 4, 3, 4, 5])
    yield ("one kill", one == 2,
           f"in [1, 2, 3, 4, 3, 4, 5] the steps 3 and 4 repeat: 2; yours: {one}.")
    two = attempt([1, 2, 3, 3, 3, 4])
    yield ("two kills before the next checkpoint", two == 1,
           f"in [1, 2, 3, 3, 3, 4] only step 3 repeats: 1; yours: {two}. How often it "
           "came back does not count.")
    apart = attempt([3, 4, 5, 3, 6, 5, 6])
    yield ("a step may come back later than the next line", apart == 3,
           f"in [3, 4, 5, 3, 6, 5, 6] the steps 3, 5 and 6 repeat: 3; yours: {apart}.")
    log = [1, 2, 3, 2, 3, 4]
    attempt(log)
    yield ("leaves the caller's log as it was", log == [1, 2, 3, 2, 3, 4],
           f"[1, 2, 3, 2, 3, 4] has become {log}.")
    logs = [_killed_training(np.random.default_rng(seed)) for seed in range(200)]
    wrong = [log for log, count in logs if attempt(list(log)) != count]
    yield ("200 simulated trainings", not wrong,
           f"wrong for {wrong[0] if wrong else ''}.")


def _killed_training(random) -> tuple[list[int], int]:
    """Simulates a training of 20 steps with kills; returns its log and the answer."""
    log, times, now = [], np.zeros(21, int), 0
    while now < 20:
        now += 1
        log.append(now)
        times[now] += 1
        if random.random() < 0.15:
            now -= now % 5  # the last checkpoint
    return log, int(np.sum(times > 1))


@exercise(
    "Exercise 3: read_on",
    "`reader.py` keeps its place: what does it give to `tf.train.Checkpoint`, and what "
    "is the first thing that it does with its manager?",
    "iterator = iter(dataset)",
)
def check_read_on(attempt):
    """Reads in several lives, from data sets that are built anew for each.

    Args:
      attempt: `(dataset, folder, count)` to the next `count` numbers.
    """
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "new" / "place"
        first = attempt(tf.data.Dataset.range(10), str(place), 4)
        yield ("returns the first numbers", _numbers(first) == [0, 1, 2, 3],
               f"of 0 to 9 the first four were wanted, you returned {first}.")
        again = _numbers(attempt(tf.data.Dataset.range(10), str(place), 3))
        yield ("goes on in its second life", again == [4, 5, 6], _where(again))
        last = _numbers(attempt(tf.data.Dataset.range(10), str(place), 3))
        yield ("goes on in its third life", last == [7, 8, 9],
               f"4, 5, 6 had been read, then came {last}.")
        other = _numbers(attempt(tf.data.Dataset.range(10), folder + "/other", 2))
        yield ("another folder is another place", other == [0, 1],
               f"a new folder began with {other}.")
        shutil.rmtree(place, ignore_errors=True)
        fresh = _numbers(attempt(tf.data.Dataset.range(10), str(place), 2))
        yield ("the place is in the folder", fresh == [0, 1],
               f"the folder was removed, and reading began with {fresh}: the place "
               "was kept somewhere else.")
        yield from _shuffled(attempt, folder + "/shuffled")


def _numbers(values) -> list[int]:
    return [int(value) for value in values]


def _where(again) -> str:
    told = f"0 to 3 had been read, then came {again}: "
    if again[:1] == [0]:
        return told + "the place was not saved, or not restored."
    if again[:1] == [5]:
        return told + "one element was taken from the iterator and lost."
    if again[:1] == [3]:
        return told + "the place was saved before the last element was read."
    return told + "4, 5, 6 were wanted."


def _shuffled(attempt, folder):
    """Claims that each number of a shuffled data set comes once, over three lives."""
    seen = []
    for _ in range(3):
        dataset = tf.data.Dataset.range(12).shuffle(5, seed=3)
        seen += _numbers(attempt(dataset, folder, 4))
    yield ("a shuffled data set, in three lives: each number once",
           sorted(seen) == list(range(12)), f"the lives read {seen}.")
