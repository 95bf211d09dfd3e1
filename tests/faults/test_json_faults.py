"""Every reader of JSON takes a right file, and refuses each broken one in one line.

A right file of each kind is broken in each way that JSON can be, at each of its places.
"""

import ast
import contextlib
import copy
import dataclasses
import io
import json

import h5py
import pytest

from helpers import captions, records
from helpers.captions import saving
from helpers.datasets import coco
from helpers.errors import DataError
from helpers.files import ROOT
from helpers.inherited import describe, open_model
from tf1tools.port.reading import files as sources
from tools import progress


def manifest(folder):
    records.write_shards([records.make_example(b"x", 0)], folder / "set", 1, seed=1)
    return folder / "set.manifest.json", lambda path: records.read_manifest(
        path.with_name("set"))


def notes(folder):
    path, shape = folder / "captions.json", {"images": [{"id": int, "file_name": str}]}
    path.write_text('{"images": [{"id": 3, "file_name": "a.jpg"}]}')
    return path, lambda path: coco.read_notes(path, shape)


def sizes(folder):
    path = folder / saving.SIZES
    fields = dataclasses.fields(captions.Sizes)
    found = {field.name: "x" if field.type is str else 3 for field in fields}
    path.write_text(json.dumps({**found, "vocabulary": "abc"}))
    return path, lambda path: saving._read_sizes(path.parent)


def notebook(folder):
    """A notebook that was handed in beside a good one, as `progress` counts them."""
    report = ["Exercise 1: halve\n", "  [✓] halves 4\n", "  [✗] halves 0\n"]
    path = folder / "handed_in.ipynb"
    path.write_text(json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {},
                                "cells": [
        {"cell_type": "markdown", "id": "a", "metadata": {"tags": ["prediction"]},
         "source": "*My prediction:* 7"},
        {"cell_type": "code", "id": "b", "metadata": {}, "execution_count": 1,
         "source": ["x = 1"], "outputs": [{"name": "stdout", "output_type": "stream",
                                           "text": report}]}]}))
    (folder / "good.ipynb").write_bytes(path.read_bytes())

    def read(path):
        out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = progress.main([str(path.parent)])
        out.flush()
        said = out.buffer.getvalue().decode()
        assert "good" in said  # one bad file does not end the count
        if code:
            raise DataError(err.getvalue().rstrip("\n"))
        return said

    return path, read


def old_notebook(folder):
    path = folder / "theirs.ipynb"
    path.write_text('{"cells": [{"cell_type": "code", "source": "x = 1"}]}')

    def read(path):
        try:
            return list(sources.cells(path.read_text("utf-8-sig")))
        except (sources.Unreadable, UnicodeDecodeError) as error:
            raise DataError(f"{path}: {error}") from error

    return path, read


def keras(folder):
    """The configuration inside a Keras HDF5 file."""
    path = folder / "config"
    model = {"class_name": "Sequential", "config": {"name": "m", "layers": [
        {"class_name": "Dense", "config": {"name": "d", "units": 2}}]}}
    path.write_text(json.dumps(model))

    def read(path):
        with h5py.File(path.with_name("config.h5"), "w") as file:
            file.attrs["model_config"] = path.read_bytes().replace(b"\0", b"\1")
        described = describe(path.with_name("config.h5"))
        with open_model(path.with_name("config.h5")):
            return described

    return path, read


READERS = [manifest, notes, sizes, notebook, old_notebook]
WRONG = [None, True, -1, 2**63, 10**400, 1.5, float("nan"), float("inf"), "",
         [], [[]], {}, {"a": 1}, "\ud800"]


def damaged(whole):
    """Yields bytes that are no JSON, or none that one may believe."""
    yield from (b"[" * 100_000, b'{"a":' * 100_000, b"\xff\xfe{\0}\0", b"1" * 5_000,
                b"", b"NaN", b"null", b"\x80\x04\x95", whole + b"{}")
    yield from (whole[:cut] for cut in range(1, len(whole.rstrip()), 3))
    yield whole.replace(b'"', b'"\xe9', 1)  # latin-1


def places(value, path=()):
    yield path
    pairs = value.items() if isinstance(value, dict) else (
        enumerate(value) if isinstance(value, list) else ())
    for key, inner in pairs:
        yield from places(inner, (*path, key))


def changed(value, path, new):
    """Returns a copy with another value at a place; without it for `KeyError`."""
    if not path:
        return new
    found = copy.deepcopy(value)
    *before, last = path
    inside = found
    for key in before:
        inside = inside[key]
    if new is KeyError:
        del inside[last]
    else:
        inside[last] = new
    return found


def refused(read, path, content):
    path.write_bytes(content)
    with pytest.raises(DataError) as caught:
        read(path)
    message = str(caught.value)
    assert path.name.split(".")[0] in message and "\n" not in message, message
    assert len(message) < 600


@pytest.mark.parametrize("kind", [*READERS, keras])
def test_what_is_no_json_is_one_line(kind, tmp_path, tried):
    path, read = kind(tmp_path)
    whole = path.read_bytes()
    if kind is not keras:  # of which Keras itself makes the model
        assert read(path) is not None
    cases = list(damaged(whole))
    if kind is old_notebook:  # an empty one has no cells
        cases.remove(b"")
    tried(len(cases))
    for case in cases:
        refused(read, path, case)


@pytest.mark.parametrize("kind", READERS)
def test_a_wrong_value_at_any_place_is_one_line_or_does_no_harm(kind, tmp_path, tried):
    path, read = kind(tmp_path)
    right = json.loads(path.read_bytes())
    cases = [changed(right, place, value) for place in places(right) for value in WRONG]
    tried(len(cases))
    for case in cases:
        path.write_text(json.dumps(case))
        with contextlib.suppress(DataError):
            read(path)  # nothing else is raised
    for value in WRONG[:9]:  # instead of all of it
        refused(read, path, json.dumps(value).encode())


def test_a_name_that_stands_twice_is_refused(tmp_path):
    """Of two values for one name nobody knows which is meant."""
    path, read = notes(tmp_path)
    refused(read, path, b'{"images": 1, ' + path.read_bytes()[1:])


@pytest.mark.parametrize("kind", [notes, old_notebook])
def test_a_byte_order_mark_is_no_damage(kind, tmp_path):
    path, read = kind(tmp_path)
    before = read(path)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert read(path) == before


# Who calls `json` without `read_json`, and why that is no hole.
BY_THEMSELVES = {
    "helpers/reading.py": "is `read_json`",
    "helpers/imagenet.py": "its bytes have the hash that we know",
    "helpers/datasets/coco.py": "an archive whose bytes have the hash that we know",
    "helpers/inherited/keras_files.py": "inside HDF5; tried above",
    "helpers/checks/lesson_09a.py": "what an answer returned, under the check's watch",
    "tools/jupyter/config.py": "settings of our own, beside it",
    "tools/book_sphinx.py": "the index that Sphinx has just written",
    "tools/doctor.py": "a line of the process that it started itself",
    "legacy/tf1tools/port/reading/files.py": "text in whatever coding; tried above",
}


def test_nobody_else_reads_json():
    found = set()
    for folder in ("helpers", "tools", "benchmarks", "prebuilt", "legacy/tf1tools"):
        for path in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.Attribute) and ast.unparse(node) in (
                        "json.load", "json.loads"):
                    found.add(path.relative_to(ROOT).as_posix())
    assert found == set(BY_THEMSELVES)
