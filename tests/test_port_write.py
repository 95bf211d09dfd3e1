"""`port --write`: the copy runs, the original stays, and what is left has a line."""

import gzip
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tools import port
from tools.port import fates, plan, sources, write
from tools.port.edits import applied

HERE = Path(__file__).parent / "port"
CORPUS = HERE / "corpus"
# Programs in which something is for the reader, and a word of what the report says.
LEFT = {
    "crf": "contrib.crf", "eager": "contrib.eager", "estimator": "Estimator",
    "hparams": "HParams", "learn": "contrib.learn", "package": "seq2seq",
    "ptb": "legacy_seq2seq", "py2_prints": "`//`", "resize_old": "its size is one list",
    "style": "cv2",
}


def programs():
    """Returns the programs of the corpus: a file, or a folder with a main one."""
    return sorted({path.relative_to(CORPUS).parts[0].removesuffix(".old")
                   for path in CORPUS.rglob("*.old")})


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Returns the folder of old programs and that of their copies, with the plans."""
    old, new = tmp_path_factory.mktemp("old"), tmp_path_factory.mktemp("new")
    found = {}
    for name in programs():
        paths = sorted((CORPUS / name).rglob("*.old")) or [CORPUS / f"{name}.old"]
        for path in paths:
            inside = path.relative_to(CORPUS / name) if (CORPUS / name).is_dir() \
                else Path(path.name)
            place = old / name / inside.with_suffix(".py")
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, place)
        files = list(sources.files_of(old / name))
        found[name] = plan.plans(
            sources.Project(files, old / name, fates.exists))
        write.write(old / name, new / name, found[name])
        mnist(new / name / "MNIST_data")
    return old, new, found


def mnist(folder):
    """Writes a few pictures of noise in the format of the four files."""
    folder.mkdir()
    random = np.random.default_rng(7)
    for name, count in (("train", 40), ("t10k", 10)):
        for kind, header, size in (("images-idx3", 16, 784), ("labels-idx1", 8, 1)):
            top = 256 if size > 1 else 10
            noise = random.integers(0, top, count * size, np.uint8)
            with gzip.open(folder / f"{name}-{kind}-ubyte.gz", "wb") as stream:
                stream.write(b"\0" * header + noise.tobytes())


def main_of(folder):
    names = (folder.name, "train", "main")
    return next(f"{folder.name}/{name}.py" for name in names
                if (folder / f"{name}.py").exists())


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_what_is_called_ready_runs(corpus):
    """Each program runs in a graph of its own; the others are left, with a line."""
    _, new, found = corpus
    mains = {main_of(new / name): name for name in found}
    assert len(mains) >= 40
    run = subprocess.run(
        [sys.executable, HERE / "run_corpus.py", new, *mains], text=True,
        capture_output=True, timeout=1100)
    assert run.returncode == 0, run.stderr[-2000:]
    ended = {mains[main]: error for main, error in json.loads(run.stdout).items()}
    failed = {name: error for name, error in ended.items() if error}
    print(f"{len(ended) - len(failed)} of {len(ended)} programs run")
    assert failed.keys() == LEFT.keys(), failed
    for name, words in LEFT.items():
        said = "\n".join(one.words for p in found[name].values() for one in p.left)
        assert words in said, (name, said, failed[name])


def test_only_what_is_left_is_not_ready(corpus):
    _, _, found = corpus
    assert {name for name, plans in found.items()
            if any(one.left for one in plans.values())} == LEFT.keys()


def test_a_copy_of_a_copy_is_the_same(corpus, tmp_path):
    """What was written once needs no change more."""
    _, new, found = corpus
    for name in found.keys() - LEFT.keys():
        files = [path for path in sources.files_of(new / name)
                 if path.name not in ("slim_shim.py", "tutorials_mnist.py")]
        again = plan.plans(sources.Project(files, new / name, fates.exists))
        for path, one in again.items():
            for part, edits in zip(one.source.parts, one.edits, strict=True):
                assert applied(part.text, edits) == part.text, path


# What one kind of change makes.

def changed(folder, text, name="old.py"):
    path = folder / name
    path.write_text(text)
    one = plan.plans(sources.Project([path], path, fates.exists))[path]
    part, = one.source.parts
    return applied(applied(part.text, part.edits), one.edits[0]), one


KERAS = 'import os\nos.environ["TF_USE_LEGACY_KERAS"] = "1"\n'
HEAD = "import tensorflow.compat.v1 as tf\ntf.disable_v2_behavior()\n"


@pytest.mark.parametrize("old, new", [
    ("tf.concat(1, [a, b])", "tf.concat(axis=1, values=[a, b])"),
    ("tf.split(0, 3, x)", "tf.split(axis=0, num_or_size_splits=3, value=x)"),
    ("tf.concat(concat_dim=1, values=v)", "tf.concat(axis=1, values=v)"),
    ("tf.nn.softmax_cross_entropy_with_logits((a), b)",
     "tf.nn.softmax_cross_entropy_with_logits(logits=(a), labels=b)"),
    ("tf.batch_matmul(a, b, adj_x=True)", "tf.matmul(a, b, adjoint_a=True)"),
    ("s = 'é'; tf.mul(tf.pack([x]), 2)", "s = 'é'; tf.multiply(tf.stack([x]), 2)"),
    ("r = tf.contrib.rnn\nr.GRUCell(3); r.static_rnn",
     "r = tf.nn.rnn_cell\nr.GRUCell(3); tf.nn.static_rnn"),
])
def test_an_old_call_is_written_anew(old, new, tmp_path):
    text, one = changed(
        tmp_path, f"import tensorflow as tf\n{old}\ntf.Session()\n")
    assert text.removeprefix(KERAS) == f"{HEAD}{new}\ntf.Session()\n"
    assert not one.left and text.startswith(KERAS) == ("rnn" in new)


@pytest.mark.parametrize("old, new", [
    ("[n for n in map(str, [1, 2])] + map(str, [3])",
     "[n for n in map(str, [1, 2])] + list(map(str, [3]))"),
    ("sorted({2: 1}.items())[0], {2: 1}.keys()[0]",
     "sorted({2: 1}.items())[0], list({2: 1}.keys())[0]"),
    ("[7 / 2, 7 / 2.0, len('abc') / 2]", "[7 // 2, 7 / 2.0, len('abc') // 2]"),
    ("[xrange(7 / x)[-1] for x in [3]]", "[range(7 // x)[-1] for x in [3]]"),
    ("{1: 2}.has_key(1)", "{1: 2}.__contains__(1)"),
    ("sorted([(2, 1), (1, 2)], key=lambda (a, b): b - a)",
     "sorted([(2, 1), (1, 2)], key=lambda a_b: (lambda a, b: b - a)(*a_b))"),
    ("(017, 5L, 1 <> 2, `1`, ur'x')", "(0o17, 5, 1 != 2, repr(1), r'x')"),
])
def test_python_2_keeps_its_meaning(old, new, tmp_path):
    text, one = changed(tmp_path, f"x = {old}\nprint x\n")
    assert text == f"x = {new}\nprint(x)\n" and not one.left
    exec(text, {})


@pytest.mark.parametrize("old, new", [
    ("import numpy as np\nnp.float, np.NaN", "import numpy as np\nfloat, np.nan"),
    ("import urllib\nurllib.urlopen", "import urllib.request\nimport urllib\n"
     "urllib.request.urlopen"),
    ("from itertools import izip, chain", "izip = zip\nfrom itertools import chain"),
    ("import cPickle as p, os\np.dumps", "import pickle as p, os\np.dumps"),
    ("from StringIO import StringIO", "from io import StringIO"),
    ("reduce(max, [1])", "import functools\nfunctools.reduce(max, [1])"),
    ("{1: 2}.keys()[0]", "list({1: 2}.keys())[0]"),
    ("try:\n    import cPickle\nexcept ImportError:\n    cPickle = None",) * 2,
])
def test_names_of_the_library(old, new, tmp_path):
    text, one = changed(tmp_path, old + "\n")
    assert text == new + "\n" and not one.left
    exec(text, {})


@pytest.mark.parametrize("text, line, words", [
    ("import tensorflow as tf\ntf.Session()\ntf.contrib.crf.x(1)\n", 3, "CRF"),
    ("import tensorflow as tf\n\ntf.pack(x, dims=3)\n", 3, "takes no dims="),
    ("import tensorflow as tf\ntf.nn.softmax_cross_entropy_with_logits(labels, y)\n"
     "tf.Session()\n", 2, "name logits= and labels="),
    ("import nowhere_at_all\n", 1, "not installed"),
    ("print x\ny = x.decode('utf-8')\n", 2, "bytes have it"),
    ("import numpy\nnumpy.load('a', encoding='latin1')\n", 2, "allow_pickle=True"),
    ("import tensorflow as tf\ntf.contrib.rnn.MultiRNNCell([c] * 3)\n", 2, "its own"),
    ("import tensorflow as tf\ntf.contrib.rnn.GRUCell(3, input_size=2)\n", 2,
     "takes no input_size="),
    ("print a / b\n", 1, "`//`"), ("x = input()\nprint x\n", 1, "evaluated"),
])
def test_what_is_left_has_its_line(text, line, words, tmp_path):
    _, one = changed(tmp_path, text)
    assert [left.line for left in one.left] == [line] and words in one.left[0].words


def test_the_original_stays_and_the_diff_makes_the_copy(tmp_path, capsys):
    old, new = tmp_path / "old", tmp_path / "new"
    old.mkdir()
    text = "import tensorflow as tf\nx = tf.pack([1])\nprint tf.Session().run(x)"
    (old / "a.py").write_text(text)
    (old / "data.bin").write_bytes(b"\0\1")
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "source": [
        "%time import tensorflow as tf\n", "%time x = tf.mul(2, 3)\n", "!ls"]}
    notebook = {"cells": [cell], "metadata": {"kernelspec": {"name": "python3"}},
                "nbformat": 4, "nbformat_minor": 5}
    (old / "b.ipynb").write_text(json.dumps(notebook, indent=1) + "\n")
    if hasattr(os, "mkfifo"):
        os.mkfifo(old / "pipe.py")
    before = {path: path.read_bytes() for path in old.iterdir() if path.is_file()}
    assert port.main(["--write", str(old), str(new)]) == 0
    assert "a.py: ready\nb.ipynb: ready\n" in capsys.readouterr().out
    assert before == {p: p.read_bytes() for p in old.iterdir() if p.is_file()}
    assert (new / "data.bin").read_bytes() == b"\0\1"
    assert (new / "a.py").read_text() == (
        f"{HEAD}x = tf.stack([1])\nprint(tf.Session().run(x))")
    source = json.loads((new / "b.ipynb").read_text())["cells"][0]["source"]
    assert source == [
        *HEAD.splitlines(True), "%time import tensorflow.compat.v1 as tf\n",
        "%time x = tf.multiply(2, 3)\n", "!ls"]
    if shutil.which("patch"):
        done = subprocess.run(["patch", "-p1", "-d", old, "-i", new / write.DIFF],
                              capture_output=True, text=True)
        assert done.returncode == 0, done.stdout
        assert (old / "a.py").read_bytes() == (new / "a.py").read_bytes()
    for place in (new, old / "inside"):
        assert port.main(["--write", str(old), str(place)]) == 2


def test_the_stand_in_deals_like_the_tutorials(tmp_path):
    mnist(tmp_path / "digits")
    sys.path.insert(0, str(write.BESIDE))
    try:
        import tutorials_mnist
    finally:
        sys.path.pop(0)
    found = tutorials_mnist.read_data_sets(str(tmp_path / "digits"), one_hot=True,
                                           validation_size=5)
    assert [part.num_examples for part in found] == [35, 5, 10]
    images, labels = found.train.next_batch(10)
    assert images.shape == (10, 784) and images.max() <= 1
    assert (labels.sum(1) == 1).all()
    for _ in range(3):
        found.train.next_batch(10)
    assert found.train.epochs_completed == 1
