"""The report on old code: no name missed, no false "kept", advice that is there."""

import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest
import tensorflow.compat.v1 as tf1
from tensorflow.tools.compatibility import all_renames_v2

from helpers.tf1_names import LATER_NAMES, OTHER_CALLS, SOURCE_NAMES, OldName, verdict
from tf1tools.port import command as port
from tf1tools.port import rule, rulebook
from tf1tools.port.names import fates
from tf1tools.port.outcome import report
from tf1tools.port.outcome.work import work
from tf1tools.port.table import known as installed
from tf1tools.port.text.syntax import Arguments

HERE = Path(__file__).parent / "port"


def write(folder, text, name="old.py"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


rulebook.load()


def read(path):
    """Returns a file as it was read."""
    return work(path).project.files[path]


def page(path):
    return report.pages(work(path))[0]


def names(file):
    return [use.name for use in file.uses if use.name.startswith("tf.")]


def report_of(path, capsys):
    code = port.main([str(path), "--json"])
    return code, json.loads(capsys.readouterr().out)


# No false "kept": the old call is run.

TABLE = [old for group in SOURCE_NAMES.values() for old in group] + LATER_NAMES


@pytest.mark.parametrize("old", TABLE, ids=lambda old: old.name)
def test_the_look_up_says_what_a_run_says(old):
    looked_up = fates.fate(f"tf.{old.name}", None)
    ran = verdict(old)
    if looked_up.verdict in ("another result", "replaced"):  # at its worst
        assert ran in ("kept", "another result", "replaced")
    else:
        assert looked_up.verdict == ran


X = np.array([[1.0, 4.0], [2.0, 3.0]], np.float32)
P = np.arange(16, dtype=np.float32).reshape(1, 4, 4, 1)
K = np.ones([2, 2, 1, 1], np.float32)
CALLS = """
    tf.argmax(X, 1)
    tf.argmax(X, dimension=1)
    tf.gather(X, [1], None, 'name')
    tf.math.in_top_k(X, [1, 0], 1)
    tf.nn.avg_pool(value=P, ksize=2, strides=2, padding='SAME')
    tf.nn.conv2d(P, K, [1, 1, 1, 1], 'SAME')
    tf.nn.conv2d(P, filter=K, strides=1, padding='SAME')
    tf.nn.embedding_lookup(X, [1], partition_strategy='mod')
    tf.nn.l2_normalize(X, dim=1)
    tf.nn.log_softmax(X, dim=0)
    tf.nn.moments(X, [0], keep_dims=True)[0]
    tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0, 1], logits=X)
    tf.reduce_sum(X, 0, True)
    tf.reduce_sum(X, axis=0, keepdims=True)
    tf.space_to_batch(P, [[0, 0], [0, 0]], 2)
    tf.split(X, 2, 1)[0]
    tf.where([True, False], X, -X)
"""


@pytest.mark.parametrize("text", [line.strip() for line in CALLS.strip().split("\n")])
def test_a_call_has_the_verdict_of_its_run(text, tmp_path):
    uses = read(write(tmp_path, f"import tensorflow as tf\n{text}")).uses
    looked_up = fates.fate(uses[0].name, uses[0].call).verdict
    scope = {"X": X, "P": P, "K": K, "tf1": tf1}
    ran = verdict(OldName(
        "call", lambda module: eval(text, {**scope, "tf": module}), ""))
    assert looked_up == ran or {looked_up, ran} == {"replaced", "another result"}


@pytest.mark.parametrize("old", OTHER_CALLS, ids=lambda old: old.name)
def test_the_other_calls_of_the_lesson_are_not_kept(old):
    assert verdict(old) in ("replaced", "another result")
    name, keyword = re.match(r"([\w.]+)\((\w*)=?", old.name).groups()
    if keyword and old.name.endswith("=)"):
        call = Arguments(1, (keyword,), False)
        found = fates.fate(f"tf.{name}", call)
        assert found.verdict == "replaced" and keyword in found.instead


OLD_NAMES = {*all_renames_v2.symbol_renames, *(f"tf.{old.name}" for old in TABLE),
             *(name for name in rule.ROWS if name.startswith("tf."))}


def test_every_name_in_the_advice_is_there():
    """What the report tells to write exists today, or under legacy Keras."""
    assert len(OLD_NAMES) > 1000
    wrong = set()
    for name in OLD_NAMES:
        for written in re.findall(r"(?<![\w.])tf\.[A-Za-z_][\w.]*\w",
                                  fates.fate(name, None).instead):
            path = written.removeprefix("tf.").removeprefix("compat.v1.")
            found = {installed.look("tf2", written[3:]), installed.value(f"tf.{path}")}
            if found == {installed.NOTHING} and path != "compat.v1":
                wrong.add((name, written))
    assert not wrong
    lessons = {fates.fate(f"tf.{old.name}", None).lesson for old in TABLE}
    assert {one[:2] for one in lessons} >= {
        "01", "02", "03", "04", "05", "07", "08", "09", "10"}


# How code names TensorFlow.

@pytest.mark.parametrize("code, expected", [
    ("from tensorflow import nn as n\nn.relu(1)", ["tf.nn", "tf.nn.relu"]),
    ("import tensorflow.contrib.slim\ntensorflow.contrib.slim.conv2d()",
     ["tf.contrib.slim", "tf.contrib.slim.conv2d"]),
    ("import tensorflow.compat.v1 as tf\ntf.Session()", ["tf.compat.v1.Session"]),
    ("from tensorflow import *\nSession(); len([1])", ["tf", "tf.Session"][1:]),
    ("import tensorflow as tf\nnn = tf.nn\nnn = []\nnn.relu", ["tf.nn"]),
    ("import tensorflow as tf\na, b = tf.nn, 1\na.relu", ["tf.nn", "tf.nn.relu"]),
    ("import tensorflow as tf\nnn = tf.nn\ndef f(nn):\n  nn.append(1)", ["tf.nn"]),
    ("import tensorflow as tf\nf = lambda tf: tf.nn.relu", ["tf.nn.relu"]),
    ("import tensorflow as tf\ndef f():\n  return g.relu\ng = tf.nn",
     ["tf.nn.relu", "tf.nn"]),
    ("tf.Session()", ["tf.Session"]),
    ("import tensorflow as tf\nf'{tf.VERSION}'", ["tf.VERSION"]),
    ("import tensorflow as tf\nx.shape[1].value", ["tf.Dimension.value"]),
    ("import tensorflow as tf\nd.map(f).make_one_shot_iterator()",
     ["tf.data.Dataset.make_one_shot_iterator"]),
    ("import tensorflow as tf\n@tf.function\ndef f(x: tf.Tensor) -> tf.Graph: pass",
     ["tf.function", "tf.Tensor", "tf.Graph"]),
    ("from . import tensorflow\ntensorflow.nn", []),
    ("import numpy as tf\ntf.zeros(3)", []),
    ("tf = None\ntf.zeros(3)", []),
])
def test_aliases(code, expected, tmp_path):
    found = read(write(tmp_path, code))
    assert names(found) == expected


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=repr)
def test_line_and_column_point_at_the_name(end, tmp_path):
    for name in ("slim_net", "layers_mlp", "py2_words", "several/model"):
        text = (HERE / "corpus" / f"{name}.old").read_text()
        for use, fate in page(write(tmp_path, text.replace("\n", end))).rows:
            line, column = use.place
            start = text.split("\n")[line - 1][column - 1:]
            assert re.match(r"(tf|slim|rnn|tensorflow)\b", start) or \
                start.startswith(fate.name.split(".")[0]) or \
                "." + fate.name.strip(".()") in start, (fate, start)


