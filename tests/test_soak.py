"""The soak in small: every kind of round, and that it sees what grows or fails."""

import ctypes
import itertools
import platform
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from helpers.files import ROOT
from tools import soak
from tools.soak_rounds import KINDS

ROUNDS = 32  # a quarter is not compared; eight are the first third, eight the last
MARGIN = soak.MARGINS.memory * soak.MIB
PAGE = 4000


@pytest.fixture(autouse=True)
def no_circles(monkeypatch):
    """A collection is slow beside TensorFlow; these rounds make no circles."""
    monkeypatch.setattr(soak.gc, "collect", lambda: 0)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_two_minutes_of_everything(tmp_path):
    picture = tmp_path / "soak.png"
    done = subprocess.run(
        [sys.executable, "-m", "tools.soak", "--minutes", "2", "--plot", picture],
        cwd=ROOT, capture_output=True, text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for kind in KINDS:
        assert re.search(rf"^ +\d+  {kind}$", done.stdout, re.MULTILINE)
    assert re.search(r"^ +\d+  rounds, 0 failed$", done.stdout, re.MULTILINE)
    assert picture.read_bytes().startswith(b"\x89PNG")


def leak_of_memory(held):
    held.append(bytearray(b"x" * (MARGIN // 3)))


def leak_of_threads(held):
    held.append(threading.Thread(target=threading.Event().wait, daemon=True))
    held[-1].start()


def leak_of_open_files(held):
    held.append(Path(__file__).open())  # noqa: SIM115 (it is to stay open)


def leak_of_child_processes(held):
    held.append(subprocess.Popen([sys.executable, "-c", "input()"],
                                 stdin=subprocess.PIPE))


LEAKS = [leak_of_memory, leak_of_threads, leak_of_open_files, leak_of_child_processes]


@pytest.mark.parametrize("leak", LEAKS)
def test_what_grows_is_seen(leak, tmp_path, capsys):
    held = []
    kinds = {"good": lambda *_: None, "leaks": lambda *_: leak(held)}
    try:
        report = soak.soak(kinds, tmp_path, 7, lambda rounds: rounds < ROUNDS)
        assert report.verdict() == 1
        name = leak.__name__.removeprefix("leak_of_").replace("_", " ")
        assert re.search(rf"^{name}.* grew from", capsys.readouterr().out, re.MULTILINE)
    finally:
        for thing in held:
            if isinstance(thing, subprocess.Popen):
                thing.communicate()
            elif not isinstance(thing, (threading.Thread, bytearray)):
                thing.close()


def test_files_that_stay_are_seen(tmp_path, capsys):
    def leave(folder, chance):
        for _ in range(2):
            (folder / str(chance.random())).touch()

    report = soak.soak({"leaves": leave}, tmp_path, 7, lambda rounds: rounds < ROUNDS)
    assert report.verdict() == 1
    assert "temporary files grew from" in capsys.readouterr().out


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="asks glibc's allocator")
def test_memory_that_the_allocator_keeps_is_no_leak(tmp_path, capsys):
    libc = ctypes.CDLL(None)
    libc.malloc.restype = ctypes.c_void_p
    libc.malloc.argtypes, libc.free.argtypes = [ctypes.c_size_t], [ctypes.c_void_p]
    rounds, on_top = itertools.count(1), []

    def keep(*_):
        if next(rounds) != ROUNDS // 2:
            return
        pages = [libc.malloc(PAGE) for _ in range(4 * MARGIN // PAGE)]
        for page in pages:
            ctypes.memset(page, 1, PAGE)
        on_top.append(libc.malloc(PAGE))  # what lies below it stays in the process
        for page in pages:
            libc.free(page)

    report = soak.soak({"keeps": keep}, tmp_path, 7, lambda n: n < ROUNDS)
    libc.free(on_top[0])
    assert report.verdict() == 0, capsys.readouterr().out


def test_what_comes_and_goes_is_no_leak(tmp_path):
    """Memory that most of the later rounds use, and not all, is not kept."""
    held, rounds = [], itertools.count(1)

    def come_and_go(*_):
        number = next(rounds)
        comes = number > ROUNDS // 2 and number % 4
        held[:] = [bytearray(b"x" * (2 * MARGIN))] if comes else []

    report = soak.soak({"comes": come_and_go}, tmp_path, 7, lambda n: n < ROUNDS)
    assert report.verdict() == 0


def test_a_round_that_fails_is_named_and_the_rest_goes_on(tmp_path, capsys):
    def fail(folder, chance):
        raise LookupError("nothing there")

    kinds = {"fails": fail, "good": lambda *_: None}
    report = soak.soak(kinds, tmp_path, 7, lambda rounds: rounds < ROUNDS)
    assert report.verdict() == 1
    assert report.kinds == {"fails": ROUNDS // 2, "good": ROUNDS // 2}
    printed = capsys.readouterr().out
    assert f"{ROUNDS}  rounds, {ROUNDS // 2} failed" in printed
    assert "fails: LookupError: nothing there" in printed


def test_nothing_that_grows(tmp_path, capsys):
    report = soak.soak({"good": lambda *_: None}, tmp_path, 7, lambda n: n < ROUNDS)
    assert report.verdict() == 0
    assert capsys.readouterr().out.endswith("nothing grows\n")


def test_ctrl_c_ends_it_with_the_same_summary(tmp_path, capsys):
    def interrupt(folder, chance):
        if len(list(folder.iterdir())) == 3:
            raise KeyboardInterrupt
        (folder / str(time.monotonic_ns())).touch()

    report = soak.soak({"work": interrupt}, tmp_path, 7, lambda rounds: True)
    assert report.verdict() == 0
    printed = capsys.readouterr().out
    assert "stopped by Ctrl-C" in printed
    assert "3  rounds, 0 failed" in printed
    assert "too few rounds to tell" in printed
