"""One bad file among good ones: `port` names it, and goes on with the others."""

import copy
import encodings.aliases
import json
import os
import resource
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tf1tools.port import command as port
from tf1tools.port.outcome.work import Work, work
from tf1tools.port.reading.part import Part
from tf1tools.port.text.syntax import DEEPEST, deep_trees

GOOD = "import tensorflow as tf\nx = tf.log(1.)\n"
TF1 = Path(__file__).parents[1] / "tf1.py"


def codings():
    """Yields programs that claim each coding of Python, and some that are none."""
    for name in {*encodings.aliases.aliases.values(), "undefined", "idna", "punycode",
                 "unicode_escape", "raw_unicode_escape", "no such", "a" * 5000}:
        yield "bad.py", f"# coding: {name}\nx = '\\u12'\nprint x\n".encode()


def nestings():
    """Yields programs in which something is nested, less and more than is read."""
    for depth in (DEEPEST - 20, DEEPEST + 20, 3000):
        for before, inside, after in [
                ("(", "1", ")"), ("[", "1", "]"), ("{1: ", "1", "}"), ("f(", "1", ")"),
                ("", "1", " + 1"), ("", "1", " / 1"), ("", "a", "()"), ("", "a", ".b"),
                ("", "a", "[0]"), ("not ", "a", ""), ("lambda: ", "1", ""),
                ("tf.log(", "1", ")"), ("a if b else ", "1", ""), ("", "a", " < b"),
                ("a.has_key(", "1", ")"), ("map(f, ", "1", ")"), ("", "a", " % 1")]:
            text = f"x = {before * depth}{inside}{after * depth}\n"
            yield "bad.py", f"import tensorflow as tf\n{text}print x\n".encode()
        yield "bad.py", ("if a:\n  print 1\n" + "elif a: pass\n" * depth).encode()


def places(value, path=()):
    """Yields the path of each value in a value."""
    yield path
    pairs = value.items() if isinstance(value, dict) else (
        enumerate(value) if isinstance(value, list) else ())
    for key, inner in pairs:
        yield from places(inner, (*path, key))


def notebooks():
    """Yields notebooks with a wrong value at each place, and with odd numbers."""
    cell = {"cell_type": "code", "metadata": {}, "outputs": [{"a": 0.5}],
            "execution_count": 1, "source": ["import tensorflow as tf\n", "print 1\n"]}
    book = {"cells": [cell], "metadata": {"kernelspec": {"name": "python2"}},
            "nbformat": 4, "nbformat_minor": 4}
    for path in list(places(book))[1:]:
        for wrong in (None, 7, "x", [], {}, [None], [[]], {"a": 1}, "\ud800é"):
            changed = copy.deepcopy(book)
            inside = changed
            for key in path[:-1]:
                inside = inside[key]
            inside[path[-1]] = wrong
            yield "bad.ipynb", json.dumps(changed, ensure_ascii=False).encode(
                errors="backslashreplace")
    for number in ("1e400", "-1e400", "1" * 5000):
        yield "bad.ipynb", json.dumps(book).replace("0.5", number).encode()


def names():
    """Yields files whose names would clear a screen, forge a line, or end a print."""
    for odd in ("\x1b[2J", "\n", "\r", "\x07", "\u202e", "\udcff", "\x85"):
        yield f"bad{odd}good.py: ready.py", b"print 1\nimport tensorflow as tf\n"


@pytest.mark.parametrize("kind", [codings, nestings, notebooks, names])
def test_one_bad_file_never_ends_the_work_on_the_others(kind, tmp_path, capsys):
    for number, (name, raw) in enumerate(kind()):
        old, new = tmp_path / f"old{number}", tmp_path / f"new{number}"
        old.mkdir()
        (old / "good.py").write_text(GOOD)
        (old / "uses.py").write_text(f"import bad\n{GOOD}")
        (old / name).write_bytes(raw)
        for arguments in ([str(old)], ["--json", str(old)],
                          ["--write", str(old), str(new)]):
            assert port.main(arguments) in (0, 1)
            said = capsys.readouterr().out
            said.encode()  # no half of a character, which no terminal takes
            assert "good.py" in said and "bad" in said
            assert kind is notebooks or "cannot be read" not in said
            assert all(c.isprintable() for c in said.replace("\n", ""))
        assert "compat.v1" in (new / "good.py").read_text()
        assert "compat.v1" in (new / "uses.py").read_text()
        if name.endswith(".ipynb"):
            json.loads((new / name).read_bytes(), parse_int=str,
                       parse_constant=pytest.fail)


