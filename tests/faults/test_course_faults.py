"""course.py when the set-up goes wrong: an error on one line or a whole result.

A small project stands in for the course: the same course.py, with no packages to
fetch, so that a set-up takes seconds.
"""

import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

import course
from helpers.errors import DataError
from helpers.files import data_folder
from tools import environment, serve_graphs

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [pytest.mark.slow,
              pytest.mark.skipif(os.name == "nt", reason="kills by POSIX signals")]


@pytest.fixture
def project(tmp_path):
    """A small project, in a folder whose name is hard on scripts."""
    folder = tmp_path / "für die Klasse 1"
    (folder / "helpers").mkdir(parents=True)
    (folder / "tools").mkdir()
    shutil.copy(ROOT / "course.py", folder)
    shutil.copy(ROOT / "tools" / "environment.py", folder / "tools")
    (folder / "requirements.txt").write_text("")
    (folder / "pyproject.toml").write_text("")
    (folder / "helpers" / "__init__.py").write_text("")
    (folder / "tools" / "__init__.py").write_text("")
    (folder / "tools" / "run_lessons.py").write_text(
        "import helpers, sys; print('ran in', sys.prefix)"
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
    out, err = process.communicate(timeout=240)
    return process.returncode, out, err


def test_path_with_spaces_and_letters_then_half_made(project):
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    code, out, err = finish(start(project, "run", **plain))  # it cannot spell the path
    assert code == 0 and "ran in" in out, err
    stamp = project / ".venv" / "complete.txt"
    stamp.unlink()
    shutil.rmtree(project / ".venv" / "bin")
    code, out, err = finish(start(project, "run"))
    assert code == 0 and "Setting up" in err, out
    stamp.write_bytes(b"\xff\xfe")  # a damaged one counts as none
    code, out, err = finish(start(project, "run"))
    assert code == 0 and "Setting up" in err, out
    code, out, err = finish(start(project, "run"))
    assert code == 0 and err == "", err


def test_killed_at_random_times_then_run_again(project, tried):
    chance = random.Random(3)
    tried(2)
    for _ in range(2):
        process = start(project, "run")
        time.sleep(chance.uniform(0.2, 5))
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    code, out, err = finish(start(project, "run"))
    assert code == 0 and "ran in" in out, err


def test_interrupted(project):
    process = start(project, "run")
    assert process.stderr.readline().startswith("Setting up")
    os.killpg(process.pid, signal.SIGINT)
    code, _, err = finish(process)
    assert code == 1
    assert err.splitlines()[-1] in ("course.py: stopped",) or "course.py:" in err
    assert not (project / ".venv" / "complete.txt").exists()


def test_two_at_once_set_up_once(project):
    both = [finish(p) for p in [start(project, "run") for _ in range(2)]]
    assert [code for code, _, _ in both] == [0, 0], both
    assert sum("Setting up" in err for *_, err in both) == 1


def test_no_network_is_one_line(project):
    (project / "requirements.txt").write_text("numpy==2.2.6\n")
    code, _, err = finish(start(project, "run"))
    last = err.splitlines()[-1]
    assert code == 1
    assert last.startswith("course.py: could not fetch the packages")
    assert not (project / ".venv" / "complete.txt").exists()


def test_an_old_environment_outlives_a_new_one_that_cannot_be_made(project):
    assert finish(start(project, "run"))[0] == 0
    requirements = project / "requirements.txt"
    requirements.write_text("numpy==2.2.6\n")
    code, out, err = finish(start(project, "run"))
    assert code == 1 and "requirements.txt has changed" in err, out
    requirements.write_text("")
    code, out, err = finish(start(project, "run"))
    assert code == 0 and err == "", err
    assert not (project / ".venv.old").exists()


def test_ctrl_c_stops_all_parts_of_the_tests(tmp_path):
    program = tmp_path / "parts.py"
    program.write_text(
        "import sys, course\n"
        "course.set_up = lambda *extras: None\n"
        "course.venv_python = lambda: sys.executable\n"
        "course.COMMANDS['test'] = ('two_parts', 'waits')\n"
        "sys.exit(course.main(['test']))\n"
    )
    (tmp_path / "two_parts.py").write_text(
        "import sys\n"
        "from tools import run_tests\n"
        "wait = ['-c', 'import time; print(\"waits\", flush=True); time.sleep(60)']\n"
        "try:\n"
        "    run_tests.run({'one': wait, 'two': wait})\n"
        "except KeyboardInterrupt:\n"
        "    sys.exit(1)\n"
    )
    process = subprocess.Popen(
        [sys.executable, program], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=dict(os.environ, PYTHONPATH=f"{ROOT}{os.pathsep}{tmp_path}"), text=True,
        start_new_session=True,
    )
    while "waits" not in process.stdout.readline():
        assert process.poll() is None
    os.killpg(process.pid, signal.SIGINT)
    code, out, err = finish(process)
    assert code == 1 and "two" not in out
    assert "course.py: stopped" in err.splitlines()  # the child may speak later


def test_no_disk_is_one_line(monkeypatch, capsys):
    class Usage:
        free = 10**6

    monkeypatch.setattr(environment, "is_set_up", lambda *extras: False)
    monkeypatch.setattr(environment.shutil, "disk_usage", lambda path: Usage)
    assert course.main(["run"]) == 1
    err = capsys.readouterr().err
    assert len(err.splitlines()) == 1 and "make room" in err


def test_a_data_folder_that_cannot_be_made_is_one_line(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("HELPERS_DATA", str(tmp_path / "file" / "data"))
    with pytest.raises(DataError, match="set HELPERS_DATA") as caught:
        data_folder()
    assert "\n" not in str(caught.value)


def test_a_taken_port(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert serve_graphs.free_port(port) not in (0, port)
