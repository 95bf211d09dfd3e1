"""Real TensorFlow processes: killed at random steps, and held to the big batch."""

import itertools
import time

import numpy as np
import psutil
import pytest
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers import lesson, towers
from helpers.cluster import Cluster, WorkerDied
from helpers.files import ROOT

LAST, SAVE_EVERY = 150, 7
WORKERS, KILLS = 2, 5

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

SERVER = """
import tensorflow as tf
import tensorflow.compat.v1 as tf1
me = tf.distribute.cluster_resolver.TFConfigClusterResolver()
server = tf1.train.Server(me.cluster_spec(), me.task_type, me.task_id)
print("ready")
server.join()
"""

MIRRORED = """
import sys
import numpy as np
import tensorflow as tf
strategy = tf.distribute.MultiWorkerMirroredStrategy()
me, workers = strategy.cluster_resolver.task_id, strategy.num_replicas_in_sync
x, y = [tf.constant(np.split(a, workers)[me]) for a in np.load("data.npz").values()]
with strategy.scope():
    model = tf.keras.layers.Dense(1, kernel_initializer="zeros")
    model.build([None, x.shape[1]])
    optimizer = tf.keras.optimizers.SGD(0.05, momentum=0.9)
    optimizer.build(model.trainable_variables)
def replica(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x) - y)) / workers
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
step = tf.function(lambda: strategy.run(replica, (x, y)))
for _ in range(5):
    step()
np.save(f"weights-{me}.npy", np.append(model.kernel, model.bias))
"""


def steps(task):
    lines = [line.split() for line in task.lines()]
    return [tuple(map(int, line[1:])) for line in lines if line[:1] == ["step"]]


@pytest.mark.timeout(600)
def test_two_workers_killed_five_times_each_at_random_steps_finish(tmp_path):
    (tmp_path / "trainer.py").write_text(TRAINER)
    random = np.random.default_rng(int(time.time()))
    with Cluster(tmp_path, {"worker": WORKERS}, seconds=500) as cluster:

        def start(index):
            return cluster.start("worker", index, tmp_path / "trainer.py",
                                 tmp_path / f"checkpoints-{index}")

        living = [start(i) for i in range(WORKERS)]
        due = [np.sort(random.choice(range(1, LAST - 30), KILLS, replace=False))
               for _ in living]
        lives = [[] for _ in living]  # what each life printed, until it was killed

        def this_life(i):
            return steps(living[i])[sum(map(len, lives[i])):]

        def kill_those_that_are_due():
            for i, killed in enumerate(lives):
                if len(killed) == KILLS or not this_life(i):
                    continue
                if this_life(i)[-1][0] >= due[i][len(killed)]:
                    living[i].kill()
                    killed.append(this_life(i))
                    living[i] = start(i)
            return all(len(killed) == KILLS for killed in lives)

        cluster.wait_for(kill_those_that_are_due)
        cluster.wait(*living)
        for i, killed in enumerate(lives):
            assert_went_on([*killed, this_life(i)])


def assert_went_on(lives):
    assert lives[0][0][0] == 1 and lives[-1][-1][0] == LAST
    for life in lives:
        numbers = [step for step, _ in life]
        assert numbers == list(range(numbers[0], numbers[-1] + 1))
        # The state is that of the step: no update is lost or done twice.
        assert all(total == 3 * step for step, total in life)
    for (*_, (killed_at, _)), ((resumed_at, _), *_) in itertools.pairwise(lives):
        assert killed_at < LAST
        # A step is printed after its save; one may be saved and not yet printed.
        assert -1 <= killed_at - resumed_at + 1 <= SAVE_EVERY


@pytest.fixture(scope="module")
def data():
    random = np.random.default_rng(11)
    x = random.normal(size=[14, 3]).astype(np.float32)
    return x, random.normal(size=[14, 1]).astype(np.float32)


def one_process(data):
    """The same five steps of momentum by hand, on the whole batch."""
    x, y = (a.astype(np.float64) for a in data)
    x = np.hstack([x, np.ones([len(x), 1])])
    weights, velocity = np.zeros([4, 1]), np.zeros([4, 1])
    for _ in range(5):
        velocity = 0.9 * velocity + 2 * x.T @ (x @ weights - y) / len(x)
        weights = weights - 0.05 * velocity
    return weights.ravel()


def build(data, devices):
    optimizer = tf1.train.MomentumOptimizer(0.05, 0.9)

    def tower(x, y):
        zeros = tf1.zeros_initializer()
        w = tf1.get_variable("w", [3, 1], initializer=zeros)
        b = tf1.get_variable("b", [1], initializer=zeros)
        loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b - y))
        return loss, optimizer.compute_gradients(loss)

    slices = towers.split_batch(data, len(devices))
    losses, gradients = zip(*towers.build_towers(
        tower, devices, slices, variables_device="/job:ps/task:0"), strict=True)
    return optimizer.apply_gradients(
        towers.process_gradient_list(gradients, losses=losses))


