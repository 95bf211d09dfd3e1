"""A copy is made of bytes: what is not changed is the same, what is changed a patch."""

import ast
import filecmp
import itertools
import json
import os
import shutil
import subprocess

import pytest

from helpers.filetree import remove_tree
from tf1tools.port import command as port
from tf1tools.port import rule
from tf1tools.port.outcome import write
from tf1tools.port.outcome.work import work

PROGRAM = '''{cookie}import tensorflow as tf
word = "{word}"
x = tf.{name}(1.0) + \\
    tf.{name}(2.0)
text = """a{odd}b"""
y = x'''
NEWLINES = {"unix": "\n", "windows": "\r\n", "mac": "\r"}
CODINGS = {
    "utf8": ("", "é", "utf-8"), "mark": ("", "é", "utf-8-sig"),
    "cookie": ("# -*- coding: latin-1 -*-\n", "é", "latin-1"),
    "ascii": ("", "e", "ascii"), "russian": ("# coding: cp1251\n", "д", "cp1251"),
}
ODD = {"none": "", "feed": "\f", "separator": "\u2028", "tab": "\t"}
CELL = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None,
        "source": ["import tensorflow as tf\n", "tf.log(1.0)"]}
BOOK = {"cells": [CELL], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def programs():
    """Yields the name and the bytes of old programs of all kinds, and of today's."""
    for (newline, end), (coding, (cookie, word, codec)), (odd, sign) in \
            itertools.product(NEWLINES.items(), CODINGS.items(), ODD.items()):
        if sign == "\u2028" and codec[:3] != "utf":
            continue
        for age, name in (("old", "log"), ("new", "exp")):
            text = PROGRAM.format(cookie=cookie, word=word, name=name, odd=sign)
            text = text.replace("\n", end)
            yield f"{age}_{newline}_{coding}_{odd}.py", text.encode(codec)
    mixed = PROGRAM.format(cookie="", word="é", name="log", odd="")
    yield "old_mixed.py", mixed.replace("\n", "\r\n", 2).encode()


@pytest.fixture
def tree(tmp_path):
    """Returns a folder with one file of each kind that somebody may have."""
    old = tmp_path / "old"
    (old / "inside").mkdir(parents=True)
    for name, raw in programs():
        (old / name).write_bytes(raw)
    print2 = b"import tensorflow as tf\r\nprint tf.log(1.0), \\\r\n  2\r\n"
    for name, raw in {
        "utf16.py": "import tensorflow as tf".encode("utf-16"),
        "no_cookie.py": b'import tensorflow as tf\nx = "\xe9", tf.log(1.0)\n',
        "half.py": b"import tensorflow as tf\nx = tf.log(\n", "empty.py": b"",
        "python2.py": print2, "data.bin": bytes(range(256)),
        "with blank é\n\"and more.py": b"import tensorflow as tf\ntf.log(1.0)\n",
        "bad.ipynb": b"{", "list.ipynb": b"[]", "deep.ipynb": b"[" * 100000,
        "mark.ipynb": b"\xef\xbb\xbf" + json.dumps(BOOK).encode(),
        "wide.ipynb": json.dumps(BOOK, indent=4).encode(),
        "plain.ipynb": (json.dumps(BOOK, indent=1) + "\n").encode(),
    }.items():
        (old / name).write_bytes(raw)
    (old / "run.py").write_bytes(b"import tensorflow as tf\ntf.log(1.0)\n")
    (old / "run.py").chmod(0o750)
    (tmp_path / "away.py").write_bytes(b"import tensorflow as tf\ntf.log(1.0)\n")
    for name, target in {"inside/up": "..", "out": tmp_path, "gone": "nowhere",
                         "same.py": "run.py", "away.py": "../away.py"}.items():
        (old / name).symlink_to(target)
    return old


def test_the_patch_makes_the_copy_byte_for_byte(tree, tmp_path, capsys):
    new, patched = tmp_path / "new", tmp_path / "patched"
    before = {path: path.read_bytes() for path in tree.iterdir()
              if path.is_file() and not path.is_symlink()}
    assert port.main(["--write", str(tree), str(new)]) == 1  # some could not be read
    said = capsys.readouterr().out
    assert "Traceback" not in said
    for name in ("bad.ipynb", "list.ipynb", "deep.ipynb", "utf16.py"):
        assert f"{name}: not read" in said
        assert (new / name).read_bytes() == (tree / name).read_bytes()
    assert "away.py: a link that leads out" in said and "gone: a link" in said
    assert before == {path: path.read_bytes() for path in before}
    for name in ("inside/up", "out", "gone", "same.py", "away.py"):
        assert os.readlink(new / name) == os.readlink(tree / name)
    assert (new / "run.py").stat().st_mode == (tree / "run.py").stat().st_mode
    if shutil.which("patch"):
        write._copy(tree, patched)
        done = subprocess.run(
            ["patch", "--binary", "-p1", "-d", patched, "-i", new / write.DIFF],
            capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        (new / write.DIFF).unlink()
        assert same(filecmp.dircmp(patched, new))


def same(found):
    """Whether two folders hold the same bytes under the same names."""
    return not (found.left_only or found.right_only or found.diff_files)


def test_a_program_keeps_its_coding_and_its_newlines(tree, tmp_path):
    """Only the words that a rule changes are others; Python reads the copy."""
    port.main(["--write", str(tree), str(tmp_path / "new")])
    for name, raw in programs():
        new = (tmp_path / "new" / name).read_bytes()
        ast.parse(new)
        if name.startswith("new"):
            assert new == raw, name
        elif name != "old_mixed.py":
            assert new.replace(b"\r", b"\n") == ported(raw), name
        assert new.count(b"\r") >= raw.count(b"\r"), name


def ported(raw):
    """Returns the bytes of a copy with plain newlines, for "\\r\\n" two."""
    end = next(one for one in (b"\r\n", b"\n", b"\r") if one in raw)
    head = end.join([b"import tensorflow.compat.v1 as tf", b"tf.disable_v2_behavior()"])
    return raw.replace(b"import tensorflow as tf", head).replace(b"\r", b"\n")


def test_a_stand_in_does_not_take_the_place_of_your_own_file(tmp_path, capsys):
    old, new = tmp_path / "old", tmp_path / "new"
    old.mkdir()
    (old / "uses.py").write_text(
        "import tensorflow as tf\nx = tf.contrib.slim.conv2d(1, 2, 3)\n")
    (old / "slim_shim.py").write_text("mine = 1\n")
    assert port.main(["--write", str(old), str(new)]) == 1
    assert "a file of this name" in capsys.readouterr().out
    assert (new / "slim_shim.py").read_text() == "mine = 1\n"


@pytest.mark.parametrize("head, line", [(b"", 2), (b"# coding: latin-1\n", None)])
def test_what_python_3_refuses_to_decode_has_a_line(head, line, tmp_path):
    (tmp_path / "old.py").write_bytes(head + b"x = 1\nname = '\xe9'\n")
    assert [one.line for one in work(tmp_path).of(rule.Left)] == [line] * bool(line)


def test_a_patch_of_the_original_keeps_its_name(tmp_path, capsys):
    old, new = tmp_path / "old", tmp_path / "new"
    old.mkdir()
    (old / "a.py").write_text("import tensorflow as tf\nx = tf.log(1.)\n")
    for name in ("port.diff", "port-2.diff"):
        (old / name).write_text("mine")
    port.main(["--write", str(old), str(new)])
    for name in ("port.diff", "port-2.diff"):
        assert (new / name).read_text() == "mine"
    assert "+" in (new / "port-3.diff").read_text()
    assert "port-3.diff" in capsys.readouterr().out


def test_a_project_is_copied_at_any_depth(tmp_path):
    old = tmp_path / "o"
    here = old
    here.mkdir()
    for _ in range(1100):  # os.makedirs would call itself as often
        here = os.path.join(here, "d")
        os.mkdir(here)
    with open(os.path.join(here, "a.py"), "w") as file:
        file.write("import tensorflow as tf\nx = tf.log(1.)\n")
    try:
        port.main(["--write", str(old), str(tmp_path / "n")])
        with open(os.path.join(tmp_path / "n", *["d"] * 1100, "a.py")) as copy:
            assert "compat.v1" in copy.read()
    finally:  # pytest could not remove them, as it calls itself for each folder
        for folder in tmp_path.iterdir():
            remove_tree(folder)


@pytest.mark.parametrize("line, packages", [
    ("tf.log(1.)", ""), ("tf.layers.dense(x, 1)", "tf-keras"),
    ("tf.contrib.slim.conv2d(x, 1, 1)", "tf-keras tf-slim")])
def test_the_packages_of_a_copy_and_its_program_are_named(line, packages, tmp_path,
                                                          capsys):
    """The program is the one with a main block, and not one that is imported."""
    text = f"import tensorflow as tf\nx = {line}\n"
    for name, rest in (("a.py", ""), ("b.py", "if __name__ == '__main__':\n    f()\n")):
        (tmp_path / "old").mkdir(exist_ok=True)
        (tmp_path / "old" / name).write_text(text + rest)
    port.main(["--write", str(tmp_path / "old"), str(tmp_path / "new")])
    said = capsys.readouterr().out
    assert f"tf1 watch {tmp_path / 'new' / 'b.py'}" in said
    assert ("pip install" in said) is bool(packages)
    assert f"pip install {packages}\n" in said or not packages
