"""Folders in which others saved too: nothing of theirs is deleted, or held for ours."""

import shutil
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
import tensorflow.compat.v1 as tf1
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helpers.checkpoints import restore_latest, save_numbered
from helpers.errors import DataError

EXAMPLES = 40


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
    assert steps_in(tmp_path) == [6, 7, 8]
    assert steps_in(tmp_path, "best") == [2]


def test_a_newer_best_model_is_not_taken_for_ours(tmp_path):
    with Model() as first, Model("other") as best:
        first.save(tmp_path, 3)
        best.save_as(tmp_path / "best", 99)
    with Model() as second:
        assert second.restore(tmp_path) == 3


@pytest.mark.parametrize("kept", [{"keep_checkpoint_every_n_hours": 1e-9},
                                  {"max_to_keep": 0}, {"max_to_keep": None}])
def test_what_was_kept_for_ever_stays(tmp_path, kept):
    with Model(**{"max_to_keep": 2, **kept}) as first:
        first.save(tmp_path, *range(1, 7))
    assert steps_in(tmp_path) == [1, 2, 3, 4, 5, 6]
    with Model(max_to_keep=2) as second:
        assert second.restore(tmp_path) == 6
        second.save(tmp_path, *range(7, 14))
    assert set(steps_in(tmp_path)) >= {1, 2, 3, 4, 12, 13}


def test_the_only_one_of_a_saver_that_keeps_all_stays(tmp_path):
    with Model(max_to_keep=None) as first:
        first.save(tmp_path, 1)
    with Model(max_to_keep=2) as second:
        assert second.restore(tmp_path) == 1
        second.save(tmp_path, *range(2, 8))
    assert steps_in(tmp_path) == [1, 6, 7]


def test_a_copied_run_deletes_nothing_in_the_original(tmp_path):
    with Model(max_to_keep=3) as first:
        first.save(tmp_path / "a", 1, 2, 3)
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    with Model(max_to_keep=3) as second:
        assert second.restore(tmp_path / "b") == 3
        second.save(tmp_path / "b", 4, 5)
    assert steps_in(tmp_path / "a") == [1, 2, 3]
    assert steps_in(tmp_path / "b") == [3, 4, 5]


def test_without_the_state_file_nothing_old_is_deleted(tmp_path):
    with Model(max_to_keep=3) as first:
        first.save(tmp_path, 1, 2, 3)
    (tmp_path / "checkpoint").unlink()
    with Model(max_to_keep=2) as second:
        assert second.restore(tmp_path) == 3
        second.save(tmp_path, 4, 5, 6)
    assert steps_in(tmp_path) == [1, 2, 3, 5, 6]


def test_what_is_no_folder_or_has_no_number_is_no_silent_restart(tmp_path):
    with Model() as ours:
        ours.save_as(tmp_path / "model.ckpt")
        for path in (tmp_path, tmp_path / "model.ckpt", tmp_path / "checkpoint"):
            with pytest.raises(DataError, match="no checkpoint can be restored"):
                ours.restore(path)


def test_a_copied_folder_is_read_where_it_lies(tmp_path):
    with Model() as first:
        first.save(tmp_path / "a", 1)
        shutil.copytree(tmp_path / "a", tmp_path / "b")
        first.session.run(first.move)
        first.save(tmp_path / "a", 2)  # what the copy's state file would lead to
        shutil.rmtree(tmp_path / "a")
        assert first.restore(tmp_path / "b") == 1
        np.testing.assert_array_equal(first.session.run(first.v), np.ones(3))


def test_a_backslash_in_a_name_is_refused_before_anything_is_saved(tmp_path):
    with Model() as ours:
        for act in (ours.restore, lambda folder: ours.save(folder, 7)):
            with pytest.raises(DataError, match=r"takes the \\ in this name"):
                act(tmp_path / r"a\b")
    assert not list(tmp_path.iterdir())


# Folders at random -----------------------------------------------------------------