def test_parameter_server_equals_the_big_batch(tmp_path, data):
    (tmp_path / "server.py").write_text(SERVER)
    with Cluster(tmp_path, {"ps": 1, "worker": 2}, seconds=100) as cluster:
        tasks = [cluster.start(*t, tmp_path / "server.py") for t in cluster.tasks]
        cluster.wait_for(lambda: all(task.lines() for task in tasks))
        config = tf1.ConfigProto(operation_timeout_in_ms=30_000)
        with tf.Graph().as_default():
            train = build(data, ["/job:worker/task:0", "/job:worker/task:1"])
            target = "grpc://" + cluster.addresses["worker"][0]
            with tf1.Session(target, config=config) as session:
                session.run(tf1.global_variables_initializer())
                for _ in range(5):
                    session.run(train)
                result = np.concatenate(
                    [v.ravel() for v in session.run(tf1.trainable_variables())])
    np.testing.assert_allclose(result, one_process(data), atol=1e-5)


def test_mirrored_workers_equal_each_other_and_the_big_batch(tmp_path, data):
    (tmp_path / "mirrored.py").write_text(MIRRORED)
    np.savez(tmp_path / "data.npz", *data)
    with Cluster(tmp_path, {"worker": 2}, seconds=100) as cluster:
        cluster.wait(*[cluster.start(*task, tmp_path / "mirrored.py")
                       for task in cluster.tasks])
    results = [np.load(tmp_path / f"weights-{i}.npy") for i in (0, 1)]
    np.testing.assert_array_equal(*results)
    np.testing.assert_allclose(results[0], one_process(data), atol=1e-5)


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
    "a crash": "import os; os.abort()",
    "success": "sys.exit(0)",
    "the request to stop": "time.sleep(600)",
}


def is_gone(pid):
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_child_does_not_outlive_its_task(tmp_path, ending):
    (tmp_path / "program.py").write_text(BEREAVED + ENDINGS[ending])
    try:
        with Cluster(tmp_path, {"worker": 1}, seconds=60) as cluster:
            task = cluster.start("worker", 0, tmp_path / "program.py")
            cluster.wait_for(lambda: bool(task.lines()))
            if ending != "the request to stop":
                cluster.wait(task)
    except WorkerDied:
        assert ending in ("an error", "a crash")
    child = int(task.lines()[0].split()[1])
    end = time.monotonic() + 60
    while not is_gone(child) and time.monotonic() < end:
        time.sleep(0.05)
    assert is_gone(child)


@pytest.mark.parametrize("when", ["before", "after", "stopped"])
def test_no_task_starts_where_nothing_would_end_it(tmp_path, when):
    (tmp_path / "program.py").write_text("import time; time.sleep(600)")
    cluster = Cluster(tmp_path, {"worker": 1}, seconds=60)
    if when != "before":
        with cluster:
            cluster.stop()
            if when == "stopped":
                with pytest.raises(RuntimeError, match="worker:0: the cluster is not"):
                    cluster.start("worker", 0, tmp_path / "program.py")
    if when != "stopped":
        with pytest.raises(RuntimeError, match="worker:0: the cluster is not running"):
            cluster.start("worker", 0, tmp_path / "program.py")
    if when == "before":
        with cluster:
            pass


def test_no_task_starts_when_the_time_is_up(tmp_path):
    (tmp_path / "program.py").write_text("import time; time.sleep(600)")
    cluster = Cluster(tmp_path, {"worker": 2}, seconds=1)
    with pytest.raises(TimeoutError, match="had 1 s and was ended"), cluster:
        first = cluster.start("worker", 0, tmp_path / "program.py")
        first.process.wait(30)
        cluster.start("worker", 1, tmp_path / "program.py")
    assert not first.running


LOUD = {
    "one line": "sys.stderr.write('x' * 30_000_000)",
    "many lines": "sys.stderr.write('xyz\\n' * 7_000_000)",
    "long lines": "sys.stderr.write(('x' * 5_000 + '\\n') * 5_000)",
}


@pytest.mark.parametrize("kind", LOUD)
def test_the_message_is_short_however_much_was_printed(tmp_path, kind):
    (tmp_path / "program.py").write_text(
        f"import sys\n{LOUD[kind]}\nsys.exit('no shard')\n")
    with (
        pytest.raises(WorkerDied, match="worker:0 ended with code 1: ") as caught,
        Cluster(tmp_path, {"worker": 1}, seconds=60) as cluster,
    ):
        cluster.wait(cluster.start("worker", 0, tmp_path / "program.py"))
    assert len(str(caught.value)) < 3_000
    assert len(str(caught.value).splitlines()) <= 8


def test_a_childs_colours_are_off(tmp_path, monkeypatch):
    """A notebook's kernel asks for them, and Python 3.13 colours its tracebacks."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("CLICOLOR_FORCE", "1")
    (tmp_path / "program.py").write_text(
        "import os, sys\n"
        "print([os.environ.get(n) for n in ('FORCE_COLOR', 'CLICOLOR_FORCE',"
        " 'NO_COLOR', 'PYTHON_COLORS')])\n"
        "sys.exit('\\x1b[1;31mno shard\\x1b[0m')\n")
    with (
        pytest.raises(WorkerDied, match="code 1: no shard\n") as caught,
        Cluster(tmp_path, {"worker": 1}, seconds=60) as cluster,
    ):
        cluster.wait(cluster.start("worker", 0, tmp_path / "program.py"))
    assert "[None, None, '1', '0']" in str(caught.value)
    assert "\x1b" not in str(caught.value)


@pytest.mark.parametrize("name", ["../x", "", ".", "..", "a/../..", "/tmp/x"])
def test_a_lesson_never_logs_outside_of_logs(name):
    before = set(ROOT.parent.iterdir())
    with pytest.raises(ValueError, match="leads out of logs"):
        lesson.begin(name)
    assert set(ROOT.parent.iterdir()) == before
