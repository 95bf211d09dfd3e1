"""Downloads of single files that resume, have a time limit, and verify hashes.

The package pooch caches downloaded files and compares their hashes. This module adds
that a download resumes where it broke off, and that it has a time limit whatever the
server does.
"""

import contextlib
import dataclasses
import os
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import requests
import urllib3
from tqdm import tqdm

from helpers.errors import DataError, printable
from helpers.files import ROOT, data_folder

RETRIES = 2  # after a dropped connection or a server's own error, never after a 404
PAUSE_SECONDS = 1.0  # before the first retry, twice as long before the next
BLOCK = 1 << 16
LONGEST, LARGEST = 120.0, 1 << 26  # seconds and bytes of a small file


class _Failed(Exception):
    """Raised when an address cannot deliver the file, with a short reason."""

    def __init__(self, reason: str):
        super().__init__(printable(reason))  # a server may have written a part of it


class _Dropped(_Failed):
    """Raised for a failure that a retry may resolve, such as a lost connection."""


@dataclasses.dataclass(frozen=True)
class Download:
    """File on the network, with its addresses, size, and hash.

    Attributes:
      name: Name of the file in `data/downloads/`.
      urls: Addresses of the file, the preferred one first.
      size: Size in bytes.
      digest: Hash algorithm and hexadecimal digits, such as "sha256:731c5a...".
      offline: Function call that needs no network, for the error message.
      deadline: Time limit in seconds for all attempts together.
      timeout: Seconds to connect, and seconds between two received blocks.
    """

    name: str
    urls: tuple[str, ...]
    size: int
    digest: str
    offline: str
    deadline: float = 3600.0
    timeout: tuple[float, float] = (10.0, 30.0)

    def fetch(self) -> Path:
        """Returns the path of the verified file, and downloads it if necessary.

        The file is stored in `data/downloads/`.

        Raises:
          DataError: If no address delivers the file. The message names the file, the
            cause, and the call that needs no network.
        """
        import pooch

        pooch.get_logger().setLevel("WARNING")
        folder = data_folder() / "downloads"
        causes: list[str] = []
        get = _Resuming(self.name, self.size, self.deadline, self.timeout)
        for url in self.urls:
            try:
                return Path(pooch.retrieve(
                    url, self.digest, self.name, folder, downloader=get
                ))
            except _Failed as failure:
                causes.append(f"{url}: {failure}")
            except ValueError:  # raised by pooch for a wrong hash
                causes.append(f"{url}: The downloaded file has an unexpected hash, so "
                              "it was discarded.")
            except OSError as error:
                causes.append(f"{folder}: {error.strerror or error}.")
        reasons = " ".join(causes)
        raise DataError(
            f"Failed to download {self.name}. {reasons} Check your network connection, "
            f"or use {self.offline}, which needs no network."
        )

    def found_in(self, source: str | os.PathLike) -> Path:
        """Returns the verified file from a folder, or downloads it.

        Args:
          source: `"download"`, or a folder. A relative path starts at the repository's
            folder.

        Raises:
          DataError: If the file is not there or has a different hash. The message names
            it.
        """
        import pooch

        if source == "download":
            return self.fetch()
        path = ROOT / Path(source).expanduser() / self.name
        if not path.is_file():
            raise DataError(
                f'No such file: {path}. Put the file there, use "download", or use '
                f"{self.offline}, which needs no network."
            )
        algorithm, wanted = self.digest.split(":")
        if pooch.file_hash(str(path), algorithm) != wanted:
            raise DataError(
                f"{path} does not match the expected {algorithm} hash. Copy the file "
                'again, or use "download".'
            )
        return path


def fetch_bytes(url: str) -> bytes:
    """Downloads a small file whose size and hash are not published.

    Args:
      url: Address of the file.

    Raises:
      DataError: If the download fails. The message names the address and the cause.
    """
    clock = _Clock(LONGEST, (10.0, 30.0))

    def whole() -> bytes:
        found = bytearray()
        with _answer(url, 0, clock) as response:
            for block in _blocks(response, clock):
                found += block
                if len(found) > LARGEST:
                    raise _Failed(
                        f"The file exceeds the maximum size of {LARGEST:,} bytes."
                    )
        return bytes(found)

    try:
        return _with_retries(whole, clock)
    except _Failed as failure:
        raise DataError(f"Failed to download {url}. {failure}") from failure


