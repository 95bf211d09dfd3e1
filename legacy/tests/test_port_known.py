"""`port` reads names from a table: nothing need be installed, and the table is true."""

import json
import subprocess
import sys

import pytest
from absl import flags
from makers import known as table
from ported import copies

from helpers.files import ROOT
from helpers.tf1_names import VERDICTS
from tests.limits import LIMIT
from tf1tools.port import rule
from tf1tools.port.names import fates
from tf1tools.port.rules.running import flags_absl

# -S leaves out every installed package; what is imported is printed at the end.
ALONE = """
import json, sys
sys.path.insert(0, sys.argv.pop(1))
from tf1tools.port.command import main
code = main(sys.argv[1:])
ours = ("tf1tools",)
print(json.dumps([code, sorted({name.partition(".")[0] for name in sys.modules}
                               - sys.stdlib_module_names - {"__main__", *ours})]))
"""


def alone(*arguments):
    """Returns exit code, foreign modules and output of `port` in a bare Python."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", ALONE, ROOT / "legacy",
         *map(str, arguments)],
        capture_output=True, text=True, timeout=LIMIT)
    assert done.returncode == 0, done.stderr
    *said, last = done.stdout.strip().split("\n")
    return *json.loads(last), "\n".join(said)


@pytest.fixture
def old(tmp_path):
    """Returns a folder with an old program."""
    folder = tmp_path / "old"
    folder.mkdir()
    (folder / "a.py").write_text(
        "import numpy as np\nimport matplotlib\nimport tensorflow as tf\n"
        "x = tf.pack([np.float(1)])\ntf.layers.dense(x, 3)\ntf.Session()\n")
    return folder


def test_a_report_needs_nothing_installed(old):
    code, foreign, said = alone(old, "--json")
    assert (code, foreign) == (0, [])
    found = json.loads(said)["files"][0]
    assert found["left"] == []  # NumPy and matplotlib come with the course
    assert [(one["name"], one["verdict"]) for one in found["names"]] == [
        ("tf.pack", "gone"), ("numpy.float", "gone"), ("tf.layers.dense", "gone"),
        ("tf.Session", "moved")]


def test_nor_does_a_copy(old, tmp_path):
    code, foreign, _ = alone("--write", old, tmp_path / "new")
    assert (code, foreign) == (0, [])
    assert "tf.stack([float(1)])" in (tmp_path / "new" / "a.py").read_text()


@pytest.mark.slow
def test_the_table_is_that_of_what_is_installed():
    """In a process of its own: here other tests have imported what they like."""
    made = subprocess.run([sys.executable, "-m", "makers.known", "-"],
                          cwd=ROOT / "legacy", capture_output=True, text=True,
                          timeout=LIMIT)
    assert made.returncode == 0, made.stderr[-2000:]
    was = table.TABLE.read_text("utf-8").split("\n")
    new = [*made.stdout.split("\n")]
    assert sorted(set(new) ^ set(was)) == [], "run: python -m makers.known"


def test_the_verdicts_are_those_of_the_course():
    assert fates.VERDICTS == VERDICTS


VALUES = ["a", "3", "0.5", "true", "F", "1e3", "", 3, 0, 1, -1, 2.0, 2.5, True, False,
          [1], (1,), {}, b"a"]


@pytest.mark.parametrize("kind", flags_absl.TAKES)
def test_a_default_is_changed_or_left_where_absl_refuses_it(kind, tmp_path):
    """absl itself is asked; 2.0 is written 2 for an integer."""
    lines = [f"tf.app.flags.DEFINE_{kind}('x{number}', {value!r}, '')\n"
             for number, value in enumerate(VALUES)]
    done, new = copies({"old.py": "import tensorflow as tf\ntf.Session\n"
                                  + "".join(lines)}, tmp_path)
    left = {one.line - 3 for one in done.of(rule.Left)}
    for number, value in enumerate(VALUES):
        kept = repr(value) in new["old.py"].split("\n")[number + 3]
        assert (number not in left and kept) is _accepts(kind, value), value


def _accepts(kind, value) -> bool:
    try:
        getattr(flags, f"DEFINE_{kind}")("x", value, "", flag_values=flags.FlagValues())
    except flags.Error:
        return False
    return True
