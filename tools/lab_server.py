"""Jupyter server extension that keeps lessons unchanged, trusted and proxied.

A lesson that is opened and saved stays identical to the version in git, byte for byte.
Its stored outputs are trusted, like its code. And `%tensorboard` reaches TensorBoard
through this server, so that it needs no port of its own in a container, behind a proxy,
or on a hub. The address is the one that `jupyter-server-proxy` uses.

Under `course.py lab`, Jupyter's log goes to a file, and the terminal ends with the
address of the page. `course.py lab` asks for this by the settings of `CourseLab`.
"""

import contextlib
import ipaddress
import logging
import os
import urllib.parse
from pathlib import Path

from jupyter_server.base.handlers import JupyterHandler
from jupyter_server.utils import url_path_join
from tensorboard import manager
from tornado import httpclient, web

from helpers.errors import DataError
from helpers.files import ROOT
from tools import notebook as nb


class Board(JupyterHandler):
    """Handler that forwards requests to a TensorBoard started by a notebook."""

    def check_xsrf_cookie(self) -> None:
        """Skips the XSRF check, because TensorBoard only reads data."""

    @web.authenticated
    async def get(self, port: str, path: str) -> None:
        if int(port) not in {board.port for board in manager.get_all()}:
            raise web.HTTPError(404)
        sent = self.request
        kept = {name: sent.headers[name] for name in ("Content-Type", "Accept")
                if name in sent.headers}
        answer = await httpclient.AsyncHTTPClient().fetch(
            f"http://127.0.0.1:{port}/{path}?{sent.query}", method=sent.method,
            headers=kept, body=sent.body if sent.method == "POST" else None,
            raise_error=False)
        self.set_status(answer.code)
        self.set_header("Content-Type", answer.headers.get("Content-Type", ""))
        await self.finish(answer.body)

    post = get


def keep_metadata(model: dict, path: str, contents_manager, **_) -> None:
    """Restores the metadata of a lesson that JupyterLab changes on saving."""
    file = Path(contents_manager.root_dir, path).resolve()
    ours = file.parent.name in ("notebooks", "solutions") and nb.NUMBER.match(file.name)
    if ours and model["type"] == "notebook":
        model["content"]["metadata"] = nb.METADATA


def trust_lessons(notary) -> None:
    """Signs the stored lessons, so that interactive figures work at once."""
    for lesson in nb.lessons(ROOT):
        for path in (lesson, nb.solution(lesson)):
            with contextlib.suppress(DataError):  # JupyterLab says what is wrong
                notary.sign(nb.read(path))


def keep_log(logger: logging.Logger, path: Path) -> None:
    """Redirects standard error to a file that only its owner can read.

    The file gets all messages of the logger, and those of kernels that start later.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(file, 2)
    os.close(file)
    for handler in logger.handlers:
        handler.setLevel(logging.INFO)


def address(server, token: str) -> str:
    """Returns the shortest address that opens the page: the server knows the rest."""
    url = urllib.parse.urlsplit(server.local_url if is_every_network(server.ip)
                                else server.connection_url)
    query = urllib.parse.urlencode({"token": token} if token else {})
    return url._replace(path=server.base_url, query=query).geturl()


def is_every_network(host: str) -> bool:
    """Returns whether a server with this host listens on every network."""
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:  # a name
        return host in ("", "*")


def _jupyter_server_extension_points() -> list[dict]:
    return [{"module": "tools.lab_server"}]


def _load_jupyter_server_extension(server) -> None:
    # This message lists twenty programs directly below the address that users need.
    server.log.addFilter(
        lambda record: "Skipped non-installed server" not in record.getMessage())
    server.contents_manager.register_pre_save_hook(keep_metadata)
    trust_lessons(server.contents_manager.notary)
    base = server.web_app.settings["base_url"]
    server.web_app.add_handlers(
        ".*$", [(url_path_join(base, r"proxy/(\d+)/(.*)"), Board)])
    # Kernels inherit this variable.
    os.environ.setdefault("TENSORBOARD_PROXY_URL", url_path_join(base, "proxy/%PORT%/"))


async def _start_jupyter_server_extension(server) -> None:
    settings = server.config.CourseLab
    if log := settings.get("log"):
        print(
            f"JupyterLab is running (log: {os.path.relpath(log, ROOT)}). Press Ctrl-C "
            "twice to stop it."
        )
        print("Open this:", address(server, settings.get("token", "")), flush=True)
        keep_log(server.log, Path(log))