# Files of every kind: a clear word each.

def test_python_2_is_read_whole(tmp_path, capsys):
    text = (HERE / "python2.old").read_text()
    path = write(tmp_path, text)
    code, found = report_of(path, capsys)
    one, = found["files"]
    assert code == 0
    assert one["words"] == ["Python 2"]
    assert [(n["line"], n["name"]) for n in one["names"]] == [
        (3, "tf.Session"), (4, "tf.merge_all_summaries"), (6, "tf.float32"),
        (9, "tf.VERSION"), (11, "tf.no_op"), (13, "tf.pack")]
    lines = text.split("\n")
    for n in one["names"]:
        assert lines[n["line"] - 1][n["column"] - 1:].startswith(n["name"])
    assert "first Python 3" in found["summary"]["distance"][str(path)]


@pytest.mark.parametrize("content, word, code", [
    (b"", "empty", 0),
    (b"\x7fELF\0\0\0tf.Session", "binary", 1),
    ("import tensorflow as tf\ns = 'é'\n".encode("latin-1"), "not UTF-8", 0),
    (b"import tensorflow as tf\nx = tf.a(\ny = tf.Session()\n", "syntax error in", 1),
    (b"import tensorflow as tf\r\nx = tf.Session()\r\n", "", 0),
    (b"\xef\xbb\xbfimport tensorflow as tf\ntf.Session()\n", "", 0),
    (b"(" * 5000, "syntax error", 1),
    (b"# nothing here\n", "", 0),
])
def test_a_clear_word_for_each_kind_of_file(content, word, code, tmp_path, capsys):
    answer, found = report_of(write(tmp_path, content), capsys)
    assert answer == code
    words = " ".join(found["files"][0]["words"])
    assert word in words and bool(word) == bool(words)


