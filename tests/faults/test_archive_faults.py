"""An archive is unpacked whole, or refused before anything has a name.

Every hostile archive is built here. `naive` is the source's way: what exists counts
as unpacked, and `extractall` takes what it is given.
"""

import os
import shutil
import stat
import struct
import subprocess
import sys
import types
import unicodedata
import warnings
import zipfile
from pathlib import Path

import killing
import pytest
from hypothesis import HealthCheck, given, settings, strategies

from helpers import files
from helpers.datasets import archives
from helpers.datasets.archives import unpack_zip
from helpers.errors import DataError

pytestmark = pytest.mark.skipif(os.name == "nt", reason="kills by POSIX signals")
COMPOSED = "\u00e9.txt"


def build(path: Path, *members, compression=zipfile.ZIP_STORED) -> Path:
    """Writes an archive of (name, contents[, mode]), as hostile as it is asked."""
    with warnings.catch_warnings(), zipfile.ZipFile(path, "w", compression) as file:
        warnings.simplefilter("ignore")  # the same name twice
        for name, contents, *mode in members:
            info = zipfile.ZipInfo("x")
            info.filename = name  # the constructor would repair it
            info.compress_type = compression
            info.external_attr = (mode[0] if mode else stat.S_IFREG | 0o644) << 16
            file.writestr(info, contents)
    return path


def patch_list(path: Path, offset: int, layout: str, value: int) -> None:
    """Changes one field of the first entry in the archive's list."""
    contents = bytearray(path.read_bytes())
    struct.pack_into(layout, contents, contents.index(b"PK\x01\x02") + offset, value)
    path.write_bytes(contents)


def refused(path: Path) -> str:
    """Returns the error for an archive of which nothing was left on disk."""
    before = sorted(path.parent.iterdir())
    outside = sorted(path.parent.parent.iterdir())
    with pytest.raises(DataError) as caught:
        unpack_zip(path, path.parent / "out")
    assert sorted(path.parent.iterdir()) == before
    assert sorted(path.parent.parent.iterdir()) == outside
    message = str(caught.value)
    assert str(path) in message and "\n" not in message
    return message


@pytest.mark.parametrize(
    ("name", "cause"),
    [
        ("../evil.txt", "leaves the folder"),
        ("a/../../evil.txt", "leaves the folder"),
        ("a/..", "leaves the folder"),
        ("/tmp/evil.txt", "absolute"),
        ("//host/share/evil.txt", "absolute"),
        ("a\\evil.txt", "backslash"),
        ("..\\evil.txt", "backslash"),
        ("C:evil.txt", "drive"),
        ("C:/evil.txt", "drive"),
        ("a/file.txt:stream", "drive"),
        ("a//evil.txt", "not plain"),
        ("./evil.txt", "not plain"),
        ("", "not plain"),
        ("evil\n.txt", "not plain"),
        ("picture.jpg\0.exe", "not plain"),
    ],
)
def test_a_name_that_is_not_plain_and_relative(name, cause, tmp_path):
    path = build(tmp_path / "a.zip", ("good.txt", "1"), (name, "2"))
    assert cause in refused(path)


@pytest.mark.parametrize(
    ("mode", "cause"),
    [
        (stat.S_IFLNK | 0o777, "is a link"),
        (stat.S_IFIFO | 0o644, "not a regular file"),
        (stat.S_IFCHR | 0o644, "not a regular file"),
    ],
)
def test_a_member_that_is_not_a_file(mode, cause, tmp_path):
    path = build(tmp_path / "a.zip", ("good.txt", "1"), ("x", "/etc/passwd", mode))
    message = refused(path)
    assert cause in message and "'x'" in message


@pytest.mark.parametrize(
    "names",
    [
        ("same.txt", "same.txt"),
        ("Same.txt", "sAME.txt"),
        ("A/same.txt", "a/same.txt"),
        (COMPOSED, unicodedata.normalize("NFD", COMPOSED)),
    ],
)
def test_the_same_name_twice(names, tmp_path):
    path = build(tmp_path / "a.zip", *[(name, name) for name in names])
    assert "comes twice" in refused(path)


@pytest.mark.parametrize(
    "names", [("a", "a/b.txt"), ("a/b.txt", "a"), ("A", "a/b.txt"), ("a/", "a")]
)
def test_a_file_that_is_a_folder_too(names, tmp_path):
    path = build(tmp_path / "a.zip", *[(name, "") for name in names])
    assert "is a file and a folder" in refused(path)


