"""course.py: what it says of the machine, its commands, its ports."""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys

import pytest
from packaging.requirements import Requirement

import course
from helpers.files import ROOT
from tf1tools.weights import command as weights
from tools import environment, wheels
from tools.command import CLOSED as CODE
from tools.environment import CALLED_FROM, NEWEST, OLDEST


@pytest.mark.parametrize("version", [(2, 7), (3, 6), (3, 9), (3, 14), (4, 0)])
def test_another_python_is_refused_on_one_line(version):
    with pytest.raises(course.Problem) as caught:
        course.check_machine(version, "Linux", "x86_64")
    message = str(caught.value)
    assert f"Python {version[0]}.{version[1]}, but" in message
    assert "3.10 to 3.13" in message
    assert "\n" not in message


@pytest.mark.parametrize("machine", [("Darwin", "x86_64"), ("Windows", "ARM64"),
                                     ("Linux", "riscv64")])
def test_machines_without_a_wheel(machine):
    with pytest.raises(course.Problem, match="not available for " + machine[0]):
        course.check_machine((3, 11), *machine)


def test_the_pythons_that_are_supported_are_said_alike():
    oldest, newest, next_one = (".".join(map(str, version)) for version in (
        OLDEST, NEWEST, (NEWEST[0], NEWEST[1] + 1)))
    readme = (ROOT / "README.md").read_text("utf-8")
    assert f"Python {oldest} to {newest} and" in readme
    platforms = (ROOT / "docs" / "platforms.md").read_text("utf-8")
    assert f"{next_one} and newer" in platforms
    assert f'requires-python = ">={oldest},<{next_one}"' in (
        ROOT / "pyproject.toml").read_text("utf-8")
    tf1 = ROOT / "legacy" / "tf1.py"
    assert f"Python {oldest} or newer" in tf1.read_text("utf-8")


def test_the_page_of_commands_names_every_one_and_no_other():
    page = (ROOT / "docs" / "commands.md").read_text("utf-8")
    readme = (ROOT / "README.md").read_text("utf-8")
    named = {*re.findall(r"python3 course\.py (\w+)", page)}
    assert named == course.COMMANDS.keys()
    assert {*re.findall(r"python3 course\.py (\w+)", readme)} <= named


GPU_LINE, DEV_LINE = "requirements-gpu.txt", "requirements-dev.txt"
LOCKS = ("requirements.txt", DEV_LINE, GPU_LINE)


def loaded(name, path):
    """Returns a module of a file, apart from the one that is imported already."""
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def set_up(tmp_path, monkeypatch):
    """A `course.py` in a folder of its own; returns what each call of it would run."""
    for name in ("course.py", "tools/command.py", "tools/environment.py", *LOCKS):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    environment = loaded("tools.environment", tmp_path / "tools" / "environment.py")
    monkeypatch.setitem(sys.modules, "tools.environment", environment)
    other = loaded("other", tmp_path / "course.py")
    ran, broken = [], []

    def step(command, complaint, moving=None):
        if "venv" in command:
            environment.venv_python().parent.mkdir(parents=True)
            environment.venv_python().touch()
        if "install" in command:
            ran.append(command[-1].name)
        if getattr(command[-1], "name", "") in broken:
            raise environment.Problem(complaint)

    def python(*arguments, folder=None):
        ran.append(" ".join(map(str, arguments)))
        run.where = folder
        return 0

    def step_of(command, complaint, moving=None):
        run.commands.append([str(part) for part in command])
        step(command, complaint, moving)

    monkeypatch.setattr(environment, "step", step_of)
    monkeypatch.setattr(other, "python", python)
    monkeypatch.setattr(other, "check_gpu", lambda: None)

    def run(*arguments):
        ran.clear()
        other.main(list(arguments))
        return list(ran)

    run.folder, run.broken, run.course, run.commands = tmp_path, broken, other, []
    return run


