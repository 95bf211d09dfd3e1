"""Checkpoints under damage and kills: numbered, and never a silent restart."""

import json
import os
import shutil
import subprocess
import sys
import warnings

import numpy as np
import pytest
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.checkpoints import restore_latest, save_numbered
from helpers.errors import DataError
from helpers.files import ROOT

NO_INDEX = "no index file, because the save was interrupted or the index was lost"


def model(columns=5, dtype=tf.float32, extra=False):
    graph = tf.Graph()
    with graph.as_default():
        weights = tf1.get_variable(
            "weights", [3, columns], dtype, initializer=tf1.zeros_initializer()
        )
        if extra:
            tf1.get_variable("extra", [2])
        return graph, weights, weights.assign_add(tf.ones([3, columns], dtype)), (
            tf1.train.Saver(max_to_keep=3), tf1.global_variables_initializer()
        )


@pytest.fixture
def trained(tmp_path):
    """Five saves at steps 7, 14, ..., 35, of which the Saver keeps three."""
    graph, _, step, (saver, init) = model()
    with tf1.Session(graph=graph) as session:
        session.run(init)
        for number in range(1, 6):
            session.run(step)
            save_numbered(saver, session, tmp_path, 7 * number)
    return tmp_path


def restored(folder, **options):
    graph, weights, _, (saver, init) = model(**options)
    with tf1.Session(graph=graph) as session:
        session.run(init)
        return restore_latest(saver, session, folder), session.run(weights)


def test_the_newest_comes_back(trained):
    step, weights = restored(trained)
    assert step == 35
    np.testing.assert_array_equal(weights, np.full([3, 5], 5.0))


def test_nothing_saved_is_none(tmp_path):
    assert restored(tmp_path)[0] is None
    assert restored(tmp_path / "absent")[0] is None


@pytest.mark.parametrize("garbage", [None, b"", b"\x00garbage"])
def test_the_state_file_is_not_needed(trained, garbage):
    state = trained / "checkpoint"
    state.unlink() if garbage is None else state.write_bytes(garbage)
    assert restored(trained)[0] == 35


def test_a_copied_folder_is_read_where_it_lies(trained, tmp_path_factory):
    copy = shutil.copytree(trained, tmp_path_factory.mktemp("copy"), dirs_exist_ok=True)
    shutil.rmtree(trained)  # where the copy's state file would lead to
    step, weights = restored(copy)
    assert step == 35
    np.testing.assert_array_equal(weights, np.full([3, 5], 5.0))


@pytest.mark.parametrize("ending", ["index", "data-00000-of-00001"])
@pytest.mark.parametrize("share", [0, 0.5, 0.99])
def test_a_cut_file_is_passed_over(trained, ending, share):
    file = trained / f"model.ckpt-35.{ending}"
    file.write_bytes(file.read_bytes()[: int(share * file.stat().st_size)])
    with pytest.warns(UserWarning, match="model.ckpt-35 is damaged"):
        step, weights = restored(trained)
    assert step == 28
    np.testing.assert_array_equal(weights, np.full([3, 5], 4.0))


def test_every_flipped_byte_of_the_data_is_caught(trained, tried):
    file = trained / "model.ckpt-35.data-00000-of-00001"
    whole = bytearray(file.read_bytes())
    places = range(0, len(whole), 7)
    tried(len(places))
    for place in places:
        flipped = whole.copy()
        flipped[place] ^= 0x10
        file.write_bytes(flipped)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert restored(trained)[0] == 28, place


def test_all_damaged_is_refused(trained):
    for file in trained.glob("*.data-*"):
        file.write_bytes(b"")
    with pytest.raises(DataError, match="No checkpoint in .* can be") as caught:
        restored(trained)
    assert "\n" not in str(caught.value)
    for file in trained.glob("*.index"):
        file.unlink()
    with pytest.raises(DataError, match=NO_INDEX):
        restored(trained)