def test_a_bomb_by_its_ratio(tmp_path):
    path = build(tmp_path / "a.zip", ("zeros", bytes(20_000_000)),
                 compression=zipfile.ZIP_DEFLATED)  # fmt: skip
    assert path.stat().st_size < 25_000
    assert "a bomb" in refused(path)


def test_a_bomb_by_its_size(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "MAX_BYTES", 1000)
    path = build(tmp_path / "a.zip", ("a", bytes(700)), ("b", bytes(400)))
    assert "unpacks to 1,100 bytes, limit 1,000" in refused(path)


@pytest.mark.parametrize("stated", [5, 15, 2**31])
def test_a_size_that_lies(stated, tmp_path):
    path = build(tmp_path / "a.zip", ("b", os.urandom(10)), ("c", "c"))
    patch_list(path, 24, "<I", stated)
    refused(path)


@pytest.mark.parametrize("stated", [5, 15])
def test_a_size_that_lies_when_compressed(stated, tmp_path):
    path = build(tmp_path / "a.zip", ("b", os.urandom(10)), ("c", "c"),
                 compression=zipfile.ZIP_DEFLATED)  # fmt: skip
    patch_list(path, 24, "<I", stated)
    refused(path)


def test_a_size_and_a_checksum_that_lie(tmp_path):
    """The stated size bounds what is written, whatever the stream holds."""
    path = build(tmp_path / "a.zip", ("b", bytes(100_000)), ("c", os.urandom(2000)),
                 compression=zipfile.ZIP_DEFLATED)  # fmt: skip
    patch_list(path, 24, "<I", 10)
    patch_list(path, 16, "<I", zipfile.crc32(bytes(10)))
    folder = unpack_zip(path, tmp_path / "out")
    assert (folder / "b").read_bytes() == bytes(10)


@pytest.mark.parametrize(("offset", "layout", "value", "cause"), [
    (8, "<H", 1, "encrypted"),
    (10, "<H", zipfile.ZIP_LZMA, "unusual way"),
    (10, "<H", 99, "unusual way"),
])  # fmt: skip
def test_a_member_that_cannot_be_read(offset, layout, value, cause, tmp_path):
    path = build(tmp_path / "a.zip", ("b", "b"))
    patch_list(path, offset, layout, value)
    assert cause in refused(path)


def test_an_archive_of_nothing(tmp_path):
    assert "no files" in refused(build(tmp_path / "a.zip"))
    assert "no files" in refused(build(tmp_path / "a.zip", ("folder/", "")))


def test_too_little_disk(tmp_path, monkeypatch):
    usage = types.SimpleNamespace(free=3 * archives.DISK_BLOCK - 1)
    monkeypatch.setattr(archives.shutil, "disk_usage", lambda _: usage)
    path = build(tmp_path / "a.zip", *[(str(k), "") for k in range(9)],
                 ("a", "a"), ("b", bytes(5000)))  # fmt: skip
    assert "12,288 bytes of disk and 12,287 are free" in refused(path)


def test_a_disk_that_fills_up(tmp_path):
    path = build(tmp_path / "a.zip", ("a", "a"), ("b", bytes(500_000)))
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (99_999, 99_999))\n"
        "from helpers.datasets.archives import *\n"
        f"try: unpack_zip({str(path)!r}, {str(tmp_path / 'out')!r})\n"
        "except DataError as error: print(error)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True,
                           text=True, timeout=240, check=True)  # fmt: skip
    assert "File too large" in found.stdout
    assert list(tmp_path.iterdir()) == [path]


def test_every_flipped_byte_of_the_contents_is_found(tmp_path, tried):
    contents = os.urandom(40)
    path = build(tmp_path / "a.zip", ("a", "a"), ("b", contents))
    whole = path.read_bytes()
    start = whole.index(contents)
    tried(len(contents))
    for place in range(start, start + len(contents)):
        damaged = bytearray(whole)
        damaged[place] ^= 0x10
        path.write_bytes(damaged)
        assert "damaged archive" in refused(path)