def test_cuda_is_added_once_and_changes_nothing_for_the_rest(set_up):
    assert set_up("lab") == ["requirements.txt", "-m tools.lab"]
    assert set_up("lab", "--gpu", "x.ipynb") == [GPU_LINE, "-m tools.lab x.ipynb"]
    assert set_up("lab", "--gpu") == set_up("lab") == ["-m tools.lab"]
    assert set_up("run", "--gpu") == ["-m tools.run_lessons --gpu"]


def test_what_the_tests_need_is_fetched_by_the_tests(set_up):
    assert set_up("run") == ["requirements.txt", "-m tools.run_lessons"]
    assert set_up("test") == [DEV_LINE, "-m tools.run_tests"]
    assert set_up("book") == ["-m tools.book"] and set_up("lab") == ["-m tools.lab"]


@pytest.mark.parametrize("form", weights.ENDINGS)
@pytest.mark.parametrize("option", ["--to {}", "--to={}"])
def test_what_a_form_of_weights_needs_is_fetched(set_up, form, option):
    """A learner's packages are enough for what these do not fetch."""
    words = option.format(form).split()
    set_up("run")
    first, *_ = set_up("weights", "model.ckpt", *words)
    package = {"npz": "numpy"}.get(form, form)
    locked = (ROOT / "requirements.txt").read_text("utf-8")
    assert (first == DEV_LINE) == (f"\n{package}==" not in locked)


@pytest.mark.parametrize("words", [
    ["--wheels", "stick"], ["--wheels=stick"], ["03a", "--wheels", "./stick"]])
def test_with_a_folder_of_wheels_nothing_else_is_asked(set_up, words, monkeypatch):
    monkeypatch.chdir(set_up.folder)
    monkeypatch.setattr("shutil.which", lambda name: name)  # also where there is uv
    (set_up.folder / "stick").mkdir()
    (set_up.folder / "stick" / "a-1-py3-none-any.whl").touch()
    lab = "-m tools.lab" + " 03a" * ("03a" in words)
    assert set_up("lab", *words) == ["requirements.txt", lab]
    pip = set_up.commands[1]
    assert pip[1:3] == ["-m", "pip"] and "--no-index" in pip
    assert pip[pip.index("--find-links") + 1] == str(set_up.folder / "stick")
    assert set_up("lab", *words) == [lab]  # what is complete needs no stick


def test_wheels_may_come_from_an_address(set_up, capsys):
    address = "http://192.168.1.5:8000/wheels/"
    set_up.broken.append("requirements.txt")
    assert set_up("lab", "--wheels", address) == ["requirements.txt"]
    assert set_up.commands[1][-6:-2] == [
        "--find-links", address, "--trusted-host", "192.168.1.5"]
    said = capsys.readouterr().err.splitlines()[-1]
    assert said.startswith(f"course.py: {address} cannot be reached, or it lacks a ")
    assert "for Python {}.{} on".format(*sys.version_info) in said


@pytest.mark.parametrize("words, said", [
    (["--wheels"], "needs the folder"), (["--wheels", "--fresh"], "needs the folder"),
    (["--wheels", "nowhere"], "nowhere. Pass the folder"),
    (["--wheels", "tools"], "tools. Pass the folder")])
def test_a_folder_without_wheels_is_refused_at_once(
        set_up, words, said, monkeypatch, capsys):
    monkeypatch.chdir(set_up.folder)
    assert set_up("lab", *words) == [] and not set_up.commands
    [line] = capsys.readouterr().err.splitlines()
    assert said in line


@pytest.mark.parametrize("name", wheels.SYSTEMS)
def test_the_packages_of_another_machine_do_not_depend_on_this_one(name):
    """Each marker of the lock asks for what a system of the table says."""
    told = {*wheels.System._fields, "python_version", "python_full_version"}
    same = {"implementation_name", "platform_python_implementation"}  # CPython's
    system, chosen = wheels.SYSTEMS[name], set()
    for pin in pins("requirements.txt"):
        if marker := Requirement(pin).marker:
            asked = {*re.findall(r"[a-z_]+(?= [<>=!])", str(marker))}
            assert asked and asked <= told | same, pin
        if system.needs(pin, "3.11.0"):
            chosen.add(re.split("[=; ]", pin)[0])
    assert {"tensorflow", "jupyterlab"} <= chosen
    assert ("wurlitzer" in chosen) == (name != "windows")
    assert ("appnope" in chosen) == (name == "macos")


