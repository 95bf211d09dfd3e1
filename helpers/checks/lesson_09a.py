"""The checks of lesson 09a: a cluster by hand."""

import json
import os
from unittest import mock

import tensorflow as tf

from helpers.checks.report import drawn, exercise, shown


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
    for hosts in drawn(_hosts):
        texts = attempt(list(hosts))
        alone = texts is None or isinstance(texts, str | dict)
        texts = [texts] if alone else list(texts)
        kinds = [type(text).__name__ for text in texts]
        yield ("one text per host", not alone and kinds == ["str"] * len(hosts),
               f"for {hosts}: wanted {len(hosts)} strings in a list, got {kinds}.")
        broken = [text for text in texts if not _is_json(text)]
        yield ("each text is JSON", not broken,
               f"{broken[:1]} is not what json.dumps writes.")
        configs = [json.loads(text) for text in texts]
        due = {"ps": [f"{hosts[0]}:2222"],
               "worker": [f"{host}:2222" for host in hosts[1:]]}
        wrong = [c.get("cluster") for c in configs if c.get("cluster") != due]
        yield ("all know the same cluster", not wrong,
               f"for {hosts}: {shown(due, wrong[:1])}.")
        due = [("ps", 0)] + [("worker", n) for n in range(len(hosts) - 1)]
        tasks = [config.get("task") for config in configs]
        whole = all(isinstance(task, dict) and set(task) == {"type", "index"}
                    and type(task["index"]) is int for task in tasks)
        yield ("each has a type and a whole number as index", whole,
               f"`task` is {shown({'type': 'worker', 'index': 0}, tasks)}.")
        found = [_task_read_by_tensorflow(text) for text in texts]
        yield ("each is told which task it is", found == due,
               f"for {hosts}: {shown(due, found)}. The index counts within the job.")


def _hosts(rng, size):
    names = [f"node{n:02d}" for n in range(60)] + ["alpha", "b.example.org", "gpu-7"]
    return list(map(str, rng.permutation(names)[: 2 + size // 2]))


def _is_json(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


def _task_read_by_tensorflow(text: str) -> tuple[str, int]:
    with mock.patch.dict(os.environ, TF_CONFIG=text):
        me = tf.distribute.cluster_resolver.TFConfigClusterResolver()
        return me.task_type, me.task_id


@exercise(
    "Exercise 2: repeated_steps",
    "write the log of one kill by hand, with a checkpoint after step 2: which numbers "
    "are in it more than once, and how many different ones?",
    "seen, again = set(), set()",
)
def check_repeated_steps(attempt):
    """Compares with a slow count of trainings that are killed at random.

    Args:
      attempt: a list of global steps to the number of distinct repeated steps.
    """
    for log in drawn(_killed_training, how_many=60):
        due = sum(log.count(step) > 1 for step in set(log))
        given = list(log)
        found = attempt(given)
        yield ("counts the steps that were done more than once",
               found == due and type(found) is not bool,
               f"in {log}: {shown(due, found)}. How often one came back does not "
               "count.")
        yield ("leaves the caller's log as it was", given == log,
               f"{log} has become {given}.")


def _killed_training(rng, size) -> list[int]:
    """The log of a training with kills; the steps of other workers are not in it."""
    log: list[int] = []
    now = checkpoint = int(rng.integers(0, 50))
    while len(log) < size:
        now += int(rng.integers(1, 3))
        log.append(now)
        if rng.random() < 0.2:
            checkpoint = now
        elif rng.random() < 0.3:
            now = checkpoint
    return log
