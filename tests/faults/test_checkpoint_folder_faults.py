"""Folders in which others saved too: nothing of theirs is deleted, or held for ours."""

import shutil

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.checkpoints import restore_latest, save_numbered


class Model:
    """One variable of three values, with a Saver, in a session of its own."""

    def __init__(self, name="v", **options):
        self.graph = tf.Graph()
        with self.graph.as_default():
            self.v = tf1.get_variable(name, [3], initializer=tf1.ones_initializer())
            self.move = self.v.assign([5.0, 6.0, 7.0])
            self.saver = tf1.train.Saver(**options)
            self.session = tf1.Session(graph=self.graph)
            self.session.run(self.v.initializer)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.session.close()

    def save(self, folder, *steps):
        for step in steps:
            save_numbered(self.saver, self.session, folder, step)

    def save_as(self, path, step=None):
        """As TensorFlow saves by itself."""
        with self.graph.as_default():
            self.saver.save(self.session, str(path), step, write_meta_graph=False)

    def restore(self, folder):
        return restore_latest(self.saver, self.session, folder)


def steps_in(folder, stem="model.ckpt"):
    found = folder.glob(f"{stem}-*.index")
    return sorted(int(path.stem.rpartition("-")[2]) for path in found)


def test_the_best_model_of_another_saver_stays(tmp_path):
    with Model(max_to_keep=3) as first, Model() as best:
        first.save(tmp_path, 1)
        best.save_as(tmp_path / "best", 2)
        first.save(tmp_path, 3, 4)
    with Model(max_to_keep=3) as second:
        assert second.restore(tmp_path) == 4
        second.save(tmp_path, 5, 6, 7, 8)
    assert steps_in(tmp_path) == [1, 3, 4, 6, 7, 8]
    assert steps_in(tmp_path, "best") == [2]


def test_a_copied_run_deletes_nothing_in_the_original(tmp_path):
    with Model(max_to_keep=3) as first:
        first.save(tmp_path / "a", 1, 2, 3)
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    with Model(max_to_keep=3) as second:
        assert second.restore(tmp_path / "b") == 3
        second.save(tmp_path / "b", 4, 5)
    assert steps_in(tmp_path / "a") == [1, 2, 3]
    assert steps_in(tmp_path / "b") == [1, 2, 3, 4, 5]


def test_a_copied_folder_is_read_where_it_lies(tmp_path):
    with Model() as first:
        first.save(tmp_path / "a", 1)
        shutil.copytree(tmp_path / "a", tmp_path / "b")
        first.session.run(first.move)
        first.save(tmp_path / "a", 2)  # what the copy's state file would lead to
        shutil.rmtree(tmp_path / "a")
        assert first.restore(tmp_path / "b") == 1
        np.testing.assert_array_equal(first.session.run(first.v), np.ones(3))
