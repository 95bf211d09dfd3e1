"""The soak in small: every kind of round, and that it sees what grows or fails."""

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

ROUNDS = 16  # a quarter is not compared; four are the first third, four the last


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
    held.append(bytearray(b"x" * (32 * soak.MIB)))


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


def test_a_round_that_fails_is_named_and_the_rest_goes_on(tmp_path, capsys):
    def fail(folder, chance):
        raise LookupError("nothing there")

    kinds = {"fails": fail, "good": lambda *_: None}
    report = soak.soak(kinds, tmp_path, 7, lambda rounds: rounds < ROUNDS)
    assert report.verdict() == 1
    assert report.kinds == {"fails": 8, "good": 8}
    printed = capsys.readouterr().out
    assert "16  rounds, 8 failed" in printed
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
