"""Runs answers, each in a process of its own that always ends.

    python -m tools.grade.grader      # a task per line in, a verdict per line out: JSON

TensorFlow is imported once; each answer gets a copy of this process, made by `fork`.
"""

import contextlib
import fcntl
import importlib
import json
import os
import secrets
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

from tools.grade import fence
from tools.grade.trial import try_answer

OUTPUT = 4_000  # characters of what an answer prints that are kept
LARGEST_OUTPUT = 10**8  # bytes, after which it is ended
MARGIN = 1.25  # the system refuses memory first, where it can
TICK = 0.1
DISK, FILES = 10**9, 2_000  # bytes and files that an answer may leave in its folder
WAY_OUT = 64  # the lowest number that the way of the result may have


def judge(task: dict) -> dict:
    """Returns the verdict on one answer.

    Args:
      task: what `trial.try_answer` takes; and the limits: `seconds` that a thread of it
        may compute, seconds by the `clock`, bytes of `memory` of all its processes.
    """
    try:
        workplace = Path(tempfile.mkdtemp(prefix="answer-")).resolve()
    except OSError as error:  # this machine's disk is full, not the answer's fault
        return {"result": "not graded", "says": str(error)}
    task, nonce = {**task, "workplace": str(workplace)}, secrets.token_hex(16)
    said_read, said_write = os.pipe()
    result_read, result_write = os.pipe()
    began = time.monotonic()
    try:
        child = os.fork()
        if child == 0:
            _be_the_child(task, nonce, said_write, result_write)
        os.close(said_write)
        os.close(result_write)
        watch = _Watch(child, {**task, "nonce": nonce}, said_read, result_read, began)
        return {**watch.follow(), "seconds": time.monotonic() - began}
    finally:
        _end_all()
        os.close(said_read)
        os.close(result_read)
        subprocess.run(["rm", "-rf", "--", workplace], check=False)  # at any depth


def _be_the_child(task: dict, nonce: str, said: int, result: int) -> None:
    """Never returns. Nothing of the parent stays open but the way for the result."""
    code, dumps = 70, json.dumps  # before the answer can replace it
    try:
        os.setsid()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        result = fcntl.fcntl(result, fcntl.F_DUPFD, WAY_OUT)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.dup2(said, 1)
        os.dup2(said, 2)
        os.closerange(3, result)
        os.closerange(result + 1, 4096)
        try:
            verdict = try_answer(task)
        except BaseException as error:  # ours, not the answer's
            says = f"{type(error).__name__}: {error}"
            verdict = {"result": "not graded", "says": says}
        verdict["nonce"] = nonce
        sys.stdout.flush()
        with os.fdopen(result, "w") as way:
            way.write(dumps(verdict) + "\n")
        code = 0
    finally:
        os._exit(code)


