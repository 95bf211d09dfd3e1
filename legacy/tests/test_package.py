"""The package itself: it installs, it runs on a bare Python, its documents are true."""

import ast
import importlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv

import numpy as np
import pytest

from helpers.files import ROOT
from helpers.queues import outside
from tests.limits import LIMIT
from tf1tools.__main__ import COMMANDS

LEGACY = ROOT / "legacy"
OLD = "import tensorflow as tf\nx = tf.placeholder(tf.float32)\nprint(tf.log(x))\n"
MESSAGE = "AttributeError: module 'tensorflow' has no attribute 'placeholder'"
BARE = {"PATH": os.environ["PATH"], "PYTHONUTF8": "1"}


def run(*words, **options):
    """Runs a command in an environment that knows nothing of this project."""
    return subprocess.run([*map(str, words)], capture_output=True, text=True, env=BARE,
                          timeout=LIMIT, check=False, **options)


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The Python of a new environment in which the wheel, and nothing else, is."""
    folder = tmp_path_factory.mktemp("bare")
    source = folder / "legacy"  # setuptools writes beside what it builds
    shutil.copytree(LEGACY, source, ignore=shutil.ignore_patterns(
        "tests", "__pycache__", "*.egg-info", "build"))
    build = ("import os, sys; from setuptools import build_meta; "
             "print(build_meta.build_wheel(sys.argv[1]))")
    done = run(sys.executable, "-c", build, folder, cwd=source)
    assert done.returncode == 0, done.stderr
    wheel = folder / done.stdout.split()[-1]
    venv.create(folder / "venv", with_pip=False)
    [packages] = (folder / "venv").glob("lib/python*/site-packages")
    shutil.unpack_archive(wheel, packages, "zip")  # what `pip install --no-deps` does
    return folder / "venv" / "bin" / "python"


def test_the_wheel_runs_in_a_bare_python(installed, tmp_path):
    (tmp_path / "old.py").write_text(OLD)
    tf1 = [installed, "-m", "tf1tools"]
    report = run(*tf1, "port", "old.py", cwd=tmp_path)
    assert report.returncode == 0 and "tf.placeholder" in report.stdout, report
    copy = run(*tf1, "port", "--write", "old.py", "new", cwd=tmp_path)
    assert copy.returncode == 0, copy
    assert "compat.v1" in (tmp_path / "new" / "old.py").read_text()
    assert "`tensorflow.compat.v1`" in run(*tf1, "explain", MESSAGE).stdout
    assert "tf.placeholder" in run(*tf1, "port", "--explain", "compat-v1").stdout


@pytest.mark.parametrize("name", [n for n, c in COMMANDS.items() if c.packages])
def test_a_command_names_the_packages_that_it_cannot_find(installed, name):
    done = run(installed, "-m", "tf1tools", name, "model.ckpt")
    assert done.returncode == 1 and len(done.stderr.splitlines()) == 1
    assert "tensorflow" in done.stderr and "checkout" in done.stderr


def test_it_runs_from_the_checkout_with_nothing_installed(tmp_path):
    (tmp_path / "old.py").write_text(OLD)
    done = run(sys.executable, "-S", LEGACY / "tf1.py", "port", "old.py", cwd=tmp_path)
    assert done.returncode == 0 and "tf.placeholder" in done.stdout, done


def test_an_unknown_command_and_no_command_list_all_of_them():
    for words, code in (([], 0), (["--help"], 0), (["portt"], 2)):
        done = run(sys.executable, "-S", LEGACY / "tf1.py", *words)
        said = done.stdout + done.stderr
        assert done.returncode == code and all(f"  {n} " in said for n in COMMANDS)


def test_watch_and_describe_run_where_both_packages_are_installed(installed, tmp_path):
    """A program fails, and a file is told, far from any checkout."""
    [packages] = installed.parents[1].glob("lib/python*/site-packages")
    shutil.copytree(ROOT / "helpers", packages / "helpers", dirs_exist_ok=True)
    (packages / "tensorflow.pth").write_text(sysconfig.get_path("purelib"))
    (tmp_path / "old.py").write_text(
        "import tensorflow.compat.v1 as tf\ntf.disable_v2_behavior()\n"
        "tf.Session().run(tf.placeholder(tf.float32, name='x'))\n")
    np.save(tmp_path / "a.npy", np.ones([2]))
    try:
        failed = run(installed, "-m", "tf1tools", "watch", "old.py", cwd=tmp_path)
        told = run(installed, "-m", "tf1tools", "describe", "a.npy", cwd=tmp_path)
    finally:
        shutil.rmtree(packages / "helpers")
        (packages / "tensorflow.pth").unlink()
    assert failed.returncode == 1 and "Fix: feed it" in failed.stderr, failed.stderr
    assert told.returncode == 1 and "an array of NumPy" in told.stderr, told.stderr


@pytest.mark.parametrize("words, meant", [
    (["prot"], "port"), (["doctor"], "explain"), (["wach"], "watch"),
    (["port", "--wirte", "a", "b"], "--write"),
    (["port", "--scnds=3", "a"], "--seconds")])
def test_a_misspelt_word_is_answered_with_the_one_that_was_meant(words, meant):
    done = run(sys.executable, "-S", LEGACY / "tf1.py", *words)
    assert done.returncode == 2 and f"Did you mean {meant}?" in done.stderr


def test_a_log_is_not_taken_for_a_message():
    done = run(sys.executable, "-S", LEGACY / "tf1.py", "explain", "train.log")
    assert done.returncode == 2 and "explain - < train.log" in done.stderr
    message = "NotFoundError: words.txt; No such file or directory: words.txt"
    done = run(sys.executable, "-S", LEGACY / "tf1.py", "explain", message)
    assert done.returncode == 0 and not done.stderr, done.stderr


@pytest.mark.parametrize("name", COMMANDS)
def test_the_readme_and_the_map_name_every_command(name):
    for page in ("README.md", "docs/map.md"):
        assert name in (LEGACY / page).read_text("utf-8")


def test_an_older_python_is_refused_in_one_line():
    """The program is syntax of Python 3.8, so that such a Python can say so."""
    text = (LEGACY / "tf1.py").read_text("utf-8")
    ast.parse(text, feature_version=(3, 8))
    refusal = text.index("sys.exit(\"tf1: this is Python")
    assert refusal < text.index("from tf1tools")


def test_each_promise_names_a_test_that_is_there():
    rows = re.findall(r"^\| (?!promise|---).*\| `(test_\w+\.py)::(test_\w+)` \|$",
                      (LEGACY / "docs" / "promises.md").read_text("utf-8"), re.M)
    assert len(rows) >= 8
    for file, test in rows:
        tree = ast.parse((LEGACY / "tests" / file).read_text("utf-8"))
        assert test in {node.name for node in tree.body
                        if isinstance(node, ast.FunctionDef)}, test


def test_the_map_names_files_that_are_there():
    text = (LEGACY / "docs" / "map.md").read_text("utf-8")
    for name in re.findall(r"`((?:messages|watch|weights|port|outcome|rules|reading|"
                           r"names|table|text|beside|libraries|makers|tests|docs)/"
                           r"[\w/.]+)`", text):
        places = [LEGACY, LEGACY / "tf1tools", LEGACY / "tf1tools/port",
                  LEGACY / "tf1tools/port/rules"]
        assert any((place / name).exists() for place in places), name


def test_watch_uses_of_queues_what_the_page_for_outsiders_lists():
    tree = ast.parse((LEGACY / "tf1tools/watch/stalls.py").read_text("utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)
               and node.module.startswith("helpers.queues")]
    assert {node.module for node in imports} == {"helpers.queues.outside"}
    assert {alias.name for node in imports for alias in node.names} == {
        *outside.__all__}


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_explains_itself_in_a_bare_python(installed, name):
    done = run(installed, "-m", "tf1tools", name, "--help")
    assert done.returncode == 0 and f"tf1 {name}" in done.stdout, done


@pytest.mark.parametrize("number", ["-1", "0", "nan", "inf", "1e999", "ten", ""])
@pytest.mark.parametrize("words", [
    ["watch", "--stall={}", "old.py"],
    ["port", "--write", "old.py", "new", "--try", "python old.py", "--seconds={}"]])
def test_seconds_that_cannot_be_are_refused_in_one_way(words, number, capsys):
    module = importlib.import_module(COMMANDS[words[0]].module)
    with pytest.raises(SystemExit):
        module.main([word.format(number) for word in words[1:]])
    assert f"positive number of seconds, but got {number!r}" in capsys.readouterr().err
