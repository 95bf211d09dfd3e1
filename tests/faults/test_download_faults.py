"""A download ends with the right file, or with one line: never half, never endless.

A server on 127.0.0.1 misbehaves.
"""

import hashlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import killing
import lookalikes
import pytest

from helpers.datasets import downloads
from helpers.datasets.downloads import Download
from helpers.errors import DataError
from tests.limits import LIMIT

pytestmark = pytest.mark.skipif(os.name == "nt", reason="kills by POSIX signals")
CONTENTS = random.Random(7).randbytes(300_007)
SHA256 = hashlib.sha256(CONTENTS).hexdigest()
SIZE = len(CONTENTS)
HALF = SIZE // 2
OFFLINE = 'grab_tin(source="drawn")'


def start(handler, length=SIZE, status=200, kind="application/zip", **more):
    handler.send_response(status)
    handler.send_header("Content-Type", kind)
    if length is not None:
        handler.send_header("Content-Length", str(length))
    for name, value in more.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()


def drop(handler, nth):
    start(handler)
    handler.wfile.write(CONTENTS[:HALF])


def missing(handler, nth):
    handler.send_error(404)


def broken(handler, nth):
    handler.send_error(500)


def html(handler, nth):
    page = b"<html>Please log in to the guest network</html>"
    start(handler, len(page), kind="text/html; charset=utf-8")
    handler.wfile.write(page)


def stall(handler, nth):
    drop(handler, nth)
    time.sleep(30)


def wrong(handler, nth):
    start(handler)
    handler.wfile.write(bytes(SIZE))


def endless(handler, nth):
    start(handler, length=None)
    while True:
        handler.wfile.write(CONTENTS)


def resumes(handler, nth):
    if nth == 1:
        drop(handler, nth)
    else:
        handler.answer(CONTENTS)


def unasked(handler, nth):
    start(handler, HALF, 206, Content_Range=f"bytes 0-{HALF - 1}/{SIZE}")
    handler.wfile.write(CONTENTS[:HALF])


def forged(handler, nth):
    handler.send_response(404, "\x1b[2J\x07forged")
    handler.end_headers()


def elsewhere(handler, nth):
    start(handler, 0, 302, Location=("http://[::1", "file:///etc/hostname",
                                     "http://127.0.0.1:99999/x")[nth % 3])


def slow(handler, nth):
    start(handler)
    for k in range(0, SIZE, 10_000):
        handler.wfile.write(CONTENTS[k : k + 10_000])
        time.sleep(0.005)


def drip(handler, head, each):
    """Sends a beginning, then a little for ever: each byte in time, never the end."""
    handler.close_connection = True
    handler.wfile.write(head)
    for _ in range(600 if each else 0):
        handler.wfile.write(each)
        handler.wfile.flush()
        time.sleep(0.05)


OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
# A beginning of an answer, and what follows it again and again.
DRIPS = {
    "status": (b"HTTP/1.1 200 O", b"K"), "version": (b"", b"H"),
    "name": (OK + b"X", b"-"), "value": (OK + b"X: ", b"y"),
    "headers": (OK, b"X-%d: y\r\n"),
    "continue": (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "continue_headers": (b"HTTP/1.1 100 Continue\r\n", b"X: y\r\n"),
    "body": (OK + b"Content-Length: 300007\r\n\r\n", b"z"),
    "no_length": (OK + b"\r\n", b"z"), "chunks": (CHUNKED, b"1\r\nz\r\n"),
    "chunk_line": (CHUNKED, b"0"), "chunk_extension": (CHUNKED + b"5;", b"x"),
    "chunk": (CHUNKED + b"ffff\r\n", b"z"),
    "trailer": (CHUNKED + b"1\r\nz\r\n0\r\nX: ", b"y"),
    "trailers": (CHUNKED + b"1\r\nz\r\n0\r\n", b"X: y\r\n"),
    "redirect": (b"HTTP/1.1 302 Found\r\nLocation: /value\r\nContent-Length: 0\r\n"
                 b"Connection: close\r\n\r\n", b""),
}
FAULTS = {
    **{fault.__name__: fault for fault in (
        drop, missing, broken, html, stall, wrong, endless, resumes, unasked, slow,
        forged, elsewhere)},
    **{name: lambda handler, nth, says=says: drip(handler, *says)
       for name, says in DRIPS.items()},
}


@pytest.fixture
def server(tmp_path, data, monkeypatch):
    """Serves `CONTENTS`, badly: the path says how."""
    monkeypatch.setattr(downloads, "PAUSE_SECONDS", 0.01)
    (tmp_path / "www").mkdir()
    (tmp_path / "www" / "whole").write_bytes(CONTENTS)
    with lookalikes.served(tmp_path / "www") as server:
        server.faults |= {f"/{name}": fault for name, fault in FAULTS.items()}
        yield server


def known(*urls, **changes) -> Download:
    settings = {"deadline": 20.0, "timeout": (2.0, 0.5), **changes}
    return Download(
        "file.zip", urls, len(CONTENTS), f"sha256:{SHA256}", OFFLINE, **settings
    )


def refused(download: Download, data: Path) -> str:
    """Returns the error of a download that left nothing behind."""
    with pytest.raises(DataError) as caught:
        download.fetch()
    message = str(caught.value)
    assert message.startswith("Failed to download file.zip. ") and "\n" not in message
    assert message.endswith(f"{OFFLINE}, which needs no network.")
    assert list((data / "downloads").iterdir()) == []
    return message


@pytest.mark.parametrize(
    ("fault", "cause", "tries"),
    [
        ("drop", "The connection was dropped", 3),
        ("missing", "HTTP 404 Not Found", 1),
        ("broken", "HTTP 500 Internal Server Error", 3),
        ("html", "The server sent a web page instead", 1),
        ("stall", "No data arrived for 0.5 s", 3),
        ("wrong", "The downloaded file has an unexpected hash", 1),
        ("endless", "The server sent more than", 1),
        ("unasked", "byte range that was not requested", 1),
    ],
)
def test_a_fault_is_one_line_and_leaves_nothing(fault, cause, tries, server, data):
    message = refused(known(f"{server.url}/{fault}"), data)
    assert cause in message and fault in message
    assert len(server.requests) == tries


@pytest.mark.parametrize("fault", DRIPS)
@pytest.mark.usefixtures("no_thread_left")
def test_the_time_is_that_of_the_whole(fault, server, data):
    """Each byte comes in time, wherever in the answer; and the last one never."""
    download = known(f"{server.url}/{fault}", deadline=0.4, timeout=(2.0, 5.0))
    message = refused(download, data)
    assert "timed out after 0.4 s" in message or fault in (  # refused for more
        "headers", "continue_headers", "trailers"), message


def test_the_time_of_a_small_file_is_that_of_the_whole_too(server, monkeypatch):
    monkeypatch.setattr(downloads, "LONGEST", 0.4)
    with pytest.raises(DataError, match="timed out after 0.4 s"):
        downloads.fetch_bytes(f"{server.url}/no_length")


@pytest.mark.parametrize("fault, words", [
    ("forged", r"HTTP 404 \\x1b"), ("elsewhere", "Invalid|no connection"),
    ("elsewhere", "Invalid|no connection"), ("elsewhere", "Invalid|no connection"),
    ("endless", "exceeds the maximum"), ("missing", "HTTP 404")])
def test_an_address_or_an_answer_that_makes_no_sense_is_one_line(
        fault, words, server, data, monkeypatch):
    monkeypatch.setattr(downloads, "LARGEST", 2 * SIZE)
    for _ in range(3 if fault == "elsewhere" else 1):
        with pytest.raises(DataError) as caught:
            downloads.fetch_bytes(f"{server.url}/{fault}")
        assert str(caught.value).isprintable()
    assert refused(known(f"{server.url}/{fault}"), data).isprintable()


def test_a_dropped_download_goes_on_where_it_broke(server, data):
    path = known(f"{server.url}/resumes").fetch()
    assert server.requests == [("/resumes", None), ("/resumes", f"bytes={HALF}-")]
    assert path == data / "downloads" / "file.zip" and path.read_bytes() == CONTENTS
    assert [p.name for p in path.parent.iterdir()] == ["file.zip"]


def test_a_file_that_is_there_needs_no_network(server, data):
    path = known(f"{server.url}/whole").fetch()
    assert known("http://127.0.0.1:9/closed").fetch() == path
    path.write_bytes(CONTENTS[:-1])  # damaged later: fetched again
    assert known(f"{server.url}/whole").fetch().read_bytes() == CONTENTS


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:9/x", "http://no-such-host.invalid/x"]
)
def test_no_network_is_said_at_once(url, data):
    assert "no connection to the server" in refused(known(url, timeout=(10, 30)), data)


def test_ctrl_c_stops_a_stalled_download(server, data):
    code = (
        "from helpers.datasets.downloads import *\n"
        f"Download('file.zip', ('{server.url}/stall',), {len(CONTENTS)}, "
        f"'sha256:{SHA256}', 'x').fetch()"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE)
    while not server.requests and process.poll() is None:
        time.sleep(0.05)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=LIMIT)
    assert b"KeyboardInterrupt" in errors
    assert list((data / "downloads").iterdir()) == []


def test_killed_and_run_again_20_times(server, data, tried):
    tried(20)
    facts = {"url": f"{server.url}/slow", "size": len(CONTENTS), "sha256": SHA256}
    pairs = killing.job("download", data / "downloads" / "file.zip", **facts)
    assert ("absent", "whole") in pairs
