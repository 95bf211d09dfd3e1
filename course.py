#!/usr/bin/env python3
"""The one entry point of the course. It needs Python and nothing else.

  python3 course.py COMMAND [ARGUMENTS]

The first call makes .venv from requirements.txt, which needs the network once; every
later call works without it. `python3 course.py COMMAND --help` says more of a command.
"""

import contextlib
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
OLD_VENV = ROOT / ".venv.old"
STAMP = VENV / "complete.txt"
OLDEST, NEWEST = (3, 10), (3, 13)
DISK_BYTES = 4 * 10**9
GPU_STAMP = VENV / "gpu.txt"
GPU_DISK_BYTES = 8 * 10**9  # 2.8 GB of wheels, and what they unpack to

# No pop-up and no call home: a class with no network sees no error either.
LAB_SETTINGS = {
    "@jupyterlab/apputils-extension:notification": {
        "fetchNews": "false",
        "checkForUpdates": False,
    },
    "@jupyterlab/extensionmanager-extension:plugin": {"enabled": False},
}


# Each command is a program with a `main` of its own: what it is called, where it lives,
# and what it does. `test_course.py` compares the README with this table.
COMMANDS = {
    "lab": ("tools.lab", "open the course in JupyterLab"),
    "test": ("tools.run_tests", "run everything that CI runs, or the parts named"),
    "run": ("tools.run_lessons", "execute lessons, print the seconds of each"),
    "tensorboard": ("tools.serve_graphs", "look at prebuilt/ and logs/"),
    "handout": ("tools.handout", "write the exercises alone, to hand out"),
    "grade": ("tools.grade", "run what a class handed in through the checks"),
    "book": ("tools.book", "build the readable pages, and an EPUB with --epub"),
    "slides": ("tools.slides", "lessons as slides, each one page with notes"),
    "progress": ("tools.progress", "which exercises you have solved"),
    "port": ("tools.port", "what became of every TensorFlow name in old code"),
    "doctor": ("tools.doctor", "what is wrong with this machine, and how to fix it"),
    "bench": ("benchmarks", "our ways beside their rivals, each in its own process"),
}


class Problem(Exception):
    """What stands in the way, on one line, with the fix."""


def check_machine(version=None, system=None, machine=None):
    """Raises `Problem` where TensorFlow 2.21 has no wheel to install."""
    version = tuple((version or sys.version_info)[:2])
    system, machine = system or platform.system(), machine or platform.machine()
    if not OLDEST <= version <= NEWEST:
        raise Problem(
            "this is Python {}.{}; TensorFlow 2.21 needs Python {}.{} to {}.{}".format(
                *version, *OLDEST, *NEWEST
            )
        )
    wheels = {
        "Linux": ("x86_64", "aarch64"),
        "Darwin": ("arm64",),
        "Windows": ("AMD64",),
    }
    if machine not in wheels.get(system, ()):
        raise Problem(
            f"TensorFlow 2.21 has no wheel for {system} on {machine}; it has wheels "
            "for Linux (x86_64, aarch64), macOS (Apple silicon), Windows (64 bit)"
        )


def check_gpu(system=None, machine=None):
    """Raises `Problem` where TensorFlow's wheel cannot use a GPU, or none is there."""
    system, machine = system or platform.system(), machine or platform.machine()
    if (system, machine) != ("Linux", "x86_64"):
        raise Problem(
            f"--gpu is for Linux on x86_64 (WSL2 too): on {system} {machine} "
            "TensorFlow's wheel computes on the CPU alone; leave --gpu out"
        )
    if not (shutil.which("nvidia-smi") or os.path.exists("/proc/driver/nvidia")):
        raise Problem(
            "--gpu finds no NVIDIA driver here: install your card's driver, until "
            "nvidia-smi shows the card, or leave --gpu out"
        )


def venv_python():
    return VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def wanted_stamp():
    """Returns what a finished set-up is stamped with: it changes with what it needs."""
    digest = hashlib.sha256()
    digest.update((ROOT / "requirements.txt").read_bytes())
    # A virtual environment holds its own path, so a moved folder is made anew.
    digest.update(f"{sys.version_info[:2]} ".encode() + os.fsencode(ROOT))
    return digest.hexdigest()


def wanted_gpu_stamp():
    return hashlib.sha256((ROOT / "requirements-gpu.txt").read_bytes()).hexdigest()


def is_set_up(gpu=False):
    """Tells whether .venv is whole; what `--gpu` added is looked at only if asked."""
    try:
        if gpu and GPU_STAMP.read_text() != wanted_gpu_stamp():
            return False
        return STAMP.read_text() == wanted_stamp() and venv_python().exists()
    except (OSError, UnicodeError):  # none, or one that is damaged
        return False


