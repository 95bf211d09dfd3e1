"""Real TensorFlow processes, killed at random steps, and what a task leaves behind."""

import math
import time

import numpy as np
import pytest
from test_cluster import is_gone

from helpers.cluster import Cluster, WorkerDied

LAST, SAVE_EVERY = 70, 7

TRAINER = """
import sys, time
import tensorflow as tf
import tensorflow.compat.v1 as tf1
tf.get_logger().setLevel("ERROR")
with tf.Graph().as_default():
    total = tf1.get_variable("total", [], initializer=tf1.zeros_initializer())
    step = tf1.train.get_or_create_global_step()
    with tf.control_dependencies([total.assign_add(3.0)]):
        train = step.assign_add(1)
    with tf.control_dependencies([train]):
        now = [tf.identity(step.read_value()), tf.identity(total.read_value())]
    with tf1.train.MonitoredTrainingSession(
            checkpoint_dir=sys.argv[1], save_checkpoint_steps=SAVE_EVERY,
            save_summaries_steps=None, save_summaries_secs=None,
            log_step_count_steps=None,
            hooks=[tf1.train.StopAtStepHook(last_step=LAST)]) as session:
        while not session.should_stop():
            print("step", *map(int, session.run(now)))
            time.sleep(0.02)
""".replace("SAVE_EVERY", str(SAVE_EVERY)).replace("LAST", str(LAST))


def steps(task):
    lines = [line.split() for line in task.lines()]
    return [tuple(map(int, line[1:])) for line in lines if line[:1] == ["step"]]


@pytest.mark.slow
def test_a_worker_killed_at_random_steps_finishes(tmp_path):
    (tmp_path / "trainer.py").write_text(TRAINER)
    random = np.random.default_rng(int(time.time()))
    lives = []
    with Cluster(tmp_path, {"worker": 1}, seconds=500) as cluster:
        for killed_at in [random.integers(1, LAST - 30), math.inf]:
            worker = cluster.start("worker", 0, tmp_path / "trainer.py",
                                   tmp_path / "checkpoints")
            before = sum(map(len, lives))  # one log for all lives

            def is_due(worker=worker, before=before, killed_at=killed_at):
                said = steps(worker)[before:]
                return not worker.running or said and said[-1][0] >= killed_at

            cluster.wait_for(is_due)
            worker.kill()
            lives.append(steps(worker)[before:])
    assert_went_on(lives)


def assert_went_on(lives):
    assert lives[0][0][0] == 1 and lives[-1][-1][0] == LAST
    for life in lives:
        numbers = [step for step, _ in life]
        assert numbers == list(range(numbers[0], numbers[-1] + 1))
        # The state is that of the step: no update is lost or done twice.
        assert all(total == 3 * step for step, total in life)
    killed_at, resumed_at = lives[0][-1][0], lives[1][0][0]
    assert killed_at < LAST
    # A step is printed after its save; one may be saved and not yet printed.
    assert -1 <= killed_at - resumed_at + 1 <= SAVE_EVERY


# What a task leaves behind ---------------------------------------------------------

BEREAVED = """
import signal, subprocess, sys, time
child = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); HOW"
process = subprocess.Popen([sys.executable, "-c", child.replace(
    "HOW", "print('child is up', flush=True); time.sleep(600)")],
    stdout=subprocess.PIPE)
process.stdout.readline()
print("child", process.pid, flush=True)
"""
ENDINGS = {
    "an error": "raise OSError('no shard')",
    "success": "sys.exit(0)",
    "a deaf ear to it": "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
                        "time.sleep(600)",
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_child_does_not_outlive_its_task(tmp_path, ending):
    (tmp_path / "program.py").write_text(BEREAVED + ENDINGS[ending])
    try:
        with Cluster(tmp_path, {"worker": 1}, seconds=60) as cluster:
            task = cluster.start("worker", 0, tmp_path / "program.py")
            cluster.wait_for(lambda: bool(task.lines()))
            if "sleep" not in ENDINGS[ending]:
                cluster.wait(task)
    except WorkerDied:
        assert ending == "an error"
    child = int(task.lines()[0].split()[1])
    end = time.monotonic() + 60
    while not is_gone(child) and time.monotonic() < end:
        time.sleep(0.05)
    assert is_gone(child)


def test_the_message_is_short_however_much_was_printed(tmp_path):
    (tmp_path / "program.py").write_text(
        "import sys\nsys.stderr.write('x' * 30_000_000)\n"
        "sys.stderr.write('xyz\\n' * 7_000_000)\nsys.exit('no shard')\n")
    with (
        pytest.raises(WorkerDied, match="worker:0 ended with code 1: ") as caught,
        Cluster(tmp_path, {"worker": 1}, seconds=60) as cluster,
    ):
        cluster.wait(cluster.start("worker", 0, tmp_path / "program.py"))
    assert len(str(caught.value)) < 3_000
    assert len(str(caught.value).splitlines()) <= 8
