"""What breaks a queue pipeline, done on purpose: guarded it ends, naive it does not.

Where the naive code of old tutorials hangs, it runs in a process of its own, and
the test asserts that the process has to be killed.
"""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest
import tensorflow as tf
import tensorflow.compat.v1 as tf1
from jupyter_client.manager import KernelManager

from helpers.errors import PipelineStalled
from helpers.files import ROOT
from helpers.queues import running_queues

pytestmark = pytest.mark.usefixtures("no_thread_left")

BAD = 7


def pipeline(*, epochs=None, bad=None, threads=1):
    """Returns a graph that counts to 20 in batches of 2; item `bad` cannot be read."""
    with tf.Graph().as_default() as graph:
        [item] = tf1.train.slice_input_producer(
            [tf.range(20)], num_epochs=epochs, shuffle=False
        )
        if bad is not None:
            readable = tf.debugging.Assert(tf.not_equal(item, bad), ["bad item", item])
            with tf.control_dependencies([readable]):
                item = tf.identity(item)
        value = tf1.train.batch(
            [item], 2, num_threads=threads, allow_smaller_final_batch=True
        )
    return graph, value


def initialise(session):
    with session.graph.as_default():
        session.run(tf1.global_variables_initializer())
        session.run(tf1.local_variables_initializer())


def guarded(graph, fetches, *, init=True, stall=0.5):
    with tf1.Session(graph=graph) as session:
        if init:
            initialise(session)
        with running_queues(session, stall=stall) as runner:
            return [values.tolist() for values in runner.steps(fetches)]


# --- naive code, in a process of its own ---

NAIVE_PIPELINE = """
from helpers import lesson; lesson.begin("tests")
import threading
import tensorflow as tf
import tensorflow.compat.v1 as tf1
with tf.Graph().as_default() as graph:
    [item] = tf1.train.slice_input_producer([tf.range(20)], shuffle=False)
    readable = tf.debugging.Assert(tf.not_equal(item, 7), ["bad item", item])
    with tf.control_dependencies([readable]):
        item = tf.identity(item)
    value = tf1.train.batch([item], 2)
    queue = tf1.FIFOQueue(5, [tf.int32], shapes=[[]])
    by_hand = tf1.train.QueueRunner(queue, [queue.enqueue(1)] * 2)
    taken = queue.dequeue()
session = tf1.Session(graph=graph)
print("ready", flush=True)
"""

NOT_STARTED = """
session.run(value)
"""

NO_COORDINATOR = """
with session.as_default(), graph.as_default():
    tf1.train.start_queue_runners(session)
for _ in range(20):
    session.run(value)
"""

NOT_DAEMON = """
coord = tf1.train.Coordinator()
threads = by_hand.create_threads(session, coord=coord, start=True)
session.run(taken)
raise ValueError("the training loop breaks")
"""


