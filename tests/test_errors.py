"""docs/errors.md: each message is raised by the code under it."""

import re
import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.files import ROOT
from tools import messages

ENTRIES = messages.entries()
each_entry = pytest.mark.parametrize("entry", ENTRIES, ids=lambda e: e.pattern[:60])


def run(code):
    """Runs code of the page as the page says."""
    names = {"tf": tf, "tf1": tf1, "np": np}
    if not re.search(r"\bsess\b", code):
        exec(code, names)
        return
    with tf.Graph().as_default(), tf1.Session() as names["sess"]:
        exec(code, names)


@each_entry
def test_a_message_is_raised_by_its_code_and_by_no_other(entry, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Exception) as caught:
        run(entry.raises)
    kind, _, words = entry.pattern.partition(": ")
    assert caught.type.__name__ == kind, caught.value
    assert entry.fits(str(caught.value)), str(caught.value)[:300]
    assert messages.look_up(str(caught.value))[0][0] == entry
    run(entry.works)


def test_each_entry_names_its_fix_and_a_sitting_that_is_there():
    for entry in ENTRIES:
        assert "**Fix:**" in entry.text, entry.pattern
        [lesson] = re.findall(r"Sitting: \[\w+\]\(\.\./(.+?)\)\.$", entry.text)
        assert (ROOT / lesson).exists(), lesson
    headings = messages.PAGE.read_text("utf-8").count("\n### ")
    assert len(ENTRIES) == headings >= 50


@pytest.mark.parametrize(("message", "code", "words"), [
    ("tensorflow.python.framework.errors_impl.InvalidArgumentError: You must feed a "
     "value for placeholder tensor 'x' with dtype float\n\t [[{{node x}}]]", 0,
     "Fix: feed it in this call too"),
    ("Fetch argument 1.5 has invalid type <class 'numpy.float32'>, must be a string or "
     "Tensor.", 0, "The nearest:\n  TypeError: Argument 'fetch'"),
    ("out of cheese", 1, "near this one")])
def test_the_doctor_finds_a_pasted_message_without_any_package(message, code, words):
    done = subprocess.run(
        [sys.executable, "-I", "-S", ROOT / "tools" / "doctor.py", message],
        capture_output=True, text=True, timeout=240)
    assert done.returncode == code and words in done.stdout, done.stdout + done.stderr
