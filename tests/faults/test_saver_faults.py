"""Savers of every kind: what they save is asked of them, and comes back whole."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.checkpoints import restore_latest, save_numbered
from helpers.errors import DataError

ROOT = Path(__file__).resolve().parents[2]
DEVICES = tf1.ConfigProto(device_count={"CPU": 2})


def partitioned():
    return tf1.get_variable(
        "table", [7, 3], partitioner=tf1.fixed_size_partitioner(2)
    )


def two_devices():
    for index in range(2):
        with tf.device(f"/cpu:{index}"):
            tf1.get_variable(f"v{index}", [3])


def one(**options):
    return lambda: tf1.get_variable("v", [3, 5], **options)


def unknown_rows():
    return tf1.get_variable(
        "v", initializer=tf.ones([2, 3]), validate_shape=False, use_resource=False
    )


def of_type(dtype):
    return lambda: tf1.get_variable(
        "v", initializer=lambda *_, **__: tf.cast([[1, 2, 0]], dtype), shape=[1, 3],
        dtype=dtype,
    )


MODELS = {
    "partitioned": (partitioned, {}),
    "partitioned in shards": (partitioned, {"sharded": True}),
    "two devices": (two_devices, {}),
    "shards": (two_devices, {"sharded": True}),
    "padded steps": (one(), {"pad_step_number": True}),
    "one after the other": (one(), {"restore_sequentially": True}),
    "reference variable": (one(use_resource=False), {}),
    "unknown rows": (unknown_rows, {}),
    "bfloat16": (of_type(tf.bfloat16), {}),
    "complex64": (of_type(tf.complex64), {}),
    "bool": (of_type(tf.bool), {}),
    "string": (lambda: tf1.get_variable("v", initializer=tf.constant(["a", "b"])), {}),
}


def everything(session):
    values = session.run(tf1.global_variables())
    return [np.asarray(value).tolist() for value in values]


@pytest.mark.parametrize("kind", MODELS)
def test_its_own_checkpoint_comes_back(tmp_path, kind):
    build, options = MODELS[kind]
    with tf.Graph().as_default(), tf1.Session(config=DEVICES) as session:
        build()
        session.run(tf1.global_variables_initializer())
        wanted = everything(session)
        save_numbered(tf1.train.Saver(**options), session, tmp_path, 7)
    with tf.Graph().as_default(), tf1.Session(config=DEVICES) as session:
        build()
        assert restore_latest(tf1.train.Saver(**options), session, tmp_path) == 7
        assert everything(session) == wanted


@pytest.mark.parametrize("dtype, stored", [
    (tf.qint8, tf.int8), (tf.quint8, tf.uint8), (tf.qint32, tf.int32)
])
def test_quantised_values_come_back(tmp_path, dtype, stored):
    with tf.Graph().as_default(), tf1.Session() as session:
        values = tf.bitcast(tf.constant([3, 5, 7], stored), dtype)
        v = tf1.Variable(values, use_resource=False)
        saver = tf1.train.Saver([v])
        session.run(v.initializer)
        wanted = session.run(v).tolist()
        save_numbered(saver, session, tmp_path, 7)
        assert restore_latest(saver, session, tmp_path) == 7
        assert session.run(v).tolist() == wanted


def test_a_lost_shard_is_damage(tmp_path):
    with tf.Graph().as_default(), tf1.Session(config=DEVICES) as session:
        two_devices()
        session.run(tf1.global_variables_initializer())
        saver = tf1.train.Saver(sharded=True)
        save_numbered(saver, session, tmp_path, 7)
        (tmp_path / "model.ckpt-7.data-00001-of-00002").unlink()
        with pytest.raises(DataError, match="model.ckpt-7: damaged"):
            restore_latest(saver, session, tmp_path)


@pytest.mark.parametrize("names", [{"old/w": "v"}, ["v"], {"a": "v", "b": "other"}])
def test_a_part_of_the_model_or_other_names(tmp_path, names):
    """A Saver over some variables, or with a map of names, is asked what it holds."""
    with tf.Graph().as_default(), tf1.Session() as session:
        ours = {n: tf1.get_variable(n, [3]) for n in ("v", "other")}
        chosen = (
            {name: ours[of] for name, of in names.items()}
            if isinstance(names, dict) else [ours[of] for of in names]
        )
        saver = tf1.train.Saver(chosen)
        session.run(tf1.global_variables_initializer())
        wanted = session.run(ours)
        save_numbered(saver, session, tmp_path, 7)
        kept = list(names.values()) if isinstance(names, dict) else names
        session.run([variable.assign([0.0, 0.0, 0.0]) for variable in ours.values()])
        assert restore_latest(saver, session, tmp_path) == 7
        for name, value in session.run(ours).items():
            expected = wanted[name] if name in kept else np.zeros(3)
            np.testing.assert_array_equal(value, expected)


def test_another_shape_under_another_name_is_still_refused(tmp_path):
    with tf.Graph().as_default(), tf1.Session() as session:
        v = tf1.get_variable("v", [3])
        session.run(v.initializer)
        save_numbered(tf1.train.Saver({"old/w": v}), session, tmp_path, 7)
    with tf.Graph().as_default(), tf1.Session() as session:
        v = tf1.get_variable("v", [4], initializer=tf1.zeros_initializer())
        session.run(v.initializer)
        for names, message in (
            ({"old/w": v}, r"old/w is \(3,\), the model's is \(4,\)"),
            ({"new/w": v}, "new/w is not saved"),
        ):
            with pytest.raises(DataError, match=message):
                restore_latest(tf1.train.Saver(names), session, tmp_path)
        assert session.run(v).tolist() == [0.0] * 4


def test_a_partitioned_variable_of_another_length_is_refused(tmp_path):
    with tf.Graph().as_default(), tf1.Session() as session:
        partitioned()
        session.run(tf1.global_variables_initializer())
        save_numbered(tf1.train.Saver(), session, tmp_path, 7)
    with tf.Graph().as_default(), tf1.Session() as session:
        tf1.get_variable("table", [8, 3], partitioner=tf1.fixed_size_partitioner(2))
        with pytest.raises(DataError, match=r"table is \(7, 3\), the model's is \(8"):
            restore_latest(tf1.train.Saver(), session, tmp_path)


POISON = {
    "shards": (tf.float32, {"sharded": True}),
    "float16": (tf.float16, {}),
    "bfloat16": (tf.bfloat16, {}),
    "float64": (tf.float64, {}),
    "complex64": (tf.complex64, {}),
    "complex128": (tf.complex128, {}),
}


@pytest.mark.parametrize("kind", POISON)
def test_nan_of_any_type_and_saver_is_not_saved(tmp_path, kind, tried):
    """Six saves of NaN would push out the good one."""
    dtype, options = POISON[kind]
    tried(6)
    with tf.Graph().as_default(), tf1.Session(config=DEVICES) as session:
        value = tf1.placeholder(dtype, [2])
        v = tf1.Variable(tf.cast([1.0, 2.0], dtype), name="v")
        other = tf1.Variable([1.0], name="other")
        poison = tf1.assign(v, value)
        saver = tf1.train.Saver([other, v], max_to_keep=3, **options)
        session.run(tf1.global_variables_initializer())
        save_numbered(saver, session, tmp_path, 1)
        session.run(poison, {value: np.array([np.nan, 1], dtype.as_numpy_dtype)})
        for step in range(2, 8):
            with pytest.raises(DataError, match=f"ckpt-{step}: not saved, v holds NaN"):
                save_numbered(saver, session, tmp_path, step)
        assert restore_latest(saver, session, tmp_path) == 1
        assert np.isfinite(session.run(v)).all()


def test_nan_that_is_not_restored_is_no_hindrance(tmp_path):
    """A Saver of some variables asks only for those."""
    with tf.Graph().as_default(), tf1.Session() as session:
        v, best = tf1.get_variable("v", [3]), tf1.Variable(np.inf, name="best")
        session.run(tf1.global_variables_initializer())
        tf1.train.Saver().save(session, str(tmp_path / "model.ckpt"), global_step=7)
        assert restore_latest(tf1.train.Saver([v]), session, tmp_path) == 7
        with pytest.raises(DataError, match="best holds NaN or infinity"):
            restore_latest(tf1.train.Saver([v, best]), session, tmp_path)


def test_a_saver_of_nothing_or_of_another_graph(tmp_path):
    with tf.Graph().as_default():
        tf1.get_variable("v", [3])
        foreign = tf1.train.Saver()
    with tf.Graph().as_default(), tf1.Session() as session:
        empty = tf1.train.Saver(allow_empty=True)
        for saver, message in ((empty, "saves nothing"), (foreign, "another graph")):
            for act in (restore_latest, lambda *of: save_numbered(*of, 7)):
                with pytest.raises(ValueError, match=message):
                    act(saver, session, tmp_path)
        v = tf1.get_variable("v", [3])
        old = tf1.train.Saver([v], write_version=tf1.train.SaverDef.V1)
        with pytest.raises(ValueError, match="the old V1 format"):
            save_numbered(old, session, tmp_path, 7)


# Disks that refuse -----------------------------------------------------------------

LIMITED = """
import resource, signal, sys
from helpers import lesson
lesson.begin("tests")
import tensorflow as tf, tensorflow.compat.v1 as tf1
from helpers.checkpoints import restore_latest, save_numbered
from helpers.errors import DataError
with tf.Graph().as_default(), tf1.Session() as session:
    v = tf1.get_variable("v", [100_000], initializer=tf1.ones_initializer())
    saver = tf1.train.Saver()
    session.run(v.initializer)
    save_numbered(saver, session, sys.argv[1], 1)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (5000, resource.RLIM_INFINITY))
    try:
        save_numbered(saver, session, sys.argv[1], 2)
    except DataError as error:
        print(error)
    print(restore_latest(saver, session, sys.argv[1]))