def test_a_package_of_late_releases_of_a_python_comes_along():
    """The lock has two versions of it, and pip does not take both at once."""
    lock, linux = ROOT / "requirements.txt", wheels.SYSTEMS["linux"]
    first, more = wheels.wanted(lock, linux, "3.11")
    assert more and len(first) > 100
    names = [[package.split("==")[0] for package in part] for part in (first, more)]
    assert set(names[1]) <= set(names[0]) and all(
        len(part) == len(set(part)) for part in names)
    assert wheels.wanted(lock, linux, "3.12")[1] == []


def test_machines_are_named_by_system_and_python(monkeypatch, tmp_path, capsys):
    asked = []
    monkeypatch.setattr(wheels, "download", lambda folder, *machine: not (
        asked.append(machine) or machine == ("macos", "3.13")))
    assert wheels.main([str(tmp_path)]) == 0
    assert asked == [wheels.here()]
    assert wheels.main([str(tmp_path), "3.12", "windows", "macos", "3.13"]) == 1
    assert asked[1:] == [("windows", "3.12"), ("windows", "3.13"), ("macos", "3.12"),
                         ("macos", "3.13")]
    assert "packages for macos with Python 3.13;" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        wheels.main([str(tmp_path), "solaris"])
    assert "Unknown system or Python version 'solaris'" in capsys.readouterr().err


@pytest.mark.parametrize("word, said", [
    ("slids", "There is no command slids. Did you mean slides?"),
    ("explain", "Did you mean doctor?"),
    ("wheel", "Did you mean wheels?"), ("--progress", "Did you mean progress?"),
    ("zzz", "There is no command zzz. The list above shows all")])
def test_a_misspelt_command_is_told_the_nearest(set_up, word, said, capsys):
    assert set_up.course.main([word]) == 2
    out, err = capsys.readouterr()
    assert said in err and len(err.splitlines()) == 1
    assert bool(out) == (word == "zzz")


PIP = ["Requirement already satisfied: here==1 in x", "Collecting big==1",
       "  Downloading big-1-py3-none-any.whl (590.0 MB)", "Collecting small==2",
       "  Downloading http://10.0.0.5:8000/wheels/small-2-py3-none-any.whl (1.5 kB)",
       "Installing collected packages: big, small", "  Attempting uninstall: small"]


@pytest.mark.parametrize("terminal", [True, False])
def test_a_set_up_says_which_step_of_how_many_and_moves(
        set_up, terminal, monkeypatch, capfd):
    """On a terminal one line moves; in a log a line is added now and then."""
    environment = sys.modules["tools.environment"]
    monkeypatch.undo()
    packages = environment.VENV / "lib" / "python3.11" / "site-packages"
    program = f"""if True:
        import pathlib, time
        for line in {PIP}:
            print(line, flush=True)
            time.sleep(0.3)
        new = pathlib.Path({str(packages)!r}, "big.dist-info")
        new.mkdir(parents=True)
        time.sleep(0.5)
    """
    monkeypatch.setattr(environment.Moving, "EVERY", 0.1)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal, raising=False)
    monkeypatch.setenv("COLUMNS", "200")
    environment.step([sys.executable, "-c", program], "it failed",
                     environment.Moving("Step 2 of 3", "Step 3 of 3", 9))
    seen = re.split(r"[\r\n]+(?:\x1b\[K)?", capfd.readouterr().err)
    fetch, unpack = ([re.sub(r" \(\d.*", "", line) for line in seen
                      if line.startswith(name)] for name in ("Step 2", "Step 3"))
    assert fetch[-1] == ("Step 2 of 3: [######..............] 3 of at most 9 packages, "
                         "590 MB, downloaded small")
    said = "Step 3 of 3: [{}] {} of 2 packages, installing"
    assert unpack[0] == said.format("." * 20, 0)
    assert unpack[-1] == said.format("#" * 20, 2).replace("installing", "almost done")
    assert len(set(fetch)) >= 3 and len(set(unpack)) == 3