class _Watch:
    """Follows one child until it has answered, ended or gone too far."""

    def __init__(self, child, task, said, result, began):
        self.child, self.task, self.began = child, task, began
        self.said, self.result = said, result
        self.kept, self.printed, self.answer = b"", 0, b""

    def follow(self) -> dict:
        with selectors.DefaultSelector() as ready:
            ready.register(self.said, selectors.EVENT_READ)
            ready.register(self.result, selectors.EVENT_READ)
            looked = 0.0
            while True:
                for key, _ in ready.select(TICK):
                    self._read(ready, key.fd)
                verdict = self._verdict()
                if not verdict and time.monotonic() - looked > TICK:
                    looked = time.monotonic()
                    verdict = self._gone_too_far()
                if verdict:
                    break
        for _ in range(64):  # what is in the pipe, which a rest of it may yet fill
            with contextlib.suppress(OSError):
                os.set_blocking(self.said, False)
                self._keep(os.read(self.said, 1 << 16))
        text = self.kept[: 4 * OUTPUT].decode("utf-8", "replace")
        return {"note": "", **verdict, "output": text[:OUTPUT],
                "printed": self.printed}

    def _read(self, ready, descriptor: int) -> None:
        block = os.read(descriptor, 1 << 16)
        if not block:
            ready.unregister(descriptor)
        elif descriptor == self.said:
            self._keep(block)
        elif len(self.answer) < 1 << 20:
            self.answer += block

    def _keep(self, block: bytes) -> None:
        self.printed += len(block)
        self.kept += block[: max(0, 4 * OUTPUT - len(self.kept))]

    def _verdict(self) -> dict | None:
        for line in self.answer.split(b"\n")[:-1]:
            with contextlib.suppress(ValueError):
                found = json.loads(line)
                if isinstance(found, dict) and \
                        found.pop("nonce", "") == self.task["nonce"]:
                    return found
        pid, status = os.waitpid(self.child, os.WNOHANG)
        if not pid:
            return None
        code = os.waitstatus_to_exitcode(status)
        if code == -signal.SIGXCPU:
            return {"result": "too long", "says": "it used up its time"}
        how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
        return {"result": "ended itself", "says": f"its process ended {how}, before "
                "the check had an answer"}

    def _gone_too_far(self) -> dict | None:
        if self.printed > LARGEST_OUTPUT:
            return {"result": "too much output",
                    "says": f"over {LARGEST_OUTPUT / 1e6:.0f} MB"}
        if time.monotonic() - self.began > self.task["clock"]:
            return {"result": "too long",
                    "says": f"not done after {self.task['clock']:g} s"}
        files, kept = _disk(self.task["workplace"])
        if kept > DISK or files > FILES:
            return {"result": "too much on disk",
                    "says": f"{files:,} files, {kept / 1e9:.1f} GB"}
        family = psutil.Process().children(recursive=True)
        if len(family) > fence.PROCESSES:
            return {"result": "too many processes", "says": f"{len(family)} at once"}
        memory = computed = 0
        for process in family:
            with contextlib.suppress(psutil.Error):
                # Each began with what it shares with this process.
                memory += max(0, process.memory_info().rss - self.task["own"])
                times = [one.user_time + one.system_time for one in process.threads()]
                computed = max([computed, *times])
        if memory > MARGIN * self.task["memory"]:
            return {"result": "too much memory", "says": f"{memory / 1e9:.1f} GB"}
        if computed > self.task["seconds"]:  # a busy machine costs no answer its time
            return {"result": "too long",
                    "says": f"not done after computing for {self.task['seconds']:g} s"}
        return None


def _disk(folder: str) -> tuple[int, int]:
    """Returns how many files lie below a folder, and how many bytes they take."""
    files = kept = 0
    folders = [folder]
    while folders and files <= FILES:
        with contextlib.suppress(OSError), os.scandir(folders.pop()) as entries:
            for entry in entries:
                files += 1
                kept += 512 * entry.stat(follow_symlinks=False).st_blocks
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
    return files, kept


def _end_all() -> None:
    """Ends every process below this one, whatever session it moved to."""
    end = time.monotonic() + 30
    while time.monotonic() < end:
        family = psutil.Process().children(recursive=True)
        for stop in (signal.SIGSTOP, signal.SIGKILL):  # who is stopped starts no more
            for process in family:
                with contextlib.suppress(psutil.Error):
                    process.send_signal(stop)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        if not family:
            return


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who started it decides
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())  # after what `finally` ends
    fence.keep_orphans()
    way, own = os.dup(1), psutil.Process().memory_info().rss
    os.dup2(2, 1)  # what an import prints is no verdict
    for line in sys.stdin:
        task = json.loads(line)
        importlib.import_module("helpers.lesson")
        importlib.import_module(task["module"])
        own = max(own, psutil.Process().memory_info().rss)
        verdict = judge({**task, "own": own})
        os.write(way, json.dumps(verdict).encode() + b"\n")


if __name__ == "__main__":
    main()