def naive(body):
    """Starts the naive pipeline, then a body, in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-c", NAIVE_PIPELINE + body],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=ROOT,
    )


@pytest.mark.naive
@pytest.mark.skipif(os.name == "nt", reason="sends POSIX signals")
def test_naive_code_hangs():
    bodies = {"start": NOT_STARTED, "coord": NO_COORDINATOR, "daemon": NOT_DAEMON}
    processes = {name: naive(body) for name, body in bodies.items()}
    try:
        for process in processes.values():
            assert process.stdout.readline() == "ready\n"
        time.sleep(1.5)
        assert [process.poll() for process in processes.values()] == [None] * 3
        for process in processes.values():
            process.send_signal(signal.SIGINT)
        time.sleep(1)
        assert processes["start"].poll() is None  # Ctrl-C is not even delivered
        assert processes["coord"].poll() is None
    finally:
        for process in processes.values():
            process.kill()
            process.communicate()


# --- the same faults, guarded ---


def test_not_started_because_built_elsewhere():
    graph, _ = pipeline()
    with graph.as_default():
        queue = tf1.FIFOQueue(5, [tf.int32], shapes=[[]], name="forgotten")
        value = queue.dequeue()
        queue.enqueue(3)
    with pytest.raises(PipelineStalled, match="'forgotten' starves: it has no runner"):
        guarded(graph, value)


def test_not_initialised():
    graph, value = pipeline(epochs=1)
    with pytest.raises(RuntimeError, match=r"run tf1.local_variables_initializer\(\)"):
        guarded(graph, value, init=False)


def test_started_twice():
    graph, value = pipeline()
    with tf1.Session(graph=graph) as session:
        initialise(session)
        with running_queues(session) as runner:
            runner.run(value)
            with (
                pytest.raises(RuntimeError, match="run already"),
                running_queues(session),
            ):
                pass
            runner.run(value)  # the first one goes on


def test_started_by_hand_before():
    graph, _ = pipeline()
    with tf1.Session(graph=graph) as session:
        initialise(session)
        coord = tf1.train.Coordinator()
        threads = tf1.train.start_queue_runners(session, coord)
        with (
            pytest.raises(RuntimeError, match="run already"),
            running_queues(session),
        ):
            pass
        assert tf1.train.start_queue_runners(session, tf1.train.Coordinator()) == []
        coord.request_stop()
        coord.join(threads)


@pytest.mark.parametrize("epochs", [None, 1])
def test_second_fit(epochs):
    graph, value = pipeline(epochs=epochs)
    with tf1.Session(graph=graph) as session:
        initialise(session)
        with running_queues(session) as runner:
            steps = len(list(runner.steps(value, n=10)))
        with (
            pytest.raises(RuntimeError, match="build a new graph and session"),
            running_queues(session) as runner,
        ):
            list(runner.steps(value, n=10))
    assert steps == 10


@pytest.mark.parametrize("epochs", [None, 1])
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_reader_error(epochs, threads):
    graph, value = pipeline(epochs=epochs, bad=BAD, threads=threads)
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        guarded(graph, value)
    assert str(caught.value) == (
        "a thread that fills queue 'batch/fifo_queue' failed: "
        f"assertion failed: [bad item] [{BAD}]"
    )
    assert isinstance(caught.value.__cause__, tf.errors.InvalidArgumentError)


@pytest.mark.naive
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_reader_error_naive_drops_a_record_in_silence():
    graph, value = pipeline(epochs=1, bad=BAD, threads=2)
    seen = []
    with tf1.Session(graph=graph) as session:
        initialise(session)
        tf1.train.start_queue_runners(session)
        try:
            for _ in range(9):
                seen += session.run(value).tolist()
        except tf.errors.OutOfRangeError:
            pytest.fail("the naive code noticed something")
    assert len(seen) == 18 and BAD not in seen


def test_reader_that_reads_nothing_for_ever(tmp_path):
    (tmp_path / "empty.tfrecords").touch()
    with tf.Graph().as_default() as graph:
        names = tf1.train.string_input_producer([str(tmp_path / "empty.tfrecords")])
        _, record = tf1.TFRecordReader().read(names)
        value = tf1.train.batch([record], 2)
    with pytest.raises(PipelineStalled, match="empty files with num_epochs=None"):
        guarded(graph, value)


def test_stall_in_the_middle():
    with tf.Graph().as_default() as graph:
        queue = tf1.FIFOQueue(5, [tf.int32], shapes=[[]], name="dry")
        value = queue.dequeue()
        tap = tf1.FIFOQueue(5, [tf.int32], shapes=[[]], name="tap")
        fill = tap.enqueue_many([tf.range(3)])
        runner = tf1.train.QueueRunner(queue, [queue.enqueue(tap.dequeue())])
        tf1.train.add_queue_runner(runner)
    seen = []
    with tf1.Session(graph=graph) as session:
        session.run(fill)
        with (
            pytest.raises(PipelineStalled, match="'tap' starves: it has no runner"),
            running_queues(session, stall=0.5) as runner,
        ):
            for one in runner.steps(value):
                seen.append(int(one))
    assert seen == [0, 1, 2]


def test_consumer_error():
    graph, value = pipeline()
    with tf1.Session(graph=graph) as session:
        initialise(session)
        with (
            pytest.raises(ZeroDivisionError),
            running_queues(session) as runner,
        ):
            for batch in runner.steps(value):
                batch.sum() / (batch[0].item() - 4) if batch[0] != 4 else 1 / 0


def test_consumer_error_goes_before_reader_error():
    graph, value = pipeline(bad=BAD)
    with tf1.Session(graph=graph) as session:
        initialise(session)
        with (
            pytest.raises(ValueError, match="mine"),
            running_queues(session) as runner,
        ):
            runner.coord.wait_for_stop(5)
            raise ValueError("mine")


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


def test_a_slow_step_that_ends_in_time_loses_nothing():
    with tf.Graph().as_default() as graph:
        weight = tf1.get_variable("weight", initializer=7.0)
        slow = tf1.py_func(lambda: time.sleep(1.5) or 1.0, [], tf.float64)
    with tf1.Session(graph=graph) as session:
        initialise(session)
        with (
            pytest.raises(PipelineStalled, match="step is slow .* or .* another graph"),
            running_queues(session, stall=0.3) as runner,
        ):
            runner.run(slow)
        assert session.run(weight) == 7.0


@pytest.mark.parametrize("step_after", [False, True])
def test_session_closed_early(step_after):
    graph, value = pipeline()
    session = tf1.Session(graph=graph)
    initialise(session)
    with (
        pytest.raises(RuntimeError, match="leave the running_queues block first"),
        running_queues(session) as runner,
    ):
        runner.run(value)
        session.close()
        if step_after:
            runner.run(value)


def test_session_closed_before():
    graph, _ = pipeline()
    session = tf1.Session(graph=graph)
    session.close()
    with (
        pytest.raises(RuntimeError, match="the session is closed"),
        running_queues(session),
    ):
        pass


@pytest.mark.skipif(os.name == "nt", reason="sends POSIX signals")
def test_the_process_ends_after_an_error():
    process = naive(
        "from helpers.queues import running_queues\n"
        "with running_queues(session) as runner:\n"
        "    runner.coord.wait_for_stop(0.2)\n"
        "    raise ValueError\n"
    )
    assert process.communicate()[0] == "ready\n"
    assert process.returncode == 1


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

NAIVE_BLOCKED = """
with fresh() as session:
    print("now", flush=True)
    session.run(dry)