"""


@pytest.mark.skipif(os.name == "nt", reason="needs the limits of POSIX")
def test_a_limit_of_file_size_is_one_line_and_not_the_end_of_data(tmp_path):
    """TensorFlow says OutOfRangeError, which training loops take for the end."""
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(tmp_path)], cwd=ROOT, timeout=240,
        capture_output=True, text=True, check=True,
    )
    line, step = done.stdout.splitlines()
    assert "model.ckpt-2: not saved (" in line and "File too large" in line
    assert step == "1"
    assert not [p.name for p in tmp_path.iterdir() if "ckpt-2" in p.name]


@pytest.fixture
def small_disk(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", str(disk)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True
                                                       ).returncode:
        pytest.skip("mounting a small disk needs root")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


@pytest.mark.parametrize("sharded", [False, True])
def test_a_full_disk_is_one_line_and_leaves_no_half_file(small_disk, sharded):
    with tf.Graph().as_default(), tf1.Session() as session:
        v = tf1.get_variable("v", [100_000], initializer=tf1.ones_initializer())
        saver = tf1.train.Saver(sharded=sharded)
        session.run(v.initializer)
        save_numbered(saver, session, small_disk, 1)
        before = sorted(small_disk.iterdir())
        with pytest.raises(DataError, match="ckpt-2: not saved .*No space") as got:
            save_numbered(saver, session, small_disk, 2)
        assert "\n" not in str(got.value)
        assert sorted(small_disk.iterdir()) == before
        assert restore_latest(saver, session, small_disk) == 1


@pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
def test_a_file_where_the_folder_should_be(tmp_path):
    (tmp_path / "runs").write_text("not a folder")
    with tf.Graph().as_default(), tf1.Session() as session:
        v = tf1.get_variable("v", [3])
        saver = tf1.train.Saver()
        session.run(v.initializer)
        for folder in (tmp_path / "runs", tmp_path / "runs" / "deeper"):
            with pytest.raises(DataError, match="ckpt-2: not saved .*irectory|exists"):
                save_numbered(saver, session, folder, 2)
    assert (tmp_path / "runs").read_text() == "not a folder"