@contextlib.contextmanager
def only_one():
    """Lets a second set-up in the same folder wait for the first."""
    with open(ROOT / ".venv.lock", "w") as lock:
        if os.name == "nt":
            import msvcrt

            while True:  # LK_LOCK would give up after ten seconds
                with contextlib.suppress(OSError):
                    msvcrt.locking(lock.fileno(), msvcrt.LK_NBLCK, 1)
                    break
                time.sleep(1)
        else:
            import fcntl

            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def set_up(gpu=False):
    """Makes .venv where there is none that is whole; the stamp comes last.

    With `gpu` the libraries of CUDA are added to it; without, it stays as it is.
    """
    if is_set_up(gpu):
        return
    with only_one():
        if not is_set_up():
            check_room(DISK_BYTES)
            if Path(sys.prefix) == VENV:
                raise Problem("this is the Python of .venv itself, which is not whole: "
                              "run the same command with the system's Python")
            with old_one_aside():
                print("Setting up .venv: once, and it needs the network.", flush=True)
                make_environment()
        if gpu and not is_set_up(gpu):
            check_room(GPU_DISK_BYTES)
            print("Adding CUDA to .venv: once, 2.8 GB from the network.", flush=True)
            install("requirements-gpu.txt")
            GPU_STAMP.write_text(wanted_gpu_stamp())


def check_room(needed):
    free = shutil.disk_usage(ROOT).free
    if free < needed:
        raise Problem(
            f"the set-up needs {needed / 1e9:.0f} GB and this disk has "
            f"{free / 1e9:.1f} GB free: make room, then run the same command again"
        )


@contextlib.contextmanager
def old_one_aside():
    """Keeps a finished .venv until the new one is, and puts it back if none comes."""
    if STAMP.exists():
        print("The folder, the Python or requirements.txt has changed since the last "
              "set-up.")
        shutil.rmtree(OLD_VENV, ignore_errors=True)
        VENV.rename(OLD_VENV)
    shutil.rmtree(VENV, ignore_errors=True)
    try:
        yield
    except BaseException:
        if OLD_VENV.exists():
            shutil.rmtree(VENV, ignore_errors=True)
            OLD_VENV.rename(VENV)
        raise
    shutil.rmtree(OLD_VENV, ignore_errors=True)


def make_environment():
    """Makes .venv, installs what the course needs, and stamps it as finished."""
    step([sys.executable, "-m", "venv", VENV],
         "could not make .venv (on Debian and Ubuntu: apt install python3-venv)")
    install("requirements.txt")
    make_importable()
    settings = VENV / "share" / "jupyter" / "lab" / "settings"
    settings.mkdir(parents=True, exist_ok=True)
    (settings / "overrides.json").write_text(json.dumps(LAB_SETTINGS, indent=1))
    STAMP.write_text(wanted_stamp())


def install(lock):
    pip = [venv_python(), "-m", "pip", "--disable-pip-version-check", "install"]
    step([*pip, "--no-warn-script-location", "--no-compile", "-r", ROOT / lock],
         "could not fetch the packages: pip's own words are above; check the "
         "network or the proxy, then run the same command again")
    # pip would compile in one core. Like pip, this passes over what does not compile.
    python("-m", "compileall", "-qq", "-j", "0", VENV / "lib")


def make_importable():
    """Puts this folder on the environment's path: an editable install, unbuilt."""
    # Which encoding a path in such a file has depends on Python; ASCII is in all.
    program = (
        "import pathlib, sys, sysconfig\n"
        "line = 'import sys; sys.path.append(' + ascii(sys.argv[1]) + ')'\n"
        "where = sysconfig.get_path('purelib')\n"
        "pathlib.Path(where, 'course.pth').write_text(line, encoding='ascii')\n"
    )
    step([venv_python(), "-c", program, ROOT], "could not write into .venv")


def step(command, complaint):
    # In UTF-8 mode a path is spelt right in every locale.
    environment = dict(os.environ, PYTHONUTF8="1")
    if subprocess.call([str(p) for p in command], cwd=str(ROOT), env=environment):
        raise Problem(complaint)


def python(*arguments):
    """Runs the environment's Python in the project's folder; returns its exit code.

    Raises KeyboardInterrupt after the child has ended, if Ctrl-C ended it.
    """
    command = [str(venv_python()), *map(str, arguments)]
    environment = dict(os.environ, PYTHONNOUSERSITE="1", PYTHONUTF8="1")
    process = subprocess.Popen(command, cwd=str(ROOT), env=environment)
    interrupted = False
    while True:
        try:
            code = process.wait()
        except KeyboardInterrupt:
            interrupted = True  # Ctrl-C reaches the child too; it decides how to end
            continue
        if interrupted and code:
            raise KeyboardInterrupt
        return code


def usage():
    lines = [f"  {name:12s} {purpose}" for name, (_, purpose) in COMMANDS.items()]
    return "\n".join([__doc__.strip(), "", *lines])


def main(arguments):
    name, rest = (arguments or [""])[0], arguments[1:]
    if name not in COMMANDS:
        print(usage())
        if name in ("", "-h", "--help"):
            return 0
        print(f"course.py: there is no command {name}", file=sys.stderr)
        return 2
    if name == "doctor":  # runs where the set-up does not
        program = str(ROOT / "tools" / "doctor.py")
        return subprocess.call([sys.executable, program, *rest])
    gpu = name == "lab" and "--gpu" in rest
    if gpu:
        rest.remove("--gpu")
    try:
        check_machine()
        if gpu:
            check_gpu()
        set_up(gpu)
        return python("-m", COMMANDS[name][0], *rest)
    except Problem as problem:
        print(f"course.py: {problem}", file=sys.stderr)
    except OSError as error:
        print(f"course.py: {error}: fix that, then run the same command again",
              file=sys.stderr)
    except KeyboardInterrupt:
        print("\ncourse.py: stopped", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