def test_broken_code_is_read_around_the_break(tmp_path):
    text = ("import tensorflow as tf\nfrom tensorflow import nn\n"
            "a = tf.Session()\ndef broken(:\n    tf.placeholder(1)\n    nn.relu(2)\n\n"
            "def good():\n    return tf.argmax(x, dimension=1)\n")
    found = read(write(tmp_path, text))
    assert [(u.line, u.name) for u in found.uses if u.name != "tf"] == [
        (2, "tf.nn"), (3, "tf.Session"), (9, "tf.argmax")]
    assert found.uses[-1].call.keywords == ("dimension",)
    assert not found.whole


def cell(source, kind="code"):
    return {"cell_type": kind, "metadata": {}, "source": source, "outputs": []}


def test_notebooks(tmp_path, capsys):
    cells = [cell("# tf.Title", "markdown"),
             cell(["%matplotlib inline\n", "import tensorflow as tf\n", "!ls\n"]),
             cell("tf.Session?"), cell("%%bash\ntf.ls"), cell("x = tf.Session()\n"),
             cell("print tf.pack(x)"), cell("y = tf.(")]
    path = write(tmp_path, json.dumps({"cells": cells, "nbformat": 4}), "a.ipynb")
    code, found = report_of(path, capsys)
    one, = found["files"]
    assert [(n["cell"], n["line"], n["name"]) for n in one["names"]] == [
        (4, 1, "tf.Session"), (5, 1, "tf.pack")]
    assert code == 1 and "cell 6: syntax error in line 1: only parts could be read" \
        in one["words"]
    old = {"worksheets": [{"cells": [{"cell_type": "code",
                                      "input": ["import tensorflow as t\n", "t.x"]}]}]}
    _, found = report_of(write(tmp_path, json.dumps(old), "b.ipynb"), capsys)
    assert found["files"][0]["names"][0]["name"] == "tf.x"
    for broken in (b"{", b"[]", b'{"cells": 3}', b""):
        code, found = report_of(write(tmp_path, broken, "c.ipynb"), capsys)
        word, = found["files"][0]["words"]
        assert word == "empty" if not broken else (
            word.startswith("This file is not a valid notebook ("))


def test_a_folder_a_missing_path_and_an_empty_one(tmp_path, capsys):
    (tmp_path / "inside").mkdir()
    write(tmp_path, "import tensorflow as tf\ntf.Session()\n", "inside/b.py")
    write(tmp_path, "import tensorflow as tf\ntf.contrib.x()\n", "a.py")
    write(tmp_path, "tf.Session()", "not_python.txt")
    (tmp_path / ".hidden").mkdir()
    write(tmp_path, "tf.Session()", ".hidden/c.py")
    code, found = report_of(tmp_path, capsys)
    assert code == 0
    assert [Path(f["path"]).name for f in found["files"]] == ["a.py", "b.py"]
    summary = found["summary"]
    assert summary["verdicts"] == {"kept": 0, "moved": 1, "replaced": 0,
                                   "another result": 0, "gone": 1}
    assert set(found["files"][0]["names"][0]) == {
        "line", "column", "name", "verdict", "instead", "lesson"}
    assert port.main([str(tmp_path / "no such")]) == 2
    assert "No such file or directory" in capsys.readouterr().err
    assert port.main([str(tmp_path / "inside" / "..")]) == 0
    (tmp_path / "void").mkdir()
    assert port.main([str(tmp_path / "void")]) == 2


