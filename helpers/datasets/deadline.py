"""A time limit for a whole conversation with a server, whatever the server does.

A timeout counts from the last byte that came. A server that sends one byte now and
then, in its headers, in a redirect or between two chunks, never runs into one.
"""

import contextlib
import socket
import threading
import time
from collections.abc import Callable

import requests
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

Watch = Callable[[socket.socket], socket.socket]


class Deadline:
    """A context manager: when its time is over, the connections made in it are shut.

    Whoever waits for one of them then gets the error of a dropped connection.
    """

    def __init__(self, seconds: float):
        """Starts the clock; `seconds` is what the block may take."""
        self.seconds = seconds
        self._end = time.monotonic() + seconds
        self._lock = threading.Lock()
        self._sockets: list[socket.socket] = []
        self._timer = threading.Timer(min(seconds, threading.TIMEOUT_MAX), self._shut)
        self._timer.daemon = True

    def __enter__(self) -> "Deadline":
        """Begins to watch."""
        self._timer.start()
        return self

    def __exit__(self, *error) -> None:
        """Leaves no thread and no socket."""
        self._timer.cancel()
        self._timer.join()
        for one in self._sockets:
            one.close()

    def left(self) -> float:
        """Returns the seconds that are left, never less than 0."""
        return max(0.0, self._end - time.monotonic())

    def session(self) -> requests.Session:
        """Returns a session whose connections are watched."""
        session = requests.Session()
        for scheme in ("http://", "https://"):
            session.mount(scheme, _Adapter(self._watch))
        return session

    def _watch(self, connected: socket.socket) -> socket.socket:
        """Remembers a connection, by a second handle: TLS takes the first over."""
        with self._lock:
            self._sockets.append(connected.dup())
        if not self.left():
            self._shut()
        return connected

    def _shut(self) -> None:
        with self._lock:
            for one in self._sockets:
                with contextlib.suppress(OSError):  # the other side was first
                    one.shutdown(socket.SHUT_RDWR)


class _Adapter(HTTPAdapter):
    """Makes connections that are handed to a function as soon as they stand."""

    def __init__(self, watch: Watch):
        self._pools = _pools(watch)
        super().__init__()

    def init_poolmanager(self, *args, **kwargs):
        super().init_poolmanager(*args, **kwargs)
        self.poolmanager.pool_classes_by_scheme = self._pools

    def proxy_manager_for(self, *args, **kwargs):
        manager = super().proxy_manager_for(*args, **kwargs)
        manager.pool_classes_by_scheme = self._pools
        return manager


def _pools(watch: Watch) -> dict[str, type[HTTPConnectionPool]]:
    """Returns urllib3's classes, which hand each new socket to `watch`."""

    class Plain(HTTPConnection):
        def _new_conn(self):
            return watch(super()._new_conn())

    class Secure(HTTPSConnection):
        def _new_conn(self):
            return watch(super()._new_conn())

    class PlainPool(HTTPConnectionPool):
        ConnectionCls = Plain

    class SecurePool(HTTPSConnectionPool):
        ConnectionCls = Secure

    return {"http": PlainPool, "https": SecurePool}