KINDS = {"one file": {}, "in shards": {"sharded": True}}
ONE = st.fixed_dictionaries({
    "stem": st.sampled_from(["model.ckpt", "model.ckpt", "best", "model.ckpt.old"]),
    "step": st.one_of(st.none(), st.integers(0, 30)),
    "kind": st.sampled_from(list(KINDS)),
    "name": st.sampled_from(["v", "v", "other"]),
    "damage": st.sampled_from([None, None, None, "no index", "no data", "cut"]),
    "listed": st.booleans(),
})


@pytest.fixture(scope="module")
def templates(tmp_path_factory):
    """One checkpoint of every kind and model, to be copied under other names."""
    folders = {}
    for kind, options in KINDS.items():
        for name in ("v", "other"):
            folders[kind, name] = tmp_path_factory.mktemp("template")
            with Model(name, **options) as model:
                model.session.run(model.move)
                model.save_as(folders[kind, name] / "it")
            (folders[kind, name] / "checkpoint").unlink()
    return folders


def put(templates, folder, one):
    """Copies one checkpoint into the folder, with its damage; returns its name."""
    name = one["stem"] if one["step"] is None else f"{one['stem']}-{one['step']}"
    for file in templates[one["kind"], one["name"]].iterdir():
        ending = file.name.removeprefix("it")
        index = ending == ".index"
        if one["damage"] == ("no index" if index else "no data"):
            continue
        content = file.read_bytes()
        cut = one["damage"] == "cut" and not index
        (folder / (name + ending)).write_bytes(content[: -9 if cut else None])
    return name


def is_ours(one):
    return one["stem"] == "model.ckpt"


def outcome(checkpoints):
    """What must come of a folder: a step, `None` or an error."""
    ours = [one for one in checkpoints if is_ours(one)]
    numbered = [one for one in ours if one["step"] is not None]
    whole = [one for one in numbered if one["damage"] is None]
    if not whole:
        return DataError if ours else None
    newest = max(whole, key=lambda one: one["step"])
    return newest["step"] if newest["name"] == "v" else DataError


def state_file(folder, names):
    if names:
        lines = [f'model_checkpoint_path: "{names[-1]}"']
        lines += [f'all_model_checkpoint_paths: "{name}"' for name in names]
        (folder / "checkpoint").write_text("\n".join(lines) + "\n")


def attempt(folder):
    """Restores, then saves often; returns the step, `None` or the error's type."""
    with Model(max_to_keep=2) as model, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = model.restore(folder)
        except DataError as error:
            assert "elete" not in str(error) and "\n" not in str(error)
            np.testing.assert_array_equal(model.session.run(model.v), np.ones(3))
            found = DataError
        else:
            wanted = np.ones(3) if found is None else [5.0, 6.0, 7.0]
            np.testing.assert_array_equal(model.session.run(model.v), wanted)
        model.save(folder, *range(31, 36))
    return found


def unique(one):
    return one["stem"], one["step"]


def test_nothing_of_others_is_deleted_or_refused_for_ours(templates, tried):
    tried(EXAMPLES)

    @settings(derandomize=True, deadline=None, max_examples=EXAMPLES,
              suppress_health_check=list(HealthCheck))
    @given(st.lists(ONE, max_size=6, unique_by=unique))
    def holds(checkpoints):
        folder = Path(tempfile.mkdtemp())
        try:
            names = [put(templates, folder, one) for one in checkpoints]
            pairs = list(zip(names, checkpoints, strict=True))
            listed = [name for name, one in pairs if one["listed"]]
            state_file(folder, listed)
            before = {p.name: p.read_bytes() for p in folder.iterdir()}
            assert attempt(folder) == outcome(checkpoints)
            # A Saver's own list, of more than one, is what may go in its turn.
            may_go = {name for name, one in pairs
                      if one["listed"] and is_ours(one) and len(listed) > 1}
            for name, content in before.items():
                if name == "checkpoint" or any(name.startswith(m) for m in may_go):
                    continue
                assert (folder / name).read_bytes() == content, name
        finally:
            shutil.rmtree(folder)

    holds()