def test_the_text_shows_what_changed_and_the_way(tmp_path, capsys):
    path = write(tmp_path, "import tensorflow as tf\ntf.zeros(3)\n"
                           "tf.nn.dropout(x, 0.5)\ntf.contrib.crf.crf_log_norm(x)\n"
                           "tf.layers.dense(x, 3)\n")
    assert port.main([str(path)]) == 0
    text = capsys.readouterr().out
    assert "? 3:1       tf.nn.dropout" in text and "another result" in text
    heads = next(line for line in text.split("\n") if line.split() == [
        "runs", "as", "today"])
    below = text.split("tf.nn.dropout", 1)[1].split("\n")[1]
    assert below.index("tf.compat.v1.nn.dropout ") == heads.index("runs as")
    assert re.match(r" \S", below[heads.index("today") - 1:])
    crf = text.split("tf.contrib.crf", 1)[1].split("\n")[1]
    assert crf[heads.index("runs as")] == "-"  # nothing has it
    assert "tf.zeros" not in text and "1 kept" in text
    dense = text.split("tf.layers.dense", 1)[1].split("\n")[1]
    assert dense.split() == ["tf.compat.v1.layers.dense", "tf.keras.layers.Dense",
                             "(lesson", "10a)"]
    assert "4 uses in 1 file: 1 kept, 0 moved" in text
    assert text.split("\n")[-5:-2] == report.LEGEND.split("\n")


TOP = "import tensorflow.compat.v1 as tf; tf.disable_v2_behavior()"


@pytest.mark.parametrize("text, expected", [
    ("x = 1\n", "it does not use TensorFlow"),
    ("import tensorflow as tf\ntf.zeros(3)\n", "it needs no changes"),
    ('"""Old."""\nimport tensorflow as tf\ntf.Session()\n',
     f"{TOP} in place of line 2: no known obstacle is left"),
    ("from tensorflow import Session\nSession()\n",
     f"{TOP} before line 1: no known obstacle is left, after the changes that "
     "`port --write` makes"),
    ("import tensorflow as tf\ntf.contrib.crf.x()\n\ntf.contrib.crf.y()\n",
     f"2 lines to change by hand (2, 4), then {TOP} in place of line 1: no known "
     "obstacle is left"),
    ("import tensorflow as tf\ntf.layers.dense(x, 3)\n", "import os; os.environ["
     f'"TF_USE_LEGACY_KERAS"] = "1"; {TOP} in place of line 1: '
     "no known obstacle is left"),
    ("import tensorflow as tf\nx = tf.(\n",
     "unknown, because it could be read only in part"),
])
def test_distance_says_what_to_put_where(text, expected, tmp_path):
    assert report.distance(page(write(tmp_path, text))) == expected


@pytest.mark.parametrize("text", [
    "def f():\n    global tf\n    import tensorflow as tf\nf()\ntf.Session()",
    "import tensorflow as tf\nclass A:\n  def __init__(self):\n    self.tf = tf\n"
    "  def run(self):\n    self.tf.Session()",
    "def get():\n    import tensorflow as tf\n    return tf\nget().Session()",
    "def get():\n    import tensorflow as tf\n    return tf\nt = get()\nt.Session()",
    "from mylib import tf\ntf.Session()", "from mylib import *\ntf.Session()",
    "import mylib\nmylib.tf.Session()", "from . import mylib\nmylib.tf.Session()",
])
def test_ways_to_come_by_tensorflow(text, tmp_path):
    write(tmp_path, "import tensorflow as tf\n", "mylib.py")
    paths = [tmp_path / "mylib.py", write(tmp_path, text)]
    assert names(work(tmp_path).project.files[paths[1]]) == ["tf.Session"]


def test_the_work_is_linear_in_functions(tmp_path):
    def calls(number):
        text = "import tensorflow as tf\n" + "".join(
            f"def f{i}(x):\n    return tf.nn.relu(x)\n" for i in range(number))
        path, counted = write(tmp_path, text), [0]
        sys.setprofile(lambda frame, event, value: counted.__setitem__(
            0, counted[0] + (event == "call")))
        try:
            page(path)
        finally:
            sys.setprofile(None)
        return counted[0]

    calls(10)
    assert calls(400) < 2.3 * calls(200)


def test_a_file_runs_when_what_it_imports_does(tmp_path, capsys):
    write(tmp_path, "import tensorflow as tf\nimport model\ntf.Session()\n", "a.py")
    write(tmp_path, "import tensorflow as tf\ntf.contrib.crf.x()\n", "model.py")
    _, found = report_of(tmp_path, capsys)
    said = found["summary"]["distance"][str(tmp_path / "a.py")]
    assert said.endswith("no known obstacle is left, as soon as model.py can run")
