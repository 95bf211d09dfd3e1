"""Runs a ported program under `tf1 watch` with limits, and reports the result."""

import contextlib
import difflib
import os
import re
import resource
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import IO, NamedTuple

from tf1tools.port.outcome.report import by_hand
from tf1tools.port.outcome.work import Work

SECONDS, MEMORY, DISK = 120, 16 << 30, 2 << 30
_TF1 = Path(__file__).parents[3] / "tf1.py"
_WITHOUT_NETWORK = (("unshare", "-n"), ("unshare", "-rn"))
# Enables the loopback interface for local clusters, then becomes the program.
_LOOPBACK = """if True:
    import contextlib, os, subprocess, sys
    with contextlib.suppress(OSError):
        subprocess.run(["ip", "link", "set", "lo", "up"], stderr=subprocess.DEVNULL)
    os.execv(sys.argv[1], sys.argv[1:])
"""
_FRAME = re.compile(r'^  File "(.+)", line (\d+)', re.M)
_BUILT = re.compile(r"Original stack trace|Detected at node|^Node:", re.M)
_ANSWER = "tf1 watch: The error to look at is "
_TOO_OLD = "tf1 watch: The program is too old"
_OFFLINE = re.compile(r"name resolution|Name or service not known|nodename nor servname"
                      r"|Network is unreachable|NameResolutionError|URL fetch failure")


class Ended(NamedTuple):
    """Result of a trial run.

    Attributes:
      ran: Whether the program ended by itself and without an error.
      words: Text that says what happened and what to do.
    """

    ran: bool
    words: str


def script_of(command: str) -> list[str]:
    """Returns the script and arguments of a `python` command, or []."""
    try:
        words = shlex.split(command)
    except ValueError:  # a quotation mark without another
        return []
    if words and re.fullmatch(r"python[\d.]*", Path(words[0]).name):
        words = words[1:]
    return words if words and words[0].endswith(".py") else []


def tried(out: Path, script: list[str], work: Work, seconds: float = SECONDS) -> Ended:
    """Runs a script in the folder of the copy, with limits on its resources.

    Args:
      out: Folder of the copy.
      script: Path of the script in this folder, followed by its arguments.
      work: Results of the rules for the original.
      seconds: Time after which the program is killed.
    """
    tf1 = [str(_TF1)] if _TF1.is_file() else ["-m", "tf1tools"]
    network = next((list(words) for words in _WITHOUT_NETWORK if _works(words)), [])
    command = [*network, *[sys.executable, "-c", _LOOPBACK] * bool(network),
               sys.executable, *tf1, "watch", *script]
    start, before = time.monotonic(), _size(out)
    with tempfile.TemporaryFile("w+", errors="replace") as said, \
            tempfile.TemporaryFile("w+", errors="replace", newline="") as printed:
        process = subprocess.Popen(
            command, cwd=out, stdin=subprocess.DEVNULL, stdout=printed,
            stderr=said, start_new_session=True, preexec_fn=_limit,
            env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "2", "MPLBACKEND": "Agg",
                 "PYTHONUNBUFFERED": "1"})  # else a killed program loses its output
        why = ""
        try:
            while process.poll() is None and not why:
                time.sleep(0.2)
                if time.monotonic() - start > seconds:
                    why = f"was still running after {seconds:g} seconds and was stopped"
                elif _size(out) - before > DISK:
                    why = f"wrote more than {DISK >> 20} MiB, so it was stopped"
        finally:
            _end(process)
        said.seek(0)
        text, output = said.read(), _end_of(printed)
    where = "without a network" if network else (
        "with a network, which cannot be disabled")
    head = f"tried {shlex.join(script)} ({where}): it "
    if process.returncode == 0 and not why:
        return Ended(True, "\n".join([
            f"{head}ran, in {time.monotonic() - start:.0f} s", *output]))
    where = [] if why else _where(text, out, work)
    return Ended(False, "\n".join(filter(None, [
        head + (why or _code(process.returncode)), *output, *where,
        _offline(script) if network and not why and _OFFLINE.search(text) else
        _answer(text, stopped=bool(why), left=len(where) > 1)])))


