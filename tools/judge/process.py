"""A process for one answer, with limits, that always ends.

A server imports TensorFlow once; each answer gets a copy of it, made by `fork`.
"""

import contextlib
import json
import multiprocessing
import os
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from tools.judge.trial import run

TICK = 0.2
MESSAGE = 1 << 16  # bytes of a verdict, at most
RESULTS = ("solved", "not solved", "not tried", "error", "syntax error", "ended itself",
           "tampered", "not graded")
_TAMPERED = {"result": "tampered", "says": "it wrote where its verdict is written"}
DISK = 10**9  # bytes that an answer may leave in its folder


def prepare(modules: set[str]) -> None:
    """Has the server import what answers need, TensorFlow above all, once."""
    multiprocessing.get_context("forkserver").set_forkserver_preload(
        ["tools.judge.quiet", "tools.judge.trial", *sorted(modules)])


def judge(task: dict) -> dict:
    """Returns the verdict on one answer, and the seconds that it took.

    Args:
      task: what `trial.try_answer` takes, and the limits: `seconds` that it may
        compute, seconds by the `clock`, bytes of `memory`.
    """
    try:
        workplace = Path(tempfile.mkdtemp(prefix="answer-")).resolve()
    except OSError as error:  # this machine's disk is full, not the answer's fault
        return {"result": "not graded", "says": str(error)}
    context = multiprocessing.get_context("forkserver")
    way, end = context.Pipe(duplex=False)
    process = context.Process(target=run, args=(task, str(workplace), end), daemon=True)
    try:
        process.start()
        end.close()
        began = time.monotonic()
        verdict = _follow(process, way, workplace, began + task["clock"], task)
        return {**verdict, "seconds": time.monotonic() - began}
    finally:
        end_group(process)
        with contextlib.suppress(AssertionError):  # it did not start
            process.join()
        way.close()
        subprocess.run(["rm", "-rf", "--", workplace], check=False)  # at any depth


def end_group(process) -> None:
    """Ends the process of an answer with what it started."""
    with contextlib.suppress(OSError, TypeError):
        os.killpg(process.pid, signal.SIGKILL)


def _follow(process, way, workplace: Path, end: float, task: dict) -> dict:
    """Waits until an answer has a verdict, has ended, or has gone too far."""
    os.set_blocking(way.fileno(), False)  # what an answer writes may have no end
    said = b""
    while b"\n" not in said:
        if time.monotonic() > end:
            return {"result": "too long", "says": f"not done after {task['clock']:g} s"}
        if (kept := _bytes_in(workplace)) > DISK:
            return {"result": "too much on disk", "says": f"{kept / 1e9:.1f} GB"}
        if way.poll(TICK):
            said += (more := os.read(way.fileno(), 1 << 16))
            if not more:
                break
        if len(said) > MESSAGE:
            return _TAMPERED
    else:
        return _verdict(said.partition(b"\n")[0])
    process.join(TICK)
    code = process.exitcode
    if code == -signal.SIGXCPU:
        return {"result": "too long",
                "says": f"after computing for {task['seconds']:g} s"}
    return {"result": "ended itself", "says": "its process ended, before the check had "
            f"an answer (exit code {code})"}


def _verdict(line: bytes) -> dict:
    """Reads a verdict, which is never unpickled: it may be anything."""
    try:
        verdict = json.loads(line)
        result, says = verdict["result"], verdict["says"]
        more = {"held": int(verdict.get("held", 0)),
                "claim": str(verdict.get("claim", ""))[:200],
                "flag": bool(verdict.get("flag", True))}
    except (ValueError, TypeError, LookupError, AttributeError,
            OverflowError, RecursionError):
        return _TAMPERED
    known = result in RESULTS and isinstance(says, str)
    return {"result": result, "says": says[:1000], **more} if known else _TAMPERED


def _bytes_in(folder: Path) -> int:
    kept = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):  # it is gone by now
                kept += os.lstat(os.path.join(place, name)).st_size
    return kept