@pytest.mark.parametrize("before", [None, 28])
def test_a_save_cut_off_after_each_file_leaves_the_one_before(trained, before, tried):
    data, index = "model.ckpt-35.data-00000-of-00001", "model.ckpt-35.index"
    half = ".tempstate7110719636071793805"
    cut_off = [[], [data + half], [data], [data, index + half], [data, index]]
    tried(len(cut_off))
    for number, names in enumerate(cut_off):
        folder = trained / str(number)
        folder.mkdir()
        for name in names:
            content = (trained / name.removesuffix(half)).read_bytes()
            (folder / name).write_bytes(content[: len(content) // (1 + (half in name))])
        for file in trained.glob(f"model.ckpt-{before}.*"):
            shutil.copy(file, folder)
        if before is None and data in names and index not in names:
            with pytest.raises(DataError, match=NO_INDEX):
                restored(folder)
            continue
        step, weights = restored(folder)
        assert step == (35 if index in names else before), names
        np.testing.assert_array_equal(weights, np.full([3, 5], (step or 0) / 7))


def whole_data(folder):
    return [*folder.glob("model.ckpt-*.data-00000-of-00001")]


@pytest.mark.parametrize("name", ["my-model-100", "model.ckpt--1", "model"])
def test_a_checkpoint_of_another_name_is_no_silent_restart(name, tmp_path):
    graph, _, _, (saver, init) = model()
    with tf1.Session(graph=graph) as session:
        session.run(init)
        saver.save(session, str(tmp_path / name), write_meta_graph=False)
        with pytest.raises(DataError, match=f"{name}.* not a complete numbered"):
            restore_latest(saver, session, tmp_path)


@pytest.mark.parametrize(("options", "message"), [
    ({"columns": 4}, r"weights has shape \(3, 5\), but the model needs"),
    ({"dtype": tf.float64}, "float32, but the model needs float64"),
    ({"extra": True}, "extra is not saved"),
])
def test_another_model_is_refused_by_name(trained, options, message):
    graph, weights, _, (saver, init) = model(**options)
    with tf1.Session(graph=graph) as session:
        session.run(init)
        with pytest.raises(DataError, match=message):
            restore_latest(saver, session, trained)
        assert not session.run(weights).any()


def test_nan_is_no_usable_state(trained):
    graph, weights, _, (saver, _) = model()
    with graph.as_default():
        poison = weights.assign(tf.fill([3, 5], np.nan))
    with tf1.Session(graph=graph) as session:
        restore_latest(saver, session, trained)
        session.run(poison)
        with graph.as_default():  # as TensorFlow saves by itself, without a look
            saver.save(session, str(trained / "model.ckpt"), global_step=42)
    with pytest.warns(UserWarning, match="weights in .* contains NaN"):
        assert restored(trained)[0] == 35


# A process of its own, because it forks: after TensorFlow is imported, before anything
# of it runs. Each child saves as fast as it can, and is killed at a random moment:
# every second one in or after its first save, the others after it. A fork of a process
# with threads may never begin; those that began are printed.
KILLED_SAVERS = """
import json, os, random, select, signal, sys, time
from pathlib import Path
from helpers import lesson
lesson.begin("tests")
import tensorflow as tf, tensorflow.compat.v1 as tf1
from helpers.checkpoints import save_numbered

def child(folder, ready, after_first):
    with tf.Graph().as_default(), tf1.Session() as session:
        values = [tf1.get_variable(f"v{k}", [200_000],
                  initializer=tf1.zeros_initializer()) for k in range(3)]
        grow = [v.assign_add(tf.ones([200_000])) for v in values]
        saver = tf1.train.Saver(max_to_keep=3)
        session.run(tf1.global_variables_initializer())
        if not after_first:
            os.write(ready, b".")
        for step in range(1, 100_000):
            session.run(grow)
            save_numbered(saver, session, folder, step)
            if after_first and step == 1:
                os.write(ready, b".")

random.seed(1)
began = []
for n in range(20):
    readable, ready = os.pipe()
    process = os.fork()
    if not process:
        child(Path(sys.argv[1]) / str(n), ready, after_first=n % 2)
    if select.select([readable], [], [], 15)[0]:
        began.append(n)
        time.sleep(random.uniform(0, 0.2))
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
print(json.dumps(began))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork, to kill often")
@pytest.mark.slow
def test_killed_while_saving_20_times(tmp_path, tried):
    tried(20)
    done = subprocess.run(
        [sys.executable, "-c", KILLED_SAVERS, str(tmp_path)], check=True,
        stdout=subprocess.PIPE, cwd=ROOT,
    )
    saved_once = [n for n in json.loads(done.stdout) if n % 2]
    assert saved_once
    for n in range(20):
        with tf.Graph().as_default(), tf1.Session() as session:
            values = [tf1.get_variable(f"v{k}", [200_000]) for k in range(3)]
            folder = tmp_path / str(n)
            if whole_data(folder) and not [*folder.glob("*.index")]:
                assert n not in saved_once  # killed between the files of the first save
                with pytest.raises(DataError, match=NO_INDEX):
                    restore_latest(tf1.train.Saver(), session, folder)
                continue
            step = restore_latest(tf1.train.Saver(), session, folder)
            for value in session.run(values) if step else []:
                np.testing.assert_array_equal(value, step)
            assert step is not None or n not in saved_once, n