def test_every_cut_is_found(tmp_path, tried):
    path = build(tmp_path / "a.zip", ("a", "a"), ("b/c", os.urandom(40)))
    whole = path.read_bytes()
    tried(len(whole))
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        refused(path)


def test_every_flipped_byte_of_the_list_gives_the_whole_or_is_refused(tmp_path, tried):
    """One bit of a length makes the rest of the list a comment, for every reader."""
    contents = {f"{k}/\u00e9{k}.txt": os.urandom(7) for k in range(5)}
    path = build(tmp_path / "a.zip", *contents.items())
    whole = path.read_bytes()
    start = whole.index(b"PK\1\2")
    tried(8 * (len(whole) - start))
    for place in range(start, len(whole)):
        for bit in range(8):
            damaged = bytearray(whole)
            damaged[place] ^= 1 << bit
            path.write_bytes(damaged)
            assert whole_or_refused(path, contents)


@pytest.mark.naive
def test_naive_reading_of_a_damaged_list_sees_fewer_files(tmp_path):
    path = build(tmp_path / "a.zip", *[(f"{k}", "contents") for k in range(5)])
    damaged = bytearray(path.read_bytes())
    damaged[damaged.index(b"PK\1\2") + 33] ^= 1  # the length of a comment
    path.write_bytes(damaged)
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None and len(archive.namelist()) < 5
    assert "is not in its list" in refused(path)


def whole_or_refused(path: Path, contents: dict[str, bytes]) -> bool:
    """Returns whether an archive gives all of its files, or none and an error."""
    folder = path.parent / "out"
    try:
        unpack_zip(path, folder)
    except DataError as error:
        assert str(path) in str(error) and "\n" not in str(error)
        return not folder.exists()
    found = {p.relative_to(folder).as_posix(): p.read_bytes()
             for p in folder.rglob("*") if p.is_file() and p.name != files.MANIFEST}
    shutil.rmtree(folder)
    return found == contents


CONTENTS = {"a.txt": b"a" * 300, "b/c.bin": bytes(range(256)), "b/d": b"", "e": b"e"}


@settings(derandomize=True, deadline=None, max_examples=300,
          suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=strategies.data())
def test_random_damage_gives_the_whole_or_is_refused(tmp_path, data):
    """Flips, cuts, and pieces moved or doubled, anywhere in an archive."""
    path = build(tmp_path / "a.zip", *CONTENTS.items(),
                 compression=data.draw(strategies.sampled_from([0, 8])))
    damaged = bytearray(path.read_bytes())
    place = strategies.integers(0, len(damaged) - 1)
    for _ in range(data.draw(strategies.integers(1, 3))):
        at, other = data.draw(place), data.draw(place)
        length = data.draw(strategies.integers(1, 60))
        match data.draw(strategies.sampled_from(["flip", "cut", "copy", "zero"])):
            case "flip":
                damaged[at % len(damaged)] ^= data.draw(strategies.integers(1, 255))
            case "cut":
                del damaged[at : at + length]
            case "copy":
                damaged[at:at] = damaged[other : other + length]
            case "zero":
                damaged[at : at + length] = bytes(len(damaged[at : at + length]))
        if not damaged:
            return
    path.write_bytes(damaged)
    assert whole_or_refused(path, CONTENTS)


@pytest.mark.parametrize("name", ["manifest.json", "Manifest.JSON"])
def test_an_archive_with_a_manifest_of_its_own(name, tmp_path):
    path = build(tmp_path / "a.zip", ("good.txt", "1"), (name, "{}"))
    assert "has the name of the list" in refused(path)
    other = build(tmp_path / "b.zip", (f"sub/{name}", "{}"))
    folder = unpack_zip(other, tmp_path / "other")
    assert (folder / "sub" / name).read_text() == "{}"


def test_a_name_that_is_not_utf_8(tmp_path):
    path = build(tmp_path / "a.zip", (COMPOSED, "1"))
    path.write_bytes(path.read_bytes().replace("\u00e9".encode(), b"\xe9\xff"))
    assert "not the UTF-8 that its list says" in refused(path)


@pytest.mark.parametrize("folders", [64, 1100])
def test_folders_without_end(folders, tmp_path):
    path = build(tmp_path / "a.zip", ("x/" * folders + "y", "1"))
    assert "more than 64 folders" in refused(path)