@pytest.mark.parametrize("command", ["lab", "test"])
def test_all_steps_of_a_set_up_are_counted(set_up, command, capsys):
    set_up(command)
    steps = re.findall(r"Step (\d) of (\d)", capsys.readouterr().err)
    assert steps == [("1", "5" if command == "test" else "3")]


CLOSED = """if True:
    import os, subprocess, sys
    reads, writes = os.pipe()
    os.close(reads)
    sys.exit(subprocess.call(sys.argv[1:], stdout=writes))
"""


# What `watch` runs is somebody's program, with an output of its own.
@pytest.mark.parametrize("name", ["", *sorted({*course.COMMANDS} - {"watch"})])
def test_who_reads_no_further_ends_a_command_without_a_word(name):
    """As `| head` does. In a pipe whose end is closed the first word fails."""
    words = [sys.executable, "course.py", name, "--help"]
    if name in course.OF_TF1:
        words[1] = "legacy/tf1.py"
    elif name not in ("", "doctor"):
        words[1:3] = ["-m", "tools.command", course.COMMANDS[name][0]]
    done = subprocess.run([sys.executable, "-c", CLOSED, *words], cwd=ROOT,
                          stderr=subprocess.PIPE, text=True, check=False)
    assert done.stderr == "" and done.returncode == CODE


def test_ctrl_c_ends_a_command_without_a_word(tmp_path):
    program = tmp_path / "stopped.py"
    program.write_text("print('begun')\nraise KeyboardInterrupt")
    done = subprocess.run([sys.executable, "-m", "tools.command", program], cwd=ROOT,
                          capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "begun\n", "")


def test_paths_count_from_where_the_caller_stands(set_up, tmp_path, monkeypatch):
    """Each command that takes a path has it from there; `test_watch` sees its own."""
    here = tmp_path / "elsewhere"
    (here / "mine").mkdir(parents=True)
    (here / "mine" / "old.ipynb").touch()
    monkeypatch.chdir(here)
    assert set_up("lab", "mine/old.ipynb", "03a")[-1] == (
        f"-m tools.lab {here / 'mine' / 'old.ipynb'} 03a")
    for name in ("run", "progress", "handout"):
        monkeypatch.delenv(CALLED_FROM, raising=False)
        set_up(name, "mine")
        assert os.environ[CALLED_FROM] == str(here), name
    for name in course.OF_TF1:
        set_up(name, "mine")
        assert set_up.where == str(here), name
    done = subprocess.run([sys.executable, "-m", "tools.progress", "mine/old.ipynb"],
                          cwd=ROOT, capture_output=True, text=True)
    assert "old.ipynb is damaged" in done.stderr  # it is found


def test_help_installs_nothing(set_up, capsys):
    for name in course.COMMANDS:
        if name != "doctor":
            (set_up.folder / "tools").mkdir(exist_ok=True)
            set_up.course.ROOT = ROOT
            assert set_up(name, "--help") == []
            program = "tf1" if name in course.OF_TF1 else "course.py"
            assert f"{program} {name}" in capsys.readouterr().out


def test_an_environment_of_somebody_elses_is_left_alone(set_up, capsys):
    own = set_up.folder / ".venv" / "pyvenv.cfg"
    own.parent.mkdir()
    own.touch()
    assert set_up("run") == [] and own.exists()
    error = capsys.readouterr().err
    assert len(error.splitlines()) == 1 and "rename it" in error


def test_cuda_that_cannot_be_fetched_leaves_the_rest_whole(set_up, capsys):
    set_up("lab")
    set_up.broken.append(GPU_LINE)
    assert set_up("lab", "--gpu") == [GPU_LINE]
    error = capsys.readouterr().err
    assert "Could not download the packages" in error.splitlines()[-1]
    assert set_up("lab") == ["-m tools.lab"]
    set_up.broken.clear()
    assert set_up("lab", "--gpu") == [GPU_LINE, "-m tools.lab"]


