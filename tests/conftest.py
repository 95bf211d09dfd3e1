"""What tests share: a quiet TensorFlow, and a real browser where there is one."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path

import pytest
from tqdm import tqdm

from helpers import lesson
from helpers.files import ROOT
from tests.limits import LIMIT

lesson.begin("tests")
tqdm.monitor_interval = 0  # or a thread of its own stays, which tests would count

# A shell that starts the tests in the background has them ignore Ctrl-C, and so would
# every process that they start, those whose Ctrl-C is tested included.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# What hangs is ended, in whatever way pytest was started. A signal does not reach
# Python while it is in TensorFlow.
@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    if config.pluginmanager.hasplugin("timeout") and not config.getoption("timeout"):
        config.option.timeout, config.option.timeout_method = LIMIT + 300, "thread"


BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")


def pytest_collection_modifyitems(items):
    """Begins with the files that have slow tests: they would run alone in the end."""
    slow = [item for item in items if item.get_closest_marker("slow")]
    for item in slow:  # to measure what runs costs a third more
        item.add_marker("no_cover")
    paths = {item.path for item in slow}
    items.sort(key=lambda item: item.path not in paths)


def pytest_runtest_setup(item):
    if item.get_closest_marker("gpu"):
        import tensorflow as tf  # which `begin` has imported quietly

        if not tf.config.list_physical_devices("GPU"):
            pytest.skip("there is no GPU here")


@pytest.fixture
def data(tmp_path, monkeypatch) -> Path:
    """Lets the data folder be one of the test's own; no proxy is asked."""
    monkeypatch.setenv("HELPERS_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("NO_PROXY", "*")
    return tmp_path / "data"


@pytest.fixture
def no_thread_left():
    """After the test there are as many threads as before."""
    before = set(threading.enumerate())
    yield
    end = time.monotonic() + 5
    # Not `join`: Python 3.11 takes a thread for ended whose join Ctrl-C has left.
    while set(threading.enumerate()) - before and time.monotonic() < end:
        time.sleep(0.01)
    assert set(threading.enumerate()) <= before


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args):
    """Playwright drives the system's browser; without one, its tests skip."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip("no browser here (Debian: apt-get install chromium)")
    from playwright.sync_api import expect

    expect.set_options(timeout=1000 * LIMIT)
    quiet = [
        "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
        "--disable-background-networking", "--disable-component-update",
        "--disable-sync",
    ]
    return {**browser_type_launch_args, "executable_path": found, "args": quiet}


@pytest.fixture
def context(context):
    """A page waits as long as any test does."""
    context.set_default_timeout(1000 * LIMIT)
    return context


@pytest.fixture(scope="session")
def serve(tmp_path_factory):
    """Runs `course.py`, or another program, which serves; gives its address."""

    @contextlib.contextmanager
    def start(*arguments, ready="/", environment=(), program=("course.py",),
              log=None):
        log = log or tmp_path_factory.mktemp("serve") / "log.txt"
        inherited = {k: v for k, v in os.environ.items() if k != "PYTEST_CURRENT_TEST"}
        with log.open("w") as stream:
            process = subprocess.Popen(
                [sys.executable, *program, *arguments], cwd=ROOT,
                env={**inherited, **dict(environment)}, stdout=stream,
                stderr=subprocess.STDOUT, start_new_session=True,
            )
        try:
            yield _address(process, log, ready)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(3)
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(LIMIT)

    return start


def _address(process, log: Path, ready: str) -> str:
    """Returns the address that the server prints, once it answers at `ready`."""
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        found = re.search(r"http://127\.0\.0\.1:\d+", log.read_text())
        if found:
            with contextlib.suppress(OSError):
                urllib.request.urlopen(found[0] + ready, timeout=1)
                return found[0]
        assert process.poll() is None, log.read_text()
        time.sleep(0.5)
    raise AssertionError(log.read_text())