def _end_of(printed: IO[str], lines: int = 3) -> list[str]:
    """Returns the last lines that a program printed, without control characters."""
    printed.seek(0, os.SEEK_END)
    printed.seek(max(0, printed.tell() - (1 << 16)))
    found = [line.rpartition("\r")[2] for line in re.split(  # as a terminal shows it
        r"\r?\n", printed.read().rstrip()) if line.strip()]
    return ["it printed last:"] * bool(found) + [
        "  " + "".join(c if c.isprintable() or c == "\t" else "?" for c in line)[:160]
        for line in found[-lines:]]


def _offline(script: list[str]) -> str:
    return ("The program wants to download something, and --try runs it without a "
            "network. Put the data\nwhere the program looks for it, or start it once "
            f"with a network: tf1 watch {shlex.join(script)}")


def _works(words: tuple[str, ...]) -> bool:
    try:
        return subprocess.run([*words, "true"], capture_output=True).returncode == 0
    except OSError:
        return False


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (DISK, DISK))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _size(folder: Path) -> int:
    """Returns the total size of the files in a folder, in bytes."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):  # the file was removed meanwhile
                total += os.lstat(os.path.join(place, name)).st_size
    return total


def _end(process: subprocess.Popen) -> None:
    """Kills a process together with all processes that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _code(code: int) -> str:
    return f"failed (exit code {code})" if code > 0 else \
        f"was killed by {signal.Signals(-code).name}"


def _where(text: str, out: Path, work: Work) -> list[str]:
    """Returns the failing line of the copy, and the rules that left it unchanged."""
    root = out.resolve()
    raised = _BUILT.split(text)[0]  # without the traceback of the op
    frames = [(Path(name), int(line)) for name, line in _FRAME.findall(raised)
              if Path(name).resolve().is_relative_to(root)]
    if not frames:
        return []
    path, line = frames[-1][0].resolve(), frames[-1][1]
    name = path.relative_to(root)
    one = next((one for file, one in work.outcomes.items()
                if file.path.relative_to(work.project.root) == name), None)
    words = [f"{name}, line {line}: "
             + path.read_text(errors="replace").split("\n")[line - 1].strip()]
    before = _line_before(line, one) if one else 0
    return words + [f"  a rule has left this line: {by_hand(*found)}"
                    for found in (one.left if one else ())
                    if found.thing.line == before]


def _line_before(line: int, one) -> int:
    """Returns the original line number of a line in the copy."""
    old, new = ("\n".join(texts).split("\n") for texts in (
        [part.found for part in one.file.parts], one.texts))
    for kind, start, end, new_start, new_end in difflib.SequenceMatcher(
            None, old, new, autojunk=False).get_opcodes():
        if new_start < line <= new_end:
            moved = start + line - new_start
            return moved if kind == "equal" else min(moved, end)
    return 0


def _answer(text: str, *, stopped: bool, left: bool) -> str:
    """Returns the messages of `tf1 watch`, or the last lines of an error.

    Args:
      text: Standard error of the program.
      stopped: Whether it was stopped, so that there is no error.
      left: Whether a rule has left the line of the error. Its remark is the answer, so
        the general explanation of the error is left out.
    """
    found = text.rfind(_ANSWER)
    found = text.find("tf1 watch: ") if found < 0 else found
    if found < 0:
        last = text.strip().split("\n")[-1 if left else -5:]
        return "" if stopped else "\n".join(last)
    lines = text[found:].strip().split("\n")
    ported = [line for line in lines if not line.startswith(_TOO_OLD)]
    if left:
        return lines[0]
    return "\n".join(ported + ["No rule of port has changed or left this line."] * (
        len(ported) < len(lines)))
