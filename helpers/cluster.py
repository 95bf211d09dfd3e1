"""Local TensorFlow cluster whose processes always end with the `with` block.

    with Cluster(folder, {"ps": 1, "worker": 2}) as cluster:
        for job, index in cluster.tasks:
            cluster.start(job, index, "server.py")
        ...

Whatever happens in the block, no process and no listening port is left after it. This
holds even if the block's own process is killed, because every task watches its parent.
There is one exception: a process that a task moves to a session of its own, as daemons
do, is not stopped.

Taught in lesson 09a, "A cluster is a dictionary of addresses" (`connect_to`).
"""

import contextlib
import gc
import io
import json
import os
import re
import runpy
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from helpers.arguments import numbers, real, whole_number

GRACE = 3.0
_KILL = getattr(signal, "SIGKILL", None)
_POLL = 0.05
_NOISE = re.compile(r"^(WARNING: All log|[IWE]\d{4} |\d{4}-\d\d-\d\d \S+: [IWE] )")
# Maximum of a log to quote in an error: bytes, lines, characters per line.
_QUOTED_BYTES, _QUOTED_LINES, _QUOTED_WIDTH = 1 << 16, 8, 300


class WorkerDied(Exception):
    """Raised when a task fails on its own; the message quotes its last lines."""


class Task:
    """Process of a cluster, with its log file.

    Attributes:
      name: Name such as `"worker:1"`.
      process: The `subprocess.Popen` object.
      log: Path of the file that receives the output.
      stopped: Whether the cluster has stopped the process.
    """

    def __init__(self, name: str, process: subprocess.Popen, log: Path):
        self.name, self.process, self.log = name, process, log
        self.stopped = self._ended = False

    @property
    def running(self) -> bool:
        """Whether the process is alive.

        If it has ended, reading this property kills its child processes.
        """
        alive = self.process.poll() is None
        if not alive and not self._ended:
            self._ended = True
            _signal_group(self.process, _KILL)
        return alive

    @property
    def died(self) -> bool:
        """Whether the process failed on its own, and was not stopped by the cluster."""
        return not (self.running or self.stopped or self.process.returncode == 0)

    def lines(self) -> list[str]:
        """Returns the lines that the task has printed, without TensorFlow's log."""
        running = self.running
        text = self.log.read_text("utf-8", errors="replace")
        # A line without a line break may still be incomplete.
        return _worth_reading(text[: text.rfind("\n") + 1] if running else text)

    def last_lines(self) -> list[str]:
        """Returns the last lines of the task's output, for an error message."""
        with self.log.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _QUOTED_BYTES))
            text = file.read().decode("utf-8", errors="replace")
        return [line[:_QUOTED_WIDTH] for line in _worth_reading(text)[-_QUOTED_LINES:]]

    def kill(self) -> None:
        """Kills the process and all its children at once, as `kill -9` does."""
        self.stopped = True
        _signal_group(self.process, _KILL)
        self.process.wait()


