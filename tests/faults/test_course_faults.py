"""course.py when the set-up goes wrong: an error on one line or a whole result.

A small project stands in for the course: the same course.py, with no packages to
fetch, so that a set-up takes seconds.
"""

import functools
import http.server
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import zipfile
from pathlib import Path

import pytest

import course
from helpers.files import ROOT
from tests.limits import LIMIT
from tools import environment, serve_graphs, wheels

pytestmark = [pytest.mark.slow,
              pytest.mark.skipif(os.name == "nt", reason="kills by POSIX signals")]


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A small project, in a folder whose name is hard on scripts."""
    folder = tmp_path_factory.mktemp("course") / "für die Klasse 1"
    (folder / "helpers").mkdir(parents=True)
    (folder / "tools").mkdir()
    shutil.copy(ROOT / "course.py", folder)
    for name in ("command.py", "environment.py"):
        shutil.copy(ROOT / "tools" / name, folder / "tools")
    (folder / "requirements.txt").write_text("")
    (folder / "pyproject.toml").write_text("")
    (folder / "helpers" / "__init__.py").write_text("")
    (folder / "tools" / "__init__.py").write_text("")
    (folder / "tools" / "run_lessons.py").write_text(
        "import helpers, sys; print('ran in', sys.prefix, sys.dont_write_bytecode)"
    )
    return folder


def start(project, *arguments, **variables):
    environment = {**os.environ, "PIP_NO_INDEX": "1", "PYTHONUTF8": "1", **variables}
    environment.pop("PYTHONPATH", None)
    return subprocess.Popen(
        [sys.executable, project / "course.py", *arguments], env=environment,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8",
        cwd=project.parent, start_new_session=True,
    )


def finish(process):
    out, err = process.communicate(timeout=LIMIT)
    return process.returncode, out, err


@pytest.fixture(scope="module")
def two_at_once(project):
    """What two commands said that set the project up at the same time."""
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0",
             "PYTHONDONTWRITEBYTECODE": "1"}  # as images of Docker do: slow imports
    return [finish(p) for p in [start(project, "run", **plain) for _ in range(2)]]


def half_made(project):
    (project / ".venv" / "complete.txt").unlink()
    shutil.rmtree(project / ".venv" / "bin")


def test_two_at_once_set_up_once(two_at_once):
    assert [code for code, _, _ in two_at_once] == [0, 0], two_at_once
    assert sum("Setting up" in err for *_, err in two_at_once) == 1


def test_path_with_spaces_and_letters_then_half_made(project, two_at_once):
    for _, out, err in two_at_once:  # its locale cannot spell the path
        assert "ran in" in out and out.endswith("False\n"), err
    half_made(project)
    code, out, err = finish(start(project, "run"))
    assert code == 0 and "Setting up" in err, out


def test_an_old_environment_outlives_a_new_one_that_cannot_be_made(
        project, two_at_once):
    requirements = project / "requirements.txt"
    requirements.write_text("numpy==2.2.6\n")
    code, out, err = finish(start(project, "run"))
    assert code == 1 and "requirements.txt has changed" in err, out
    assert "Could not download the packages" in err.splitlines()[-1]
    requirements.write_text("")
    code, out, err = finish(start(project, "run"))
    assert code == 0 and err == "", err
    assert not (project / ".venv.old").exists()


def test_interrupted(project, two_at_once):
    half_made(project)
    process = start(project, "run")
    assert process.stderr.readline().startswith("Setting up")
    os.killpg(process.pid, signal.SIGINT)
    code, _, err = finish(process)
    assert code == 1
    assert err.splitlines()[-1] in ("course.py: stopped",) or "course.py:" in err
    assert not (project / ".venv" / "complete.txt").exists()


def test_killed_at_random_times_then_run_again(project, two_at_once, tried):
    # Whoever was interrupted before may have left no folder at all.
    shutil.rmtree(project / ".venv", ignore_errors=True)
    chance = random.Random(3)
    tried(2)
    for _ in range(2):
        process = start(project, "run")
        time.sleep(chance.uniform(0.2, 5))
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    code, out, err = finish(start(project, "run"))
    assert code == 0 and "ran in" in out, err


def wheel(folder, name):
    """Makes a package of one module as a wheel."""
    folder.mkdir(exist_ok=True)
    info = f"{name}-1.0.dist-info"
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as file:
        file.writestr(f"{name}.py", "")
        file.writestr(f"{info}/METADATA", f"Name: {name}\nVersion: 1.0\n")
        file.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        file.writestr(f"{info}/RECORD", "")


@pytest.fixture
def stick(project, tmp_path, monkeypatch):
    """A project without `.venv`, and a folder that `course.py wheels` has filled."""
    wheel(tmp_path / "index", "pebble")
    room = tmp_path / "room"
    shutil.copytree(project, room, ignore=shutil.ignore_patterns(".venv*"))
    lock = room / "requirements.txt"
    lock.write_text("pebble==1.0\nsand==1.0 ; os_name == 'beach'\n")
    (room / "tools" / "lab.py").write_text("import pebble; print(pebble.__file__)")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "index"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    assert wheels.download(tmp_path / "stick", *wheels.here(), lock)
    monkeypatch.delenv("PIP_FIND_LINKS")
    return room, tmp_path / "stick"


def test_a_class_sets_up_from_a_stick(stick):
    """Without a network, and an index that is offered is not asked."""
    room, folder = stick
    index = {"PIP_INDEX_URL": "http://127.0.0.1:9/", "PIP_NO_INDEX": "0"}
    code, out, err = finish(start(room, "lab", "--wheels", folder, **index))
    assert code == 0 and f"installs the packages in {folder}" in err, err
    assert Path(out.strip()).is_relative_to(room / ".venv")
    assert "127.0.0.1" not in (room / ".venv.log").read_text("utf-8")
    code, out, err = finish(start(room, "lab", **index))  # the stick is gone
    assert (code, err) == (0, "") and "pebble" in out


def test_a_small_server_serves_as_a_stick(stick, tmp_path):
    _, folder = stick
    serve = functools.partial(http.server.SimpleHTTPRequestHandler, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), serve) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        address = f"http://127.0.0.1:{server.server_port}/"
        options = environment.WheelFolder(address).options
        done = subprocess.run(
            [sys.executable, "-m", "pip", "download", "-d", tmp_path / "got",
             *options, "pebble==1.0"], capture_output=True, text=True, check=False)
        server.shutdown()
        thread.join()
    assert done.returncode == 0, done.stderr
    assert [path.name for path in (tmp_path / "got").iterdir()] == [
        "pebble-1.0-py3-none-any.whl"]


def test_no_disk_is_one_line(monkeypatch, capsys):
    class Usage:
        free = 10**6

    monkeypatch.setattr(environment, "is_set_up", lambda *extras: False)
    monkeypatch.setattr(environment.shutil, "disk_usage", lambda path: Usage)
    assert course.main(["run"]) == 1
    err = capsys.readouterr().err
    assert len(err.splitlines()) == 1 and "Free some space" in err


def test_a_taken_port(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert serve_graphs.free_port(port) not in (0, port)
    for port in (2**16, 10**30):  # no machine has it
        assert 0 < serve_graphs.free_port(port) < 2**16
