"""What tests share: a quiet TensorFlow, and a real browser where there is one."""

import shutil
import signal

import pytest

from helpers import lesson

lesson.begin("tests")

# A shell that starts the tests in the background has them ignore Ctrl-C, and so would
# every process that they start, those whose Ctrl-C is tested included.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args):
    """Playwright drives the system's browser; without one, its tests skip."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip("no browser here (Debian: apt-get install chromium)")
    quiet = [
        "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
        "--disable-background-networking", "--disable-component-update",
        "--disable-sync",
    ]
    return {**browser_type_launch_args, "executable_path": found, "args": quiet}
