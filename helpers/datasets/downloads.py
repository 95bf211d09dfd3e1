"""Fetching one file: whole and of the right hash, or one line that says why not."""

import contextlib
import dataclasses
import hashlib
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import requests
import urllib3
from tqdm import tqdm

from helpers.datasets.deadline import Deadline
from helpers.errors import DataError
from helpers.files import ROOT, data_folder, whole_file

RETRIES = 2  # after a dropped connection or a server's own error, never after a 404
PAUSE_SECONDS = 1.0  # before the first retry, twice as long before the next
BLOCK = 1 << 16


class _Failed(Exception):
    """Why this address does not deliver, in a few words."""


class _Dropped(_Failed):
    """A failure that another try may cure."""


@dataclasses.dataclass(frozen=True)
class Download:
    """One file on the network.

    Attributes:
      name: of the file in `data/downloads/`.
      urls: where it is, the preferred address first.
      size: bytes.
      digest: algorithm and hexadecimal digits, as in "sha256:731c5a...".
      offline: the call that needs no network, for the error message.
      deadline: seconds for all tries together, whatever the server does.
      timeout: seconds to connect, and seconds to hear anything.
    """

    name: str
    urls: tuple[str, ...]
    size: int
    digest: str
    offline: str
    deadline: float = 3600.0
    timeout: tuple[float, float] = (10.0, 30.0)

    def fetch(self) -> Path:
        """Returns the file, from `data/downloads/` if it is there with the right hash.

        A dropped connection is taken up where it broke. The file gets its name after
        its hash was compared, so two processes may fetch it at once.

        Raises:
          DataError: names the file, the cause and the call that needs no network.
        """
        path = data_folder() / "downloads" / self.name
        try:
            if path.is_file() and self.is_right(path):
                return path
            path.parent.mkdir(parents=True, exist_ok=True)
            free = shutil.disk_usage(path.parent).free
            if free < self.size:
                raise self._error(f"it needs {self.size:,} bytes, {free:,} are free")
            with whole_file(path) as temporary:
                self._fetch_from_any(temporary)
        except OSError as error:
            raise self._error(f"{path.parent}: {error.strerror or error}") from error
        return path

    def found_in(self, source: str | os.PathLike) -> Path:
        """Returns the file: fetched for `"download"`, else from the folder `source`.

        A relative folder begins at the repository's.

        Raises:
          DataError: it is not there, or its hash is another; names the file.
        """
        if source == "download":
            return self.fetch()
        path = ROOT / Path(source).expanduser() / self.name
        if not path.is_file():
            raise DataError(
                f'{path}: there is no such file. Put it there, use "download", or '
                f"{self.offline}"
            )
        if not self.is_right(path):
            raise DataError(
                f"{path}: its hash is not the one we know: it is damaged or another "
                'file. Copy it again, or use "download"'
            )
        return path

    def _fetch_from_any(self, temporary: Path) -> None:
        causes = []
        with Deadline(self.deadline) as deadline:
            for url in self.urls:
                try:
                    temporary.write_bytes(b"")
                    self._fetch_from(url, temporary, deadline)
                    return
                except _Failed as failure:
                    causes.append(f"{url}: {failure}")
                    last = failure
        raise self._error("; ".join(causes)) from last

    def _fetch_from(self, url: str, temporary: Path, deadline: Deadline) -> None:
        for attempt in range(RETRIES + 1):
            try:
                self._append(url, temporary, deadline)
                break
            except _Failed as failure:
                _check_time(deadline)  # a connection that was shut looks dropped
                if attempt == RETRIES or not isinstance(failure, _Dropped):
                    raise
                time.sleep(min(PAUSE_SECONDS * 2**attempt, deadline.left()))
        if not self.is_right(temporary):
            raise _Failed("another file came: its hash is not the one we know")

    def _append(self, url: str, temporary: Path, deadline: Deadline) -> None:
        """Adds to the file what is still missing of it."""
        have = temporary.stat().st_size
        headers = {"Accept-Encoding": "identity"}
        if have:
            headers["Range"] = f"bytes={have}-"
        left = _check_time(deadline)
        timeout = min(self.timeout[0], left), min(self.timeout[1], left)
        with contextlib.ExitStack() as open_:
            session = open_.enter_context(deadline.session())
            with _network_failures(timeout):
                response = session.get(
                    url, headers=headers, stream=True, timeout=timeout
                )
            open_.enter_context(response)
            if not _continues(response, have):
                have = 0
            _check_answer(response, self.size - have)
            with (
                open(temporary, "ab" if have else "wb") as file,
                tqdm(
                    desc=self.name,
                    total=self.size,
                    initial=have,
                    unit="B",
                    unit_scale=True,
                ) as bar,
            ):
                while block := _next_block(response, timeout):
                    _check_time(deadline)
                    have += len(block)
                    if have > self.size:
                        raise _Failed(f"it is longer than {self.size:,} bytes")
                    file.write(block)
                    bar.update(len(block))
        if have < self.size:
            raise _Dropped(f"the connection was dropped after {have:,} bytes")

    def is_right(self, path: Path) -> bool:
        """Returns whether a file has the hash that we know."""
        algorithm, wanted = self.digest.split(":")
        digest = hashlib.new(algorithm)
        with open(path, "rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
        return digest.hexdigest() == wanted

    def _error(self, cause: str) -> DataError:
        return DataError(f"{self.name}: {cause}. {self.offline} needs no network")


def fetch_bytes(
    url: str,
    most: int,
    *,
    deadline: float = 120.0,
    timeout: tuple[float, float] = (10.0, 30.0),
) -> bytes:
    """Returns the contents of a small file whose size and hash nobody has published.

    Args:
      url: where it is.
      most: bytes that it may have.
      deadline: seconds for all tries together.
      timeout: seconds to connect, and seconds to hear anything.

    Raises:
      DataError: names the address and the cause.
    """
    with Deadline(deadline) as clock:
        for attempt in range(RETRIES + 1):
            try:
                return _whole_answer(url, most, clock, timeout)
            except _Failed as failure:
                last = failure
                if not clock.left() or not isinstance(failure, _Dropped):
                    break
                if attempt < RETRIES:
                    time.sleep(min(PAUSE_SECONDS * 2**attempt, clock.left()))
        cause = last if clock.left() else f"not finished after {deadline:g} s"
    raise DataError(f"{url}: {cause}") from last


def _whole_answer(url: str, most: int, deadline: Deadline, timeout) -> bytes:
    """Returns all that comes from an address, if it is as much as was announced."""
    left = _check_time(deadline)
    timeout = min(timeout[0], left), min(timeout[1], left)
    headers = {"Accept-Encoding": "identity"}
    contents = bytearray()
    with contextlib.ExitStack() as open_:
        session = open_.enter_context(deadline.session())
        with _network_failures(timeout):
            response = session.get(url, headers=headers, stream=True, timeout=timeout)
        open_.enter_context(response)
        _check_status(response)
        while block := _next_block(response, timeout):
            _check_time(deadline)
            contents += block
            if len(contents) > most:
                raise _Failed(f"it is longer than {most:,} bytes")
        announced = response.headers.get("Content-Length", "")
        if announced.isdecimal() and len(contents) < int(announced):
            raise _Dropped(f"the connection was dropped after {len(contents):,} bytes")
    return bytes(contents)


def _check_time(deadline: Deadline) -> float:
    """Returns the seconds that are left; raises `_Failed` where there are none."""
    if not deadline.left():
        raise _Failed(f"not finished after {deadline.seconds:g} s")
    return deadline.left() or 0.001  # a timeout of nothing would mean none


def _continues(response: requests.Response, have: int) -> bool:
    """Returns whether the server sends the rest, and not all from the start."""
    start = response.headers.get("Content-Range", "")
    return response.status_code == 206 and start.startswith(f"bytes {have}-")


def _check_answer(response: requests.Response, missing: int) -> None:
    """Raises `_Failed` where the headers show that the file is not what comes."""
    _check_status(response)
    announced = response.headers.get("Content-Length")
    if announced is not None and announced != str(missing):
        raise _Failed(f"{announced} bytes are announced, {missing:,} are missing")


def _check_status(response: requests.Response) -> None:
    """Raises `_Failed` where the server answers with anything but a file."""
    status = response.status_code
    if status >= 500:
        raise _Dropped(f"HTTP {status} {response.reason}")
    if status not in (200, 206):
        raise _Failed(f"HTTP {status} {response.reason}")
    if response.headers.get("Content-Type", "").startswith("text/html"):
        raise _Failed("a web page came in its place (a login page of the network?)")


def _next_block(response: requests.Response, timeout) -> bytes:
    """Returns what has arrived, without waiting for a full block; b"" at the end."""
    with _network_failures(timeout):
        return response.raw.read1(BLOCK)


@contextlib.contextmanager
def _network_failures(timeout) -> Iterator[None]:
    """Turns the exceptions of three libraries into `_Failed` and `_Dropped`."""
    errors = urllib3.exceptions
    try:
        yield
    except requests.exceptions.SSLError as error:
        raise _Failed("the server's certificate was not accepted") from error
    except requests.exceptions.ConnectTimeout as error:
        raise _Failed(f"no connection within {timeout[0]:g} s") from error
    except (requests.exceptions.Timeout, errors.TimeoutError) as error:
        raise _Dropped(f"nothing came for {timeout[1]:g} s") from error
    except requests.exceptions.ConnectionError as error:
        if isinstance(error.args[0], errors.MaxRetryError):
            raise _Failed("no connection (is there a network?)") from error
        raise _Dropped("the connection was dropped") from error
    except requests.exceptions.RequestException as error:
        raise _Failed(type(error).__name__) from error
    except ValueError as error:  # of a redirect that is no UTF-8, or no address
        raise _Failed("it leads on to an address that cannot be read") from error
    except (errors.HTTPError, OSError) as error:
        raise _Dropped("the connection was dropped") from error