@pytest.mark.parametrize("machine, words", [
    (("Darwin", "arm64"), "on Darwin (arm64)"), (("Windows", "AMD64"), "on Windows"),
    (("Linux", "aarch64"), "on Linux (aarch64)"),
    (("Linux", "x86_64"), "No NVIDIA driver"),
])
def test_where_cuda_is_of_no_use_nothing_is_fetched(
        set_up, monkeypatch, capsys, machine, words):
    monkeypatch.setattr("shutil.which", lambda name: None)
    monkeypatch.setattr("os.path.exists", lambda path: False)
    monkeypatch.setattr(set_up.course, "check_gpu", lambda: course.check_gpu(*machine))
    monkeypatch.setattr(set_up.course, "Problem", course.Problem)
    assert set_up("lab", "--gpu") == []
    error = capsys.readouterr().err
    assert len(error.splitlines()) == 1 and words in error


def test_a_driver_that_is_too_old_for_cuda_12_is_refused(monkeypatch, capsys):
    old = environment.Card("NVIDIA K80", 470, 0, 11_441, 3.7)
    monkeypatch.setattr(environment, "has_driver", lambda: True)
    monkeypatch.setattr(environment, "cards", lambda: [old])
    with pytest.raises(environment.Problem, match="NVIDIA K80 has 470"):
        environment.check_gpu("Linux", "x86_64")
    busy = old._replace(driver=525, used=11_000)
    monkeypatch.setattr(environment, "cards", lambda: [busy])
    environment.check_gpu("Linux", "x86_64")
    assert "uses 11,000 of 11,441 MiB" in capsys.readouterr().err


def pins(lock):
    lines = (ROOT / lock).read_text("utf-8").splitlines()
    return [line for line in lines if not re.match(r"\s*(#|$)|-e \.$", line)]


def test_the_lock_for_a_gpu_adds_to_the_other_and_changes_nothing():
    added = set(pins("requirements-gpu.txt")) - set(pins(DEV_LINE))
    assert added and all(line.startswith("nvidia-") for line in added)


def test_the_lock_for_nbgrader_changes_nothing_of_the_others():
    def versions(lock):
        found = (re.match(r"([\w.-]+)==(\S+)", line).groups() for line in pins(lock))
        return {(name.lower(), version) for name, version in found}

    added, there = versions("requirements-nbgrader.txt"), versions(DEV_LINE)
    known = {name for name, _ in there}
    assert {pin for pin in added if pin[0] in known} <= there
    assert all('; python_version >= "3.11"' in line
               for line in pins("requirements-nbgrader.txt"))


def test_the_lock_is_installed():
    """What we test with is what a reader gets."""
    from importlib.metadata import version

    assert set(pins("requirements.txt")) <= set(pins(DEV_LINE))
    for line in filter(str.strip, pins(DEV_LINE)):
        pin = Requirement(line)
        if pin.marker is None or pin.marker.evaluate():
            assert pin.specifier.contains(version(pin.name)), line


def test_the_lines_for_colab_bring_what_the_course_itself_needs():
    [file, packages] = re.search(r"^%pip install -q -c ../(\S+) (.+)$",
                                 (ROOT / "docs" / "platforms.md").read_text("utf-8"),
                                 re.M).groups()
    needs = (ROOT / "requirements.in").read_text("utf-8")
    section = needs.split("# The course itself\n")[1].split("\n\n")[0]
    assert packages.split() == re.findall(r"^([\w-]+)", section, re.M)
    pip = [sys.executable, "-m", "pip", "install", "--dry-run", "--no-index"]
    subprocess.run([*pip, "-c", ROOT / file, "numpy"], check=True)


def test_the_dockerfile_calls_what_there_is():
    text = (ROOT / "Dockerfile").read_text("utf-8")
    called = re.findall(r"course\.(\w+)\(", text)
    assert called == ["check_machine", "set_up"]
    assert all(callable(getattr(course, name)) for name in called)
    [command] = re.findall(r"^CMD (.+)$", text, re.M)
    assert json.loads(command)[1:3] == ["course.py", "lab"]
    copied = set(re.findall(r"[\w./-]+\.(?:py|txt)", text.split("RUN python3")[0]))
    assert copied == {"course.py", "tools/command.py",
                      "tools/environment.py", *LOCKS}
