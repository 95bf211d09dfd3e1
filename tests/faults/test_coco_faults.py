"""COCO fetched picture by picture: what goes wrong is one line, what came stays."""

from pathlib import Path

import lookalikes
import pytest

from helpers.datasets import coco, downloads, grab_captions
from helpers.errors import DataError

ARCHIVE = "/annotations/annotations_trainval2017.zip"


@pytest.fixture
def server(data, tmp_path, monkeypatch):
    """The look-alike of COCO 2017 in the place of COCO's own server."""
    monkeypatch.setattr(downloads, "PAUSE_SECONDS", 0.01)
    folder = lookalikes.coco(tmp_path / "www", train=30, val=12)
    with lookalikes.served(folder) as server:
        monkeypatch.setattr(coco, "_SERVERS", (server.url,))
        archive = lookalikes.zipped(folder / "annotations", folder / "archive.zip")
        archive = archive.rename(folder / ARCHIVE[1:])
        lookalikes.publish(coco, archive, server.url + ARCHIVE, monkeypatch)
        yield server


def asked(server) -> list[str]:
    return [path for path, _ in server.requests if path.endswith(".jpg")]


def refused(server, pictures=10) -> str:
    with pytest.raises(DataError) as caught:
        grab_captions("download", pictures=pictures)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_so_many_pictures_are_fetched_once_and_more_keep_them(server, data, capsys):
    first = grab_captions("download", pictures=10)
    said = capsys.readouterr().out.splitlines()
    assert f" {coco.ARCHIVE.size:,} bytes of COCO annotations" in said[0]
    assert "and 11 images" in said[0]
    assert {split: len(found) for split, found in first.items()} == {
        "train2017": 10, "val2017": 1}
    assert len(asked(server)) == len(set(asked(server))) == 11
    assert all(len(one.captions) >= 5 and one.objects for one in first["train2017"])
    notes = (data / "coco-download" / "annotations").iterdir()
    assert not any("segmentation" in path.read_text() for path in notes)

    server.requests.clear()
    assert grab_captions("download", pictures=10) == first
    assert server.requests == [] and capsys.readouterr().out == ""
    more = grab_captions("download", pictures=20)
    assert {one.id for one in first["train2017"]} <= {o.id for o in more["train2017"]}
    assert len(more["train2017"]) == 20 and len(asked(server)) == 11
    assert len(server.requests) == 11  # the archive was there
    assert grab_captions("download", pictures=10) == first


def missing(handler, nth):
    handler.send_error(404)


def dropped(handler, nth):
    contents = Path(handler.translate_path(handler.path)).read_bytes()
    handler.answer(contents[: len(contents) // 2], len(contents))
    handler.close_connection = True


@pytest.mark.parametrize(("fault", "cause", "tries"), [
    (missing, "HTTP 404", 1), (dropped, "The connection was dropped", 3)])
def test_a_picture_that_fails_is_one_line_and_the_next_call_goes_on(
    fault, cause, tries, server, data, tried
):
    tried(1)
    grab_captions("download", pictures=4)  # to know a name
    name = sorted(path.name for path in (data / "coco-download/train2017").iterdir())[2]
    (data / "coco-download" / "train2017" / name).unlink()
    path = f"/train2017/{name}"
    server.faults[path] = fault
    server.requests.clear()
    message = refused(server, 4)
    assert name in message and cause in message
    assert "Kept the 4 of 5 pictures that arrived" in message
    assert asked(server) == [path] * tries
    folder = data / "coco-download" / "train2017"
    assert len(list(folder.iterdir())) == 3  # nothing half, no leftovers
    server.faults.clear()
    assert len(grab_captions("download", pictures=4)["train2017"]) == 4
