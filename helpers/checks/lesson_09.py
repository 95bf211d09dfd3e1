"""The checks of lesson 09: beyond one machine."""

import json
import os
from unittest import mock

import numpy as np
import tensorflow as tf

from helpers.checks.report import exercise


@exercise(
    "Exercise 1: tf_configs",
    "make the dictionary `cluster` once, then one json.dumps per host.",
)
def check_tf_configs(attempt):
    """Lets TensorFlow read each text, as a process of the cluster would.

    Args:
      attempt: a list of host names to a list of `TF_CONFIG` texts.
    """
    hosts = ["alpha", "beta", "gamma"]
    texts = attempt(list(hosts))
    yield ("returns one text per host",
           isinstance(texts, list) and len(texts) == len(hosts)
           and all(isinstance(text, str) for text in texts),
           f"for {hosts} return a list of three strings made by json.dumps.")
    clusters = [json.loads(text).get("cluster") for text in texts]
    wanted = {"ps": ["alpha:2222"], "worker": ["beta:2222", "gamma:2222"]}
    yield ("all hosts know the same cluster", all(c == wanted for c in clusters),
           f"for {hosts} each must hold {wanted}.")
    found = []
    for text in texts:
        with mock.patch.dict(os.environ, TF_CONFIG=text):
            me = tf.distribute.cluster_resolver.TFConfigClusterResolver()
            found.append((me.task_type, me.task_id))
    expected = [("ps", 0), ("worker", 0), ("worker", 1)]
    yield ("each host is told which task it is", found == expected,
           f"expected {expected}, TensorFlow read {found}: the index counts within "
           "the job, so the second host is worker 0.")


@exercise(
    "Exercise 2: repeated_steps",
    "a step that is in the log twice was done twice; a set tells you which.",
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
           f"in [1, 2, 3, 3, 3, 4] only step 3 repeats: 1; yours: {two}. Count the "
           "steps, not how often each came back.")
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