STATEMENTS = """
print >> f , "a" , b ,
raise E , "a" , t
exec "a" in b , c
except E , e :
def f ( a , ( b , c ) = d ) :
lambda ( a , b ) : ` a ` <> 0777L
import tensorflow as tf , b . c as d
from . a import ( b as c , * )
x = tf . map_fn ( lambda a : a . has_key ( b ) , c ) [ 0 ]
class A ( object ) : __metaclass__ = B
with a as b , c as d : print b
for a , b in c . iteritems ( ) : print a ; print b
"""


def test_a_statement_that_is_cut_anywhere_is_read_as_far_as_it_goes(tmp_path):
    cuts = {(count, " ".join(words[:count])) for line in STATEMENTS.strip().split("\n")
            for words in [line.split()] for count in range(1, len(words) + 1)}
    for number, (_, text) in enumerate(sorted(cuts)):
        (tmp_path / f"cut{number}.py").write_text(f"import tensorflow\n{text}\n")
        (tmp_path / f"end{number}.py").write_text(f"print 1\n{text}")
    for file in work(tmp_path).outcomes:
        assert not [word for word in file.words if "cannot be read" in word], file.path


def test_a_rule_that_fails_gives_up_one_file_alone(tmp_path, monkeypatch, capsys):
    for owner, stage in ((Part, "read"), (Work, "_nodes"), (Work, "_hold_back"),
                         (Work, "_text")):
        with monkeypatch.context() as patch:
            patch.setattr(owner, stage, _failing_for("bad.py", getattr(owner, stage)))
            old, new = tmp_path / f"old{stage}", tmp_path / f"new{stage}"
            old.mkdir()
            for name in ("bad.py", "good.py"):
                (old / name).write_text(GOOD)
            assert port.main(["--write", str(old), str(new)]) == 1
        assert "bad.py: not read: The file cannot be" in capsys.readouterr().out
        assert (new / "bad.py").read_text() == GOOD
        assert "compat.v1" in (new / "good.py").read_text()


def _failing_for(name, function):
    def failing(*arguments):
        [part] = [one for one in arguments if isinstance(one, Part)]
        if part.file.path.name == name:
            raise KeyError("a fault of ours")
        return function(*arguments)

    return failing


@pytest.mark.skipif(os.name == "nt", reason="limits of POSIX")
def test_a_full_disk_is_one_line_and_leaves_no_copy(tmp_path):
    old = tmp_path / "old"
    old.mkdir()
    (old / "good.py").write_text(GOOD * 50)
    (old / "weights.bin").write_bytes(bytes(200_000))
    for limit in (0, 100, 2_000, 199_999):
        done = subprocess.run(
            [sys.executable, TF1, "port", "--write", old, tmp_path / "new"],
            capture_output=True, text=True, preexec_fn=lambda limit=limit: (
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))))
        assert done.returncode == 2, done.stderr
        [line] = done.stderr.splitlines()
        assert "new could not be written" in line
        assert [path.name for path in tmp_path.iterdir()] == ["old"]


def test_where_no_copy_can_be_is_one_line(tmp_path, capsys):
    (tmp_path / "old.py").write_text(GOOD)
    for out in ("old.py/new", "a" * 300 + "/new", "/proc/1/new"):
        done = subprocess.run(
            [sys.executable, TF1, "port", "--write", tmp_path / "old.py",
             tmp_path / out], capture_output=True, text=True)
        assert done.returncode in (1, 2)
        assert len(done.stderr.splitlines()) == 1, done.stderr
    assert (tmp_path / "old.py").read_text() == GOOD


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may read all")
def test_what_may_not_be_read_is_named(tmp_path, capsys):
    for name in ("good.py", "bad.py", "bad.bin"):
        (tmp_path / "old").mkdir(exist_ok=True)
        (tmp_path / "old" / name).write_text(GOOD)
    for name in ("bad.py", "bad.bin"):
        (tmp_path / "old" / name).chmod(0)
    assert port.main(["--write", str(tmp_path / "old"), str(tmp_path / "new")]) == 1
    said = capsys.readouterr().out
    assert "bad.py: not copied" in said and "bad.bin: not copied" in said
    assert "compat.v1" in (tmp_path / "new" / "good.py").read_text()


def test_the_recursion_limit_is_set_back(tmp_path):
    """By the last of the threads that raised it, also after an error."""
    before = sys.getrecursionlimit()
    (tmp_path / "old.py").write_text(GOOD)
    work(tmp_path)
    assert sys.getrecursionlimit() == before
    entered, leave = threading.Barrier(2), threading.Event()

    def other():
        with deep_trees():
            entered.wait()
            leave.wait()

    thread = threading.Thread(target=other)
    thread.start()
    with pytest.raises(KeyError), deep_trees():
        entered.wait()
        raise KeyError
    assert sys.getrecursionlimit() >= 20 * DEEPEST > before
    leave.set()
    thread.join()
    assert sys.getrecursionlimit() == before