class Cluster:
    """Context manager that runs the processes of a cluster on 127.0.0.1.

    The tasks communicate on 127.0.0.1. However, TensorFlow's servers listen on every
    address of the machine and ask for no password, so use a network that you trust.

    Attributes:
      addresses: Dictionary `{"worker": ["127.0.0.1:40001", ...], ...}`, as expected by
        `tf.train.ClusterSpec`.
      tasks: All pairs `(job, index)`, in order.
    """

    @numbers(seconds=real(0, above=True))
    def __init__(
        self,
        folder: str | os.PathLike,
        jobs: dict[str, int],
        *,
        seconds: float = 240.0,
    ):
        """Reserves a free port for each task until the block ends.

        Args:
          folder: Working folder of the tasks, which also receives the logs
            `<job>-<index>.log`. It is created if it does not exist. The logs are empty
            when the block begins.
          jobs: Number of tasks of each job.
          seconds: Time limit after which every process is killed, so that nothing
            hangs.
        """
        self.folder, self.seconds = Path(folder), seconds
        jobs = {job: whole_number(f"Cluster: {job}", count, 0, 1000)
                for job, count in jobs.items()}
        self.tasks = [(job, i) for job, count in jobs.items() for i in range(count)]
        self._started: list[Task] = []
        self._open = self._late = False
        self._sockets = [_reserved_socket() for _ in self.tasks]
        ports = iter(s.getsockname()[1] for s in self._sockets)
        self.addresses = {
            job: [f"127.0.0.1:{next(ports)}" for _ in range(count)]
            for job, count in jobs.items()
        }

    def __enter__(self) -> "Cluster":
        self.folder.mkdir(parents=True, exist_ok=True)
        for job, index in self.tasks:
            self._log(job, index).unlink(missing_ok=True)
        self._limit = threading.Timer(self.seconds, self._too_late)
        self._limit.daemon = True
        self._limit.start()
        self._open = True
        return self

    def __exit__(self, error_type, error, traceback) -> None:
        died = [task for task in self._started if task.died]
        self.stop()
        reported = isinstance(error, (WorkerDied, TimeoutError))
        if not reported and (error is None or isinstance(error, Exception)):
            self._complain(died, error)

    def start(
        self, job: str, index: int, program: str | os.PathLike, *arguments: object
    ) -> Task:
        """Starts a Python program as a task, with `TF_CONFIG` set for it.

        Args:
          job: Job of this cluster.
          index: Number of the task in the job. A task that has ended may be started
            again.
          program: Path of a Python file, absolute or relative to `folder`.
          *arguments: Command-line arguments.

        Returns:
          The running task.

        Raises:
          ValueError: If the cluster has no such task.
          RuntimeError: If the `with` block is not open, because nothing would stop the
            task.
        """
        name = f"{job}:{index}"
        if (job, index) not in self.tasks:
            tasks = ", ".join(f"{job}:{k}" for job, k in self.tasks)
            raise ValueError(f"Unknown task {name}. Choose one of {tasks}.")
        if not self._open:
            raise RuntimeError(
                f"Cannot start task {name} outside the cluster's with block. Start it "
                "inside the block, which stops it on exit."
            )
        log = self._log(job, index)
        with open(log, "ab") as output:
            process = subprocess.Popen(
                [sys.executable, "-m", "helpers.cluster", str(program),
                 *map(str, arguments)],
                stdin=subprocess.PIPE,  # closes if this process dies
                stdout=output, stderr=subprocess.STDOUT, cwd=self.folder,
                env=self._environment(job, index), start_new_session=True,
            )
        task = Task(name, process, log)
        self._started.append(task)
        return task

    def wait(self, *tasks: Task) -> None:
        """Waits until the given tasks have ended without an error.

        Raises:
          WorkerDied: If any task of the cluster failed.
          TimeoutError: If the cluster's time limit is exceeded.
        """
        self.wait_for(lambda: not any(task.running for task in tasks))

    def wait_for(self, condition: Callable[[], bool]) -> None:
        """Waits until `condition()` is true, or until a task fails.

        Args:
          condition: Function that is called twenty times per second.

        Raises:
          WorkerDied, TimeoutError: As in `wait`.
        """
        while not condition():
            self._complain([task for task in self._started if task.died])
            time.sleep(_POLL)
        self._complain([task for task in self._started if task.died])

    def stop(self) -> None:
        """Stops all processes and releases the ports. Repeated calls are harmless."""
        self._open = False
        self._limit.cancel()
        try:
            running = [task for task in self._started if task.running]
            for task in running:
                task.stopped = True
                _signal_group(task.process, signal.SIGTERM)
            end = time.monotonic() + GRACE
            while any(task.running for task in running) and time.monotonic() < end:
                time.sleep(_POLL)
        finally:  # even if Ctrl-C interrupts the lines above
            for task in self._started:
                if task.running:
                    task.kill()
                if task.process.stdin:
                    task.process.stdin.close()
            for reserved in self._sockets:
                reserved.close()

    def _log(self, job: str, index: int) -> Path:
        return self.folder / f"{job}-{index}.log"

    def _environment(self, job: str, index: int) -> dict[str, str]:
        config = {"cluster": self.addresses, "task": {"type": job, "index": index}}
        # A notebook's kernel asks for colours, and Python 3.13 then colours tracebacks.
        inherited = {k: v for k, v in os.environ.items()
                     if k not in ("FORCE_COLOR", "CLICOLOR_FORCE")}
        # TensorFlow runs as many ops at a time as there are cores. With one at a time,
        # the coordinator of lesson 09a never ended.
        inherited.setdefault("TF_NUM_INTEROP_THREADS", str(max(4, os.cpu_count() or 1)))
        return dict(
            inherited, TF_CONFIG=json.dumps(config), PYTHONUTF8="1",
            TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="", PYTHON_COLORS="0",
        )

    def _too_late(self) -> None:
        self._late, self._open = True, False
        for task in list(self._started):
            if task.running:
                task.kill()

    def _complain(self, died: list[Task], cause: BaseException | None = None) -> None:
        """Raises `TimeoutError` or `WorkerDied` if the cluster has failed."""
        if self._late:
            raise TimeoutError(
                f"The cluster was stopped after its limit of {self.seconds:g} s. "
                + ", ".join(f"Task {task.name} printed {task.last_lines()[-1:]}"
                            for task in self._started)
            ) from cause
        for task in died:
            *before, last = task.last_lines() or ["it printed nothing"]
            raise WorkerDied("\n  ".join([
                f"{task.name} ended with code {task.process.returncode}: {last}",
                *before,
            ])) from cause


def two_free_ports() -> int:
    """Returns the first of two neighbouring ports that are free at the moment.

    Taught in lesson 09b, 'A batch file, run by a stand-in'.
    """
    while True:
        with socket.socket() as first, socket.socket() as second:
            first.bind(("", 0))
            port = first.getsockname()[1]
            try:
                second.bind(("", port + 1))
                return port
            except (OSError, OverflowError):  # taken, or beyond the last port
                continue


def _reserved_socket() -> socket.socket:
    """Binds a free port without listening, to reserve it for a task.

    The operating system does not give a bound port to other programs that ask for a
    free one. TensorFlow's server can still bind it, because both sockets allow reuse.
    """
    reserved = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    for option in ("SO_REUSEADDR", "SO_REUSEPORT"):
        if hasattr(socket, option):
            reserved.setsockopt(socket.SOL_SOCKET, getattr(socket, option), 1)
    reserved.bind(("", 0))
    return reserved


def _worth_reading(text: str) -> list[str]:
    """Returns the lines of a log that the task's own program has printed."""
    return [x for x in text.splitlines() if x.strip() and not _NOISE.match(x)]


def _signal_group(process: subprocess.Popen, number) -> None:
    """Sends a signal to a task and to its child processes."""
    if os.name == "nt":
        process.terminate()
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


def _end_with_parent() -> None:
    """Starts a thread that kills this process group when the parent dies."""
    def watch():
        # Not sys.stdin, because a blocked read would hold its lock at exit.
        while os.read(0, 1 << 10):
            pass
        if os.name != "nt":
            os.killpg(0, signal.SIGKILL)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


if __name__ == "__main__":
    sys.argv = sys.argv[1:]
    _end_with_parent()
    # Each line is one write, so warnings of other threads cannot split it.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True, write_through=False)
    # TensorFlow creates half a million permanent objects, so collect less often.
    gc.set_threshold(100_000, 50, 50)
    runpy.run_path(sys.argv[0], run_name="__main__")
