"""Exercise checks of lesson 09a: a cluster that is configured by hand."""

import json
import os
from unittest import mock

import tensorflow as tf

from helpers.checks.claims import answering, drawn, exercise, near, same


@exercise(
    "Exercise 1: tf_configs",
    "The keys are `cluster` and `task`, and a task has a `type` and an `index`.",
    'Begin with `addresses = [f"{host}:2222" for host in hosts]` and `cluster = '
    '{"ps": addresses[:1], "worker": addresses[1:]}`. What is left is one text for '
    "each task.",
    about={
        "returns one text for each host":
            "TensorFlow reads a text, so convert each dictionary with `json.dumps`.",
        "gives all tasks the same, right cluster": (
            "Each job has a list of addresses, even if there is only one, and each "
            "host belongs to one job. An address is a host and its port."),
        "tells each task its job and its index": (
            "Each job counts its own tasks, so the first worker has the index 0."),
        "runs without an error": (
            "In JSON, texts have double quotes. `json.dumps` writes them, but "
            "Python's own str does not."),
    },
)
def check_tf_configs(attempt):
    """Checks `TF_CONFIG` values by letting TensorFlow parse each of them."""
    for hosts in drawn(_hosts):
        with answering(f"for the hosts {hosts}"):
            texts = attempt(list(hosts))
            texts = [texts] if isinstance(texts, str | dict) else list(texts)
        yield same("returns one text for each host", ["str"] * len(hosts),
                   [type(text).__name__ for text in texts], f"for the hosts {hosts}")
        with answering(f"json.loads of {texts}"):
            configs = [dict(json.loads(text)) for text in texts]
        due = {"ps": [f"{hosts[0]}:2222"],
               "worker": [f"{host}:2222" for host in hosts[1:]]}
        clusters = [config.get("cluster") for config in configs]
        yield same("gives all tasks the same, right cluster", [due] * len(hosts),
                   clusters)
        due = [("ps", 0)] + [("worker", n) for n in range(len(hosts) - 1)]
        tasks = [config.get("task") for config in configs]
        found = []
        for text in texts:
            with (mock.patch.dict(os.environ, TF_CONFIG=text),
                  answering(f"TensorFlow, which reads {tasks}")):
                me = tf.distribute.cluster_resolver.TFConfigClusterResolver()
                found.append((me.task_type, me.task_id))
        yield same("tells each task its job and its index", due, found,
                   f"for the hosts {hosts}; the index counts from 0 in each job")


def _hosts(rng, size):
    names = [f"node{n}" for n in range(60)] + ["alpha", "b.example.org", "gpu-7"]
    return list(map(str, rng.permutation(names)[: 2 + size // 2]))


@exercise(
    "Exercise 2: repeated_steps",
    "Write the log of one kill by hand. Which numbers are in it more than once?",
    "Begin with `times = collections.Counter(log)`. What is left is to count the steps "
    "whose number of times is above 1.",
    about={
        "counts the steps that were done more than once, each of them once": (
            "A step that was done three times counts once. The log need not contain "
            "every number, so go through the log itself, and not through a range."),
    },
)
def check_repeated_steps(attempt):
    """Checks the number of repeated steps in logs of killed trainings."""
    for log in drawn(_killed_training, how_many=60):
        due = sum(log.count(step) > 1 for step in set(log))
        with answering(f"for the log {log}"):
            found = attempt(log)
        yield near("counts the steps that were done more than once, each of them once",
                   due, found, f"for the log {log}")


def _killed_training(rng, size) -> list[int]:
    """Draws the step log of a worker that is killed and resumes several times."""
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