"""


class Kernel:
    """A Jupyter kernel that runs code and can be interrupted."""

    def __init__(self):
        self.manager = KernelManager(kernel_name="python3")
        environment = {k: v for k, v in os.environ.items() if "PYTEST" not in k}
        self.manager.start_kernel(cwd=str(ROOT), env=environment)
        self.client = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(60)
        self.reply = self.run(KERNEL_SETUP)

    def run(self, code, *, interrupt=False, limit=60):
        """Runs code; with `interrupt`, stops it when it prints, within `limit`."""
        printed = threading.Event()
        code = textwrap.dedent(code)
        message = self.client.execute(code, stop_on_error=False)
        if interrupt:
            while not printed.is_set():
                got = self.client.get_iopub_msg(timeout=240)
                if "now" in got["content"].get("text", ""):
                    printed.set()
            time.sleep(0.7)
            self.manager.interrupt_kernel()
        deadline = time.monotonic() + limit
        while time.monotonic() < deadline:
            reply = self.client.get_shell_msg(timeout=deadline - time.monotonic())
            if reply["parent_header"].get("msg_id") == message:
                return reply["content"]

    def stop(self):
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)


@pytest.fixture(scope="module")
def kernel():
    kernel = Kernel()
    assert kernel.reply["status"] == "ok", kernel.reply
    yield kernel
    kernel.stop()


@pytest.mark.parametrize("code", [BLOCKED, LOOP, JOIN], ids=["blocked", "loop", "join"])
def test_the_stop_button_works(kernel, code):
    reply = kernel.run(code, interrupt=True, limit=30)
    assert reply.get("ename") == "KeyboardInterrupt", reply
    settled = kernel.run("""
        if "let_go" in globals():
            let_go.set()
        new = set(threading.enumerate()) - before
        for thread in new:
            thread.join(30)
        assert not [thread for thread in new if thread.is_alive()]
    """)
    assert settled["status"] == "ok", settled


@pytest.mark.naive
def test_the_stop_button_does_nothing_for_naive_code(kernel):
    """It stands last: the kernel hangs from here on, until it is killed."""
    with pytest.raises(Exception, match="^$"):  # queue.Empty: no reply came
        kernel.run(NAIVE_BLOCKED, interrupt=True, limit=30)
