"""Savers of every kind: what they save is asked of them, and comes back whole."""


import numpy as np
import pytest
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.checkpoints import restore_latest, save_numbered
from helpers.errors import DataError

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
    "bfloat16": (of_type(tf.bfloat16), {}),
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


POISON = {
    "shards": (tf.float32, np.nan, {"sharded": True}),
    "infinity": (tf.float32, -np.inf, {}),
    "bfloat16": (tf.bfloat16, np.nan, {}),
    "complex64": (tf.complex64, np.nan, {}),
}


@pytest.mark.parametrize("kind", POISON)
def test_nan_of_any_type_and_saver_is_not_saved(tmp_path, kind, tried):
    """Six saves of NaN would push out the good one."""
    dtype, bad, options = POISON[kind]
    tried(6)
    with tf.Graph().as_default(), tf1.Session(config=DEVICES) as session:
        value = tf1.placeholder(dtype, [2])
        v = tf1.Variable(tf.cast([1.0, 2.0], dtype), name="v")
        other = tf1.Variable([1.0], name="other")
        poison = tf1.assign(v, value)
        saver = tf1.train.Saver([other, v], max_to_keep=3, **options)
        session.run(tf1.global_variables_initializer())
        save_numbered(saver, session, tmp_path, 1)
        session.run(poison, {value: np.array([bad, 1], dtype.as_numpy_dtype)})
        before = sorted(tmp_path.iterdir())
        for step in range(2, 8):
            with pytest.raises(DataError, match=f"ckpt-{step} .* v contains NaN"):
                save_numbered(saver, session, tmp_path, step)
        assert sorted(tmp_path.iterdir()) == before
        assert restore_latest(saver, session, tmp_path) == 1
        assert np.isfinite(session.run(v)).all()


@pytest.mark.parametrize("sharded", [False, True])
def test_the_old_format_is_neither_written_nor_read(tmp_path, sharded):
    """Its ops are others: NaN would be saved, and a restart begin at step 0."""
    with tf.Graph().as_default(), tf1.Session() as session:
        v = tf1.get_variable("v", [3])
        saver = tf1.train.Saver(write_version=tf1.train.SaverDef.V1, sharded=sharded)
        session.run(v.initializer)
        with pytest.raises(ValueError, match="Checkpoint format V1"):
            save_numbered(saver, session, tmp_path, 1)
        assert not any(tmp_path.iterdir())
        path = saver.save(session, str(tmp_path / "model.ckpt"), 3)
        with pytest.raises(ValueError, match="Checkpoint format V1"):
            restore_latest(saver, session, tmp_path)
        with pytest.raises(DataError, match=r"ckpt-3.* before 2017"):
            restore_latest(tf1.train.Saver(), session, tmp_path)
        tf1.train.Saver().restore(session, path)


@pytest.mark.parametrize("sharded", [False, True])
def test_a_full_disk_is_one_line_and_leaves_no_half_file(small_disk, sharded):
    with tf.Graph().as_default(), tf1.Session() as session:
        v = tf1.get_variable("v", [100_000], initializer=tf1.ones_initializer())
        saver = tf1.train.Saver(sharded=sharded)
        session.run(v.initializer)
        save_numbered(saver, session, small_disk, 1)
        before = sorted(small_disk.iterdir())
        with pytest.raises(DataError, match="Failed .*ckpt-2 .*No space") as got:
            save_numbered(saver, session, small_disk, 2)
        assert "\n" not in str(got.value)
        assert sorted(small_disk.iterdir()) == before
        assert restore_latest(saver, session, small_disk) == 1
