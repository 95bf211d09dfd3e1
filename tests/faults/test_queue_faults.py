"""What breaks a queue pipeline, done on purpose: each run ends, and says why."""

import math
import os
import signal
import threading
import time

import pytest
import tensorflow as tf
import tensorflow.compat.v1 as tf1
from jupyter_client.manager import start_new_kernel
from pipelines import numbers, started

from helpers.errors import PipelineStalled
from helpers.files import ROOT
from helpers.queues import running_queues

pytestmark = pytest.mark.usefixtures("no_thread_left")

BAD = 7


def guarded(session, fetches):
    with session, running_queues(session, stall=0.5) as runner:
        return [values.tolist() for values in runner.steps(fetches)]


def test_not_initialised():
    graph, value = numbers(epochs=1)
    with pytest.raises(RuntimeError, match=r"run tf1.local_variables_initializer\(\)"):
        guarded(tf1.Session(graph=graph), value)


def test_started_twice():
    graph, value = numbers(epochs=None)
    with started(graph) as session, running_queues(session) as runner:
        runner.run(value)
        with pytest.raises(RuntimeError, match="run already"), running_queues(session):
            pass
        runner.run(value)  # the first one goes on


@pytest.mark.parametrize("epochs", [None, 1])
def test_second_fit(epochs):
    graph, value = numbers(epochs=epochs)
    with started(graph) as session:
        with running_queues(session) as runner:
            steps = len(list(runner.steps(value, n=10)))
        with (
            pytest.raises(RuntimeError, match="build a new graph and session"),
            running_queues(session) as runner,
        ):
            list(runner.steps(value, n=10))
    assert steps == 10


@pytest.mark.parametrize(("epochs", "threads"), [(None, 1), (1, 5)])
def test_reader_error(epochs, threads):
    graph, value = numbers(epochs=epochs, bad=BAD, threads=threads)
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        guarded(started(graph), value)
    assert str(caught.value) == (
        "a thread that fills queue 'batch/fifo_queue' failed: "
        f"assertion failed: [bad item] [{BAD}]"
    )
    assert isinstance(caught.value.__cause__, tf.errors.InvalidArgumentError)


def test_reader_that_reads_nothing_for_ever(tmp_path):
    (tmp_path / "empty.tfrecords").touch()
    with tf.Graph().as_default() as graph:
        names = tf1.train.string_input_producer([str(tmp_path / "empty.tfrecords")])
        _, record = tf1.TFRecordReader().read(names)
        value = tf1.train.batch([record], 2)
    with pytest.raises(PipelineStalled, match="empty files with num_epochs=None"):
        guarded(started(graph), value)


def test_consumer_error_goes_before_reader_error():
    graph, value = numbers(epochs=None, bad=BAD)
    mine = ValueError("mine")
    with (
        started(graph) as session,
        pytest.raises(ValueError, match="mine") as caught,
        running_queues(session) as runner,
    ):
        runner.coord.wait_for_stop(5)
        raise mine
    assert caught.value is mine


def press_ctrl_c():
    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)


@pytest.mark.skipif(os.name == "nt", reason="sends POSIX signals")
@pytest.mark.parametrize(
    ("ended_by", "presses", "grace"),
    [(PipelineStalled, 0, 0.3), (KeyboardInterrupt, 1, 0.3),
     (KeyboardInterrupt, 2, 99)],
)
def test_a_step_that_waits_for_no_queue_is_left(ended_by, presses, grace):
    release, left = threading.Event(), []
    with tf.Graph().as_default() as graph:
        stuck = tf1.py_func(lambda: left.append(release.wait(30)) or 1.0, [],
                            tf.float64)
    with (
        pytest.raises(ended_by, match="its variables are lost"),
        tf1.Session(graph=graph) as session,
        running_queues(session, stall=1, grace=grace) as runner,
    ):
        for press in range(presses):
            threading.Timer(0.5 + 2 * press, press_ctrl_c).start()
        runner.run(stuck)
    assert not left  # the step is in it still
    release.set()


@pytest.mark.parametrize("grace", [10, math.inf])
def test_a_slow_step_that_ends_in_time_loses_nothing(grace):
    with tf.Graph().as_default() as graph:
        weight = tf1.get_variable("weight", initializer=7.0)
        slow = tf1.py_func(lambda: time.sleep(1.5) or 1.0, [], tf.float64)
    with started(graph) as session:
        with (
            pytest.raises(PipelineStalled, match="step is slow .* or .* another graph"),
            running_queues(session, stall=0.3, grace=grace) as runner,
        ):
            runner.run(slow)
        assert session.run(weight) == 7.0


# --- the stop button: a real kernel, interrupted as JupyterLab does it ---

KERNEL_SETUP = """
from helpers import lesson; lesson.begin("tests")
import threading, time
import tensorflow as tf
import tensorflow.compat.v1 as tf1
from helpers.queues import running_queues
before = set(threading.enumerate())

with tf.Graph().as_default() as graph:
    [item] = tf1.train.slice_input_producer([tf.range(20)])
    value = tf1.train.batch([item], 2)
    dry = tf1.FIFOQueue(5, [tf.int32], shapes=[[]], name="dry").dequeue()

def fresh():
    session = tf1.Session(graph=graph)
    with graph.as_default():
        session.run(tf1.local_variables_initializer())
    return session
"""

BLOCKED = """
with fresh() as session, running_queues(session) as runner:
    runner.run(value)
    print("now", flush=True)
    runner.run(dry)
"""

LOOP = """
with fresh() as session, running_queues(session) as runner:
    runner.run(value)
    print("now", flush=True)
    for _ in runner.steps(value):
        pass
"""

JOIN = """
let_go = threading.Event()
with fresh() as session, running_queues(session, grace=200) as runner:
    thread = threading.Thread(target=let_go.wait, daemon=True)
    runner.coord.register_thread(thread)
    thread.start()
    print("now", flush=True)
"""


SETTLED = """
if "let_go" in globals():
    let_go.set()
new = set(threading.enumerate()) - before
for thread in new:
    thread.join(30)
assert not [thread for thread in new if thread.is_alive()]
"""


@pytest.fixture(scope="module")
def kernel():
    """A Jupyter kernel: what runs code in it, and what interrupts it."""
    environment = {k: v for k, v in os.environ.items() if "PYTEST" not in k}
    manager, client = start_new_kernel(240, "python3", cwd=str(ROOT), env=environment)

    def run(code, **options):
        done = client.execute_interactive(code, stop_on_error=False, **options)
        return done["content"]

    assert run(KERNEL_SETUP, timeout=240)["status"] == "ok"
    yield run, manager.interrupt_kernel
    client.stop_channels()
    manager.shutdown_kernel(now=True)


@pytest.mark.parametrize("code", [BLOCKED, LOOP, JOIN], ids=["blocked", "loop", "join"])
def test_the_stop_button_works(kernel, code):
    run, interrupt = kernel

    def press_soon(message):
        if "now" in message["content"].get("text", ""):
            threading.Timer(0.7, interrupt).start()

    reply = run(code, output_hook=press_soon, timeout=120)
    assert reply.get("ename") == "KeyboardInterrupt", reply
    settled = run(SETTLED, timeout=120)
    assert settled["status"] == "ok", settled