class _Clock:
    """Time limit for all requests of one download.

    A timeout of the network library restarts with every byte, and slow response headers
    have none. Each connection is therefore closed when the time is up, whatever the
    program is waiting for.
    """

    def __init__(self, seconds: float, timeout: tuple[float, float]):
        self.seconds, self.timeout = seconds, timeout
        self._end = time.monotonic() + seconds

    @contextlib.contextmanager
    def session(self) -> Iterator[requests.Session]:
        """Yields a session whose connections are closed when the time is up."""
        with contextlib.ExitStack() as stack:
            session = stack.enter_context(requests.Session())
            for scheme in ("http://", "https://"):
                session.mount(scheme, _Watching(self, stack))
            yield session

    def watch(self, connection: socket.socket, stack: contextlib.ExitStack) -> None:
        """Starts a timer that shuts a connection down when the time is up."""
        copy = stack.enter_context(connection.dup())  # TLS takes over the socket itself
        timer = threading.Timer(self.left(), _shut, [copy])
        timer.daemon = True
        timer.start()
        stack.callback(timer.join)
        stack.callback(timer.cancel)

    def left(self) -> float:
        """Returns the seconds that are left, or raises `_Failed` if there are none."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise _Failed(
                f"The download timed out after {self.seconds:g} s. The network may be "
                "too slow."
            )
        return left


class _Watching(requests.adapters.HTTPAdapter):
    """HTTP adapter that puts every connection under the time limit of a clock."""

    def __init__(self, clock: _Clock, stack: contextlib.ExitStack):
        super().__init__()
        self._watch = lambda connection: clock.watch(connection, stack)

    def get_connection_with_tls_context(self, *positional, **named):
        pool = super().get_connection_with_tls_context(*positional, **named)
        watch = self._watch

        class Watched(pool.ConnectionCls):  # type: ignore[name-defined, misc]
            def _new_conn(self):
                made = super()._new_conn()
                watch(made)
                return made

        pool.ConnectionCls = Watched
        return pool


def _shut(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):  # already closed
        connection.shutdown(socket.SHUT_RDWR)


class _Resuming:
    """Downloader for pooch that resumes after a dropped connection."""

    def __init__(self, name: str, size: int, deadline: float, timeout):
        self._name, self._size = name, size
        self._clock = _Clock(deadline, timeout)

    def __call__(self, url: str, output_file: str, _pooch: object) -> None:
        """Downloads an address to a file, which pooch then verifies and renames."""
        Path(output_file).write_bytes(b"")
        _with_retries(lambda: self._append(url, Path(output_file)), self._clock)

    def _append(self, url: str, path: Path) -> None:
        """Downloads the missing part of a file and appends it."""
        have = path.stat().st_size
        with _answer(url, have, self._clock) as response:
            if response.status_code == 200:
                have = 0  # the server starts from the beginning
            announced = response.headers.get("Content-Length")
            if announced not in (None, str(self._size - have)):
                raise _Failed(
                    f"Expected {self._size - have:,} more bytes, but the server "
                    f"announced {announced}. The file on the server may have changed."
                )
            with (
                open(path, "ab" if have else "wb") as file,
                tqdm(desc=self._name, total=self._size, initial=have, unit="B",
                     unit_scale=True) as bar,
            ):
                for block in _blocks(response, self._clock):
                    have += file.write(block)
                    bar.update(len(block))
                    if have > self._size:
                        raise _Failed(
                            f"The server sent more than the expected {self._size:,} "
                            "bytes. The file on the server may have changed."
                        )
        if have < self._size:
            raise _Dropped(
                f"The connection was dropped after {have:,} of {self._size:,} bytes."
            )


def _with_retries(fetch, clock: _Clock):
    for attempt in range(RETRIES + 1):
        try:
            return fetch()
        except _Dropped:
            if attempt == RETRIES:
                raise
        time.sleep(min(PAUSE_SECONDS * 2**attempt, clock.left()))


@contextlib.contextmanager
def _answer(url: str, have: int, clock: _Clock) -> Iterator[requests.Response]:
    """Opens an address at byte `have`, and raises `_Failed` if no file comes."""
    headers = {"Accept-Encoding": "identity"}
    if have:
        headers["Range"] = f"bytes={have}-"
    connect, read = (min(seconds, clock.left()) for seconds in clock.timeout)
    with contextlib.ExitStack() as stack:
        with _network_failures(clock):
            session = stack.enter_context(clock.session())
            response = stack.enter_context(session.get(
                url, headers=headers, stream=True, timeout=(connect, read)))
        status, kind = response.status_code, response.headers.get("Content-Type", "")
        start = response.headers.get("Content-Range", "")
        if status >= 500:
            raise _Dropped(f"The server answered HTTP {status} {response.reason}.")
        if status == 206 and not (have and start.startswith(f"bytes {have}-")):
            raise _Failed(
                "The server sent a byte range that was not requested. Try again later."
            )
        if status not in (200, 206):
            raise _Failed(f"The server answered HTTP {status} {response.reason}.")
        if kind.startswith("text/html"):
            raise _Failed(
                "The server sent a web page instead of the file, possibly your "
                "network's login page. Open any page in a browser first."
            )
        yield response


def _blocks(response: requests.Response, clock: _Clock) -> Iterator[bytes]:
    """Yields blocks of the response as soon as they arrive, until the end."""
    while True:
        clock.left()
        with _network_failures(clock):
            block = response.raw.read1(BLOCK)
        if not block:
            clock.left()  # raises if the clock closed the connection
            return
        yield block


@contextlib.contextmanager
def _network_failures(clock: _Clock) -> Iterator[None]:
    """Converts network exceptions to `_Failed` and `_Dropped`."""
    try:
        yield
    except (requests.exceptions.RequestException, urllib3.exceptions.HTTPError,
            OSError, ValueError) as error:  # the last for an address that is none
        clock.left()  # raises if the time is up
        raise _in_words(error, clock) from error


def _in_words(error: Exception, clock: _Clock) -> _Failed:
    """Converts a network exception to a `_Failed` error with a short reason."""
    ours, theirs = requests.exceptions, urllib3.exceptions
    if isinstance(error, ours.SSLError):
        return _Failed("The certificate of the server was not accepted.")
    if isinstance(error, ours.ConnectTimeout):
        return _Failed("The server could not be reached within "
                       f"{clock.timeout[0]:g} s.")
    if isinstance(error, (ours.Timeout, theirs.TimeoutError)):
        return _Dropped(f"No data arrived for {clock.timeout[1]:g} s.")
    if isinstance(error, ours.ConnectionError):
        if error.args and isinstance(error.args[0], theirs.MaxRetryError):
            return _Failed("There is no connection to the server.")
    elif isinstance(error, ours.RequestException | ValueError):
        return _Failed(f"The request failed with the error {type(error).__name__}.")
    return _Dropped("The connection was dropped.")