def test_a_web_page_is_no_archive(tmp_path):
    path = tmp_path / "a.zip"
    path.write_text("<html>Please log in</html>")
    assert "damaged archive (File is not a zip file)" in refused(path)


def test_an_archive_that_is_not_there(tmp_path):
    assert "No such file" in refused(tmp_path / "a.zip")


@pytest.fixture
def many(tmp_path) -> Path:
    """An archive of 151 files that takes a while to unpack."""
    members = [(f"d{k % 7}/{k}.bin", os.urandom(3000)) for k in range(151)]
    return build(tmp_path / "many.zip", *members, compression=zipfile.ZIP_DEFLATED)


def test_killed_while_unpacking_20_times(many, tmp_path, tried):
    tried(20)
    pairs = killing.job("unpack", tmp_path / "out", archive=many)
    assert len(pairs) == 20
    assert {again for _, again in pairs} == {"whole"}
    assert {killed for killed, _ in pairs} <= {"absent", "whole"}
    assert ("absent", "whole") in pairs


@pytest.mark.naive
def test_the_naive_way_takes_the_part_for_the_whole(many, tmp_path):
    """What a killed one leaves: some files, under the real name."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "first.bin").write_bytes(b"1")
    killing.naive_unpack(tmp_path / "out", many)
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["first.bin"]


def test_killed_while_drawing_20_times(tmp_path, tried):
    tried(20)
    settings = {"num_classes": 3, "train": 11, "val": 2, "size": 32}
    pairs = killing.job("draw", tmp_path / "tiny-imagenet-200", **settings)
    assert {again for _, again in pairs} == {"whole"}
    assert {killed for killed, _ in pairs} <= {"absent", "whole"}


@pytest.mark.parametrize(
    "call",
    ["unpack_zip('many.zip', 'out')", "write_tiny_shapes('out', train=3, val=1)"],
)
def test_three_processes_at_once(call, many, tmp_path):
    code = (
        "import sys\n"
        "from helpers.datasets.archives import unpack_zip\n"
        "from helpers import files\n"
        "from helpers.shapes import write_tiny_shapes\n"
        "print('ready', flush=True); sys.stdin.readline()\n"
        f"assert files.is_whole({call})"
    )
    together = [
        subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                         cwd=tmp_path)
        for _ in range(3)
    ]  # fmt: skip
    assert [p.stdout.readline() for p in together] == ["ready\n"] * 3
    for process in together:
        print(file=process.stdin, flush=True)
    errors = [process.communicate(timeout=240)[1] for process in together]
    assert [process.returncode for process in together] == [0, 0, 0], errors
    assert sorted(p.name for p in tmp_path.iterdir()) == ["many.zip", "out"]


def test_a_damaged_folder_is_unpacked_again(many, tmp_path):
    folder = unpack_zip(many, tmp_path / "out")
    before = killing.digest(folder)
    (folder / "d3" / "3.bin").write_bytes(b"")
    assert not files.is_whole(folder)
    assert killing.digest(unpack_zip(many, folder)) == before


def test_another_archive_is_unpacked_though_the_folder_is_whole(tmp_path):
    for name in ("a", "b"):  # of the same names and sizes
        build(tmp_path / f"{name}.zip", ("letter.txt", name))
        folder = unpack_zip(tmp_path / f"{name}.zip", tmp_path / "out")
        assert (folder / "letter.txt").read_text() == name
    stamp = (folder / files.MANIFEST).stat().st_mtime_ns
    unpack_zip(tmp_path / "b.zip", folder)
    assert (folder / files.MANIFEST).stat().st_mtime_ns == stamp


def test_a_folder_of_somebody_else_is_left_alone(many, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "homework.txt").write_text("mine")
    with pytest.raises(DataError, match="left alone"):
        unpack_zip(many, tmp_path / "out")
    assert (tmp_path / "out" / "homework.txt").read_text() == "mine"


@pytest.mark.naive
def test_the_naive_way_renames_and_overwrites_in_silence(tmp_path):
    """Why the list is checked: `extractall` escapes nowhere, but it changes names."""
    path = build(tmp_path / "a.zip", ("../up.txt", "1"), ("x", "2"), ("x", "3"))
    killing.naive_unpack(tmp_path / "out", path)
    found = {p.name: p.read_text() for p in (tmp_path / "out").iterdir()}
    assert found == {"up.txt": "1", "x": "3"}
