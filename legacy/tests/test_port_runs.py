"""`port --write`: the copy runs, the original stays, and what is left has a line."""

import gzip
import json
import math
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from test_port_rules import changed_again

from tests.limits import LIMIT
from tf1tools.port import command as port
from tf1tools.port import rule, rulebook
from tf1tools.port.outcome import write
from tf1tools.port.outcome.work import work
from tf1tools.port.table.known import BESIDE

HERE = Path(__file__).parent / "port"
CORPUS, REPOSITORIES = HERE / "corpus", HERE / "repositories"
SIDES = sorted((HERE / "sides").glob("*.old"))
# Programs in which something is for the reader, and a word of what the report says.
LEFT = {
    "crf": "contrib.crf", "eager": "contrib.eager", "estimator": "Estimator",
    "hparams": "HParams", "learn": "contrib.learn", "package": "seq2seq",
    "py2_prints": "`//`", "resize_old": "pass the size as one list",
    "style": "cv2",
}


def copies(programs, folder):
    """Makes the copies of old programs, and returns the work of each.

    Args:
      programs: a file, or a folder with a main one, each.
      folder: where both go, below `old` and `new`.
    """
    found = {}
    for program in programs:
        old = folder / "old" / program.stem
        old.mkdir(parents=True)
        for path in sorted(program.rglob("*.old")) or [program]:
            inside = path.relative_to(program) if path != program else Path(path.name)
            place = old / inside.with_suffix(".py")
            place.parent.mkdir(exist_ok=True)
            shutil.copy(path, place)
        found[program.stem] = work(old)
        write.write(old, folder / "new" / program.stem, found[program.stem])
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Returns where all copies lie: `corpus/new`, `sides/new`, `repositories/new`."""
    return tmp_path_factory.mktemp("copies")


@pytest.fixture(scope="module")
def corpus(folder):
    """Returns what was done to the programs that were written for these tests."""
    found = copies(sorted(CORPUS.iterdir()), folder / "corpus")
    for name in found:
        mnist(folder / "corpus" / "new" / name / "MNIST_data")
    return found


@pytest.fixture(scope="module")
def sides(folder):
    return copies(SIDES, folder / "sides")


@pytest.fixture(scope="module")
def repositories(folder):
    return copies(sorted(REPOSITORIES.iterdir()), folder / "repositories")


@pytest.fixture(scope="module")
def ran(folder, corpus, sides, repositories):
    """Returns of each command how it ended, "" for well, and what it printed."""
    commands = [
        *(f"corpus/new/{main_of(folder / 'corpus' / 'new' / name)}" for name in corpus),
        *(f"sides/new/{name} {name}.py" for name in sides),
        *(f"repositories/new/{name} {line}" for name in repositories
          for line in runs(name))]
    run = subprocess.run(
        [sys.executable, HERE / "run_corpus.py", folder, *commands],
        stdin=subprocess.DEVNULL, text=True, capture_output=True, timeout=LIMIT)
    assert run.returncode == 0, run.stderr[-2000:]
    return json.loads(run.stdout)


def runs(name):
    """Returns how the programs of a repository are started."""
    return (REPOSITORIES / name / "runs.txt").read_text().splitlines()


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
    return next(f"{folder.name} {name}.py" for name in names
                if (folder / f"{name}.py").exists())


@pytest.mark.slow
def test_what_is_called_ready_runs(corpus, ran):
    """Each program runs in a graph of its own; the others are left, with a line."""
    assert len(corpus) >= 40
    ended = {command.split()[0].rpartition("/")[2]: error
             for command, (error, _) in ran.items() if command.startswith("corpus")}
    failed = {name: error for name, error in ended.items() if error}
    print(f"{len(ended) - len(failed)} of {len(ended)} programs run")
    assert failed.keys() == LEFT.keys(), failed
    for name, words in LEFT.items():
        said = "\n".join(one.words for one in corpus[name].of(rule.Left))
        assert words in said, (name, said, failed[name])


def test_a_copy_of_a_copy_is_the_same(corpus, folder):
    """What was written once needs no change more."""
    for name in corpus.keys() - LEFT.keys():
        assert not changed_again(work(folder / "corpus" / "new" / name)), name


# Repositories: several files each, started in more ways than one.
# Commands of which a line is left, and a word of it; some run all the same.
NAMED = {
    "char_rnn train.py": "NASCell", "char_rnn sample.py": "NASCell",
    "estimator look.py": "drop_remainder", "estimator main.py": "Estimator",
    "keras_1 towers.py": "the size of the window", "keras_1 train.py": "nb_epoch",
    "pix2pix pix2pix.py": "unless TensorFlow is 1",
    "pix2pix tools/process.py": "list(...)", "tf_1_13 train.py": "AdamWOptimizer",
}


@pytest.mark.slow
def test_a_program_of_a_repository_runs_or_is_named(repositories, ran):
    """What is called ready runs; the files that a program reaches are asked."""
    named = {f"{name} {line}": said_of(done, line.split())
             for name, done in repositories.items() for line in runs(name)}
    ended = {command: ran[f"repositories/new/{command}"][0] for command in named}
    print(sum(not how for how in ended.values()), "of", len(ended), "run")
    assert not {command: how for command, how in ended.items()
                if how and not named[command]}
    assert {command for command in named if named[command]} == NAMED.keys()
    assert all(NAMED[command] in named[command] for command in NAMED)


def said_of(done, words):
    """Returns what is left of the files that a command reaches."""
    start = words[0] if words[0] != "-m" else words[1].replace(".", "/") + ".py"
    file = done.project.files[done.project.root / start]
    return " ".join(one.words for reached in done.project.reached(file)
                    for _, one in done.outcomes[reached].left)


# Both sides: programs of one family each, with what they printed when they were new.

rulebook.load()
EDITS = {row.old for row in rule.ROWS.values() if row.new not in ("", row.old)
         and row.rule.name != "library-moved"}  # its libraries are not installed
# These want a TensorFlow that PyPI has no more, or 1.0 to 1.9; a TPU, a cluster; a
# screen; a file that tutorials copied about. Of the last three a page has an example.
NOT_RUN = {
    *(f"tf.{name}" for name in (
        "batch_cholesky", "batch_matrix_diag", "batch_matrix_inverse",
        "image.per_image_whitening", "inv", "list_diff", "listdiff",
        "models.rnn.rnn", "models.rnn.rnn.rnn", "models.rnn.rnn_cell", "nn.deconv2d",
        "contrib.data.Dataset", "contrib.data.Iterator", "contrib.data.TFRecordDataset",
        "contrib.data.TextLineDataset", "contrib.learn.datasets.mnist", "contrib.lite",
        "contrib.rnn.core_rnn_cell", "contrib.rnn.python.ops.core_rnn_cell",
        "contrib.rnn.python.ops.core_rnn_cell_impl", "contrib.cluster_resolver",
        "contrib.distribute", "contrib.tpu", "contrib.layers.summaries",
        "nn.seq2seq", "models.rnn.seq2seq", "python.ops.seq2seq",
        "contrib.legacy_seq2seq.python.ops.seq2seq", "python.data.Dataset",
        "python.data.Iterator", "python.data.ops.dataset_ops.Dataset",
        "python.data.ops.iterator_ops.Iterator",
        "contrib.layers.python.layers.summaries", "python.training.training_ops",
        "python.training.gen_training_ops")),
    "Tkinter", "input_data", "collections.MutableSequence", "collections.MutableSet",
    "numpy.reshape(newshape=)", ".viewkeys()", ".viewvalues()",
    *(f"matplotlib.pyplot.{name}=)" for name in (
        "hist(normed", "subplot(axisbg", "axes(axisbg", "grid(b")),
}


@pytest.mark.slow
@pytest.mark.parametrize("program", SIDES, ids=lambda path: path.stem)
def test_a_copy_says_today_what_its_program_said(program, ran):
    error, said = ran[f"sides/new/{program.stem} {program.stem}.py"]
    assert not error
    was = re.split(r"[\s,()\[\]]+", program.with_suffix(".said").read_text())
    for then, now in zip(was, re.split(r"[\s,()\[\]]+", said), strict=True):
        assert then == now or math.isclose(
            float(then), float(now), rel_tol=1e-5, abs_tol=1e-5), (then, now)


@pytest.mark.slow
def test_every_kind_of_edit_is_among_these_programs(sides):
    made = set()
    for use in [use for one in sides.values() for file in one.project.files.values()
                for use in file.uses]:
        parts = use.name.split(".")
        made |= {use.name, *(".".join(parts[:n]) for n in range(1, len(parts)))}
        words = use.call.keywords if use.call else ()
        made |= {f"{use.name}({word}=)" for word in words}
    assert EDITS - made == NOT_RUN


HEAD = "import tensorflow.compat.v1 as tf\ntf.disable_v2_behavior()\n"


def test_a_copy_is_never_run_and_goes_nowhere_else(tmp_path, capsys):
    old, new, ran = tmp_path / "old", tmp_path / "new", tmp_path / "ran"
    old.mkdir()
    text = f"import tensorflow as tf\nx = tf.pack([1]); open({str(ran)!r}, 'w')"
    (old / "a.py").write_text(text)
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "source": [
        "%time import tensorflow as tf\n", "%time x = tf.mul(2, 3)\n", "!ls"]}
    notebook = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (old / "b.ipynb").write_text(json.dumps(notebook, indent=1) + "\n")
    assert port.main(["--write", str(old), str(new)]) == 0
    none = "no known obstacle is left; run it\n"
    assert f"a.py: {none}b.ipynb: {none}" in capsys.readouterr().out
    assert (new / "a.py").read_text() == (
        f"{HEAD}x = tf.stack([1]); open({str(ran)!r}, 'w')")
    assert not ran.exists() and (old / "a.py").read_text() == text
    source = json.loads((new / "b.ipynb").read_text())["cells"][0]["source"]
    assert source == [
        *HEAD.splitlines(True), "%time import tensorflow.compat.v1 as tf\n",
        "%time x = tf.multiply(2, 3)\n", "!ls"]
    for place in (new, old / "inside"):
        assert port.main(["--write", str(old), str(place)]) == 2


@pytest.mark.parametrize("parameters", [
    "labels, logits", "logits, labels", "labels, inputs", "inputs, labels",
    "targets, inputs", "inputs, targets", "a, logits, labels", "**given"])
def test_a_loss_of_the_program_gets_labels_and_logits(parameters):
    """By name where it has those names, and else in the order that its names tell."""
    call = runpy.run_path(str(BESIDE["old_seq2seq"]))["_loss"]
    names = [name for name in parameters.split(", ") if name not in ("a", "**given")]
    body = f"dict(zip({names}, [{', '.join(names)}]))" if names else "given"
    parameters = parameters.replace("a, logits, labels", "logits, labels, a=3")
    loss = eval(f"lambda {parameters}: {body}")
    got = call(loss, "logits", "labels")
    assert {name.replace("inputs", "logits").replace("targets", "labels"): value
            for name, value in got.items()} == {"logits": "logits", "labels": "labels"}
