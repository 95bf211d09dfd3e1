"""A manifest is data: whatever it holds, it is refused in a line and nothing is lost.

Each field of a right manifest is made wrong, once, in each way that JSON has; and whole
manifests are drawn. Then the sets are opened, checked and written anew.
"""

import contextlib
import json
import os
import shutil

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helpers import records
from helpers.errors import DataError
from helpers.records import folders, writing
from tests.faults.test_json_faults import changed, places

EXAMPLES = [records.make_example(b"x", k) for k in range(3)]
WRONG = [None, True, -1, 0, 2**63, 10**400, 1.0, float("nan"), float("inf"), "", "x",
         [], ["train-00000-of-00002"], {}, {"a": 1}, "\ud800"]
NAMES = ["thesis.txt", "../x", "a/b", "/etc/passwd", "..", "", "new.manifest.json",
         "newer-00000-of-00001", "other-00000-of-00001", "new-00000-of-00001/..",
         "new-00000-of-00009", "new-00000-of-00001\n", "new-0-of-1", "C:\\x", "\0"]


@pytest.fixture
def sets(tmp_path):
    """Two sets, and a file of somebody's own beside them."""
    for name in ("new", "other"):
        records.write_shards(EXAMPLES, tmp_path / name, 2, seed=1)
    (tmp_path / "thesis.txt").write_text("mine")
    return tmp_path


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def refused(folder, text):
    """No reader opens it, no writer replaces or removes anything."""
    (folder / "new.manifest.json").write_bytes(text)
    before = contents(folder)
    for use in (records.read_manifest, records.open_shards, records.check_shards,
                lambda prefix: records.write_shards(EXAMPLES, prefix, 1, seed=1)):
        with pytest.raises(DataError) as caught:
            use(folder / "new")
        message = str(caught.value)
        assert "new.manifest.json" in message and "\n" not in message, message
        assert len(message) < 500
    assert contents(folder) == before


def test_every_field_wrong_once(sets, tried):
    right = json.loads((sets / "new.manifest.json").read_text())
    shard, *_ = right["shards"]
    cases = [changed(right, path, value) for path in places(right)
             for value in [*WRONG, *([KeyError] if path else [])]]
    for name in NAMES:  # a shard more, and one under another name
        for fewer in (right["shards"], {k: v for k, v in right["shards"].items()
                                        if k != shard}):
            cases.append({**right, "shards": {**fewer, name: right["shards"][shard]}})
    cases = [case for case in cases if case != right]
    cases.append(json.loads((sets / "other.manifest.json").read_text()))
    tried(len(cases))
    for case in cases:
        refused(sets, json.dumps(case).encode())


@settings(derandomize=True, deadline=None, max_examples=60,
          suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_drawn_manifests_lose_nothing(data, sets):
    values = st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
            st.sampled_from([*NAMES, "records", "bytes", "sha256"]), inner,
            max_size=3), max_leaves=6)
    drawn = {"records": data.draw(values), "shards": data.draw(values)}
    with contextlib.suppress(UnicodeEncodeError):
        refused(sets, json.dumps(drawn).encode())


def test_a_copied_set_is_whole_under_its_new_name_or_refused(sets):
    """The manifest alone costs the other set nothing; with its files it is a set."""
    shutil.copy(sets / "other.manifest.json", sets / "copy.manifest.json")
    with pytest.raises(DataError, match="other-00000-of-00002"):
        records.write_shards(EXAMPLES, sets / "copy", 1, seed=1)
    assert records.check_shards(sets / "other") == 3
    records.write_shards(EXAMPLES, sets / "other", 3, seed=1)  # its own go
    assert sorted(name for name in os.listdir(sets) if name.startswith("other")) == [
        *(f"other-{k:05d}-of-00003" for k in range(3)), "other.manifest.json"]


@pytest.mark.parametrize("compression", ["ZLIB", "zip", "gzip", 5])
def test_a_compression_that_no_reader_here_knows(tmp_path, compression):
    with pytest.raises(ValueError, match="compression must be"):
        records.write_shards(EXAMPLES, tmp_path / "x", 1, seed=1,
                             compression=compression)
    assert not os.listdir(tmp_path)


# Two sets are one: new together, or old together ----------------------------------


def own_pictures(folder, classes):
    from PIL import Image

    for number, name in enumerate(classes):
        place = os.path.join(os.fsencode(folder), os.fsencode(name))
        os.makedirs(place)
        for k in range(3):
            with open(os.path.join(place, b"%d.png" % k), "wb") as file:
                Image.new("RGB", (9, 9), (50 * number, 9, 9)).save(file, "PNG")
    return folder


@pytest.mark.parametrize("fails", range(7))
def test_where_one_of_two_sets_fails_both_stay_as_they_were(
        tmp_path, monkeypatch, fails):
    """Whatever file cannot be written: four shards, labels, manifests, of both."""
    out = tmp_path / "out"
    records.write_picture_shards(own_pictures(tmp_path / "1", "abc"), out, image_size=8)
    before, true, calls = contents(out), writing.whole_file, []

    @contextlib.contextmanager
    def full(path):
        calls.append(path)
        if len(calls) == fails + 4:
            raise OSError(28, "No space left on device")
        with true(path) as draft:
            yield draft

    monkeypatch.setattr(writing, "whole_file", full)
    mine = own_pictures(tmp_path / "2", "xyz")
    if fails == 6:  # there are nine files in all: this time all is well
        records.write_picture_shards(mine, out, image_size=8)
        assert contents(out) != before and len(calls) == 9
        assert [records.check_shards(out / name) for name in ("train", "val")] == [6, 3]
        return
    with pytest.raises(DataError, match="No space left"):
        records.write_picture_shards(mine, out, image_size=8)
    assert contents(out) == before


def test_killed_between_two_names_neither_set_opens(tmp_path, monkeypatch):
    """After each rename: never a new set beside an old one."""
    out = tmp_path / "out"
    records.write_picture_shards(own_pictures(tmp_path / "1", "abc"), out, image_size=8)
    true, seen = os.replace, []

    def replace(source, target):
        true(source, target)
        seen.append({name for name in ("train", "val")
                     if os.path.exists(out / f"{name}.manifest.json")})

    monkeypatch.setattr(os, "replace", replace)
    records.write_picture_shards(own_pictures(tmp_path / "2", "xyz"), out, image_size=8)
    assert len(seen) == 9 and not any(seen[:-2]) and len(seen[-1]) == 2


@pytest.mark.parametrize("name", ["ba\nd", "b\td", "b\rd", "b\x0bd", "b\x85", "b\u2028",
                                  "b\n", "\udcff", "\x1cb"])
def test_a_name_that_a_file_of_labels_cannot_hold(name, tmp_path):
    mine = own_pictures(tmp_path / "in", ["apple", name, "cat"])
    with pytest.raises(DataError, match="must be valid text"):
        records.write_picture_shards(mine, tmp_path / "out", image_size=8)
    assert not (tmp_path / "out").exists()
    odd = ["a b", "ä", "\u3000x", "x\u00a0y", "日本", "e\u0301"]
    for label in odd:
        assert folders._label_lines({}, [label]) == f"{label}\t\n"
