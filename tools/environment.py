"""Creates the virtual environment `.venv` with only the standard library.

There are three lock files: one for learners, one for the tests and the book, and one
for GPUs. The packages of each are downloaded when a command needs them for the first
time, and a stamp is written last. Messages of the set-up go to standard error, and the
output of pip goes to `.venv.log`.

In a room without a fast network, the packages come from a folder that `course.py
wheels` has filled, or from a server on the local network that offers this folder.
"""

import contextlib
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import time
import urllib.parse
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
OLD_VENV = ROOT / ".venv.old"
LOG = ROOT / ".venv.log"
STAMP = VENV / "complete.txt"
BEGUN = VENV / "begun.txt"  # marks a .venv that this set-up began

OLDEST, NEWEST = (3, 10), (3, 13)  # Pythons for which TensorFlow has a wheel

CALLED_FROM = "COURSE_CALLED_FROM"  # names the folder in which course.py was called
LOCK = "requirements.txt"
NEEDED_BYTES = 4 * 10**9
# Optional packages: lock file, stamp, bytes needed, and description.
EXTRAS = {
    "dev": ("requirements-dev.txt", VENV / "dev.txt", 10**9,
            "the packages for the tests and the book"),
    "gpu": ("requirements-gpu.txt", VENV / "gpu.txt", 8 * 10**9, "CUDA 12, 2.8 GB"),
}
OLDEST_DRIVER = 525  # the first whose CUDA is 12, for which TensorFlow 2.21 is built


class Problem(Exception):
    """Error that prevents the set-up, with a one-line message that names a fix."""


def check_machine(version=None, system=None, machine=None):
    """Raises `Problem` if TensorFlow 2.21 has no wheel for this machine."""
    version = tuple((version or sys.version_info)[:2])
    system, machine = system or platform.system(), machine or platform.machine()
    if not OLDEST <= version <= NEWEST:
        raise Problem(
            "This is Python {}.{}, but TensorFlow 2.21 needs Python {}.{} to {}.{}. "
            "Install one of these and run the same command with it.".format(
                *version, *OLDEST, *NEWEST)
        )
    wheels = {
        "Linux": ("x86_64", "aarch64"),
        "Darwin": ("arm64",),
        "Windows": ("AMD64",),
    }
    if machine not in wheels.get(system, ()):
        raise Problem(
            f"TensorFlow 2.21 is not available for {system} on {machine}. Use Linux "
            "(x86_64, aarch64), macOS (Apple silicon), or Windows (64-bit)."
        )


def check_gpu(system=None, machine=None):
    """Raises `Problem` if TensorFlow cannot use a GPU on this machine."""
    system, machine = system or platform.system(), machine or platform.machine()
    if (system, machine) != ("Linux", "x86_64"):
        raise Problem(
            f"The option --gpu is not supported on {system} ({machine}). Use Linux or "
            "WSL2 on x86_64, or run the command without --gpu."
        )
    if not has_driver():
        raise Problem(
            "No NVIDIA driver found. Install one so that nvidia-smi lists your GPU, or "
            "run the command without --gpu."
        )
    for card in cards():
        if card.driver < OLDEST_DRIVER:
            raise Problem(
                f"CUDA 12 requires NVIDIA driver {OLDEST_DRIVER} or newer, but "
                f"{card.name} has {card.driver}. Update the driver, or run the command "
                "without --gpu."
            )
        if card.used > card.total / 2:
            say(f"Another program uses {card.used:,} of {card.total:,} MiB of the "
                f"memory of {card.name}. Lessons may run out of memory until it ends.")


def venv_python():
    return VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def wanted_stamp():
    """Returns the hash that marks a complete environment of this folder."""
    digest = hashlib.sha256()
    digest.update((ROOT / LOCK).read_bytes())
    # A virtual environment contains its own path, so a moved folder needs a new one.
    digest.update(f"{sys.version_info[:2]} ".encode() + os.fsencode(str(ROOT)))
    return digest.hexdigest()


def wanted_extra(name):
    return hashlib.sha256((ROOT / EXTRAS[name][0]).read_bytes()).hexdigest()


def is_set_up(*extras):
    """Returns whether `.venv` is complete, including the given extras."""
    try:
        for name in extras:
            if EXTRAS[name][1].read_text() != wanted_extra(name):
                return False
        return STAMP.read_text() == wanted_stamp() and venv_python().exists()
    except (OSError, UnicodeError):  # the file is missing or damaged
        return False


@contextlib.contextmanager
def only_one():
    """Waits until no other set-up runs in this folder, and locks the folder."""
    with open(str(ROOT / ".venv.lock"), "w") as lock:
        waits = False
        while not _locked(lock):
            if not waits:
                say("Another set-up is running in this folder. Waiting until it ends.")
            waits = True
            time.sleep(1)
        yield


def _locked(lock):
    """Tries to lock an open file without waiting, and returns whether it succeeded."""
    try:
        if os.name == "nt":
            import msvcrt

            msvcrt.locking(lock.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def set_up(*extras, wheels=""):
    """Creates `.venv` unless a complete one exists, and installs the given extras.

    Args:
      *extras: Keys of `EXTRAS`.
      wheels: Folder, or address of a folder, with the packages as wheels. If it is
        given, nothing else is asked for packages.
    """
    if is_set_up(*extras):
        return
    source = WheelFolder(wheels) if wheels else None
    if VENV.is_symlink():
        raise Problem(
            f"{VENV.name} must not be a link, but points to {os.readlink(str(VENV))}. "
            "Remove the link and run the same command again."
        )
    with only_one():
        missing = [name for name in extras if not is_set_up(name)]
        steps = 3 * (not is_set_up()) + 2 * len(missing)
        names = (f"Step {number} of {steps}" for number in range(1, steps + 1))
        if not is_set_up():
            check_room(NEEDED_BYTES)
            if Path(sys.prefix) == VENV:
                raise Problem(
                    "The incomplete .venv cannot be repaired by its own Python. Run "
                    "the same command with the system's Python."
                )
            with old_one_aside():
                say("Setting up .venv. This takes a few minutes, once, and "
                    + (f"installs the packages in {wheels}." if wheels else
                       "needs the network."))
                make_environment(names, source)
        for name in missing:
            lock, stamp, needed, what = EXTRAS[name]
            check_room(needed)
            say(f"Installing {what} in .venv, once"
                + ("." if wheels else ". This needs the network."))
            install(lock, names, source)
            stamp.write_text(wanted_extra(name))
        say("The set-up is complete. The first start takes up to a minute, and later "
            "ones a few seconds.")


def go_where_called():
    """Changes to the folder in which the user called `course.py`."""
    os.chdir(os.environ.get(CALLED_FROM, "."))


def has_driver():
    """Returns whether the NVIDIA driver is installed."""
    return bool(shutil.which("nvidia-smi") or os.path.exists("/proc/driver/nvidia"))


class Card(NamedTuple):
    """GPU, as NVIDIA's driver describes it.

    Attributes:
      name: Name of the GPU.
      driver: First number of the version of the driver.
      used, total: Memory in MiB.
      capability: Compute capability, such as 9.0.
    """

    name: str
    driver: int
    used: int
    total: int
    capability: float


def cards():
    """Returns the GPUs that NVIDIA's driver lists; `[]` if nvidia-smi cannot tell."""
    try:
        done = subprocess.run(
            ["nvidia-smi", "--format=csv,noheader,nounits",
             "--query-gpu=name,driver_version,memory.used,memory.total,compute_cap"],
            capture_output=True, text=True, timeout=60)
        return [card_of(line) for line in done.stdout.splitlines()]
    except (OSError, ValueError, subprocess.SubprocessError):
        return []


def card_of(line):
    """Returns the GPU that a line of nvidia-smi describes.

    Raises:
      ValueError: If the line describes none.
    """
    name, driver, used, total, capability = line.rsplit(", ", 4)
    version = int(driver.split(".")[0])
    return Card(name, version, int(used), int(total), float(capability))


def say(line):
    print(line, file=sys.stderr, flush=True)


def check_room(needed):
    free = shutil.disk_usage(str(ROOT)).free
    if free < needed:
        raise Problem(
            f"Not enough disk space: the set-up needs {needed / 1e9:.0f} GB, but only "
            f"{free / 1e9:.1f} GB are free. Free some space and run the same command "
            "again."
        )


@contextlib.contextmanager
def old_one_aside():
    """Moves a complete `.venv` away, and restores it if the new set-up fails."""
    if VENV.exists() and not (STAMP.exists() or BEGUN.exists()):
        raise Problem(
            f"{VENV.name} already exists and was not created by this program. Activate "
            "it and start Jupyter yourself, or rename it and run the same command "
            "again."
        )
    if STAMP.exists():
        say("The folder, the Python version or requirements.txt has changed since the "
            "last set-up.")
        shutil.rmtree(str(OLD_VENV), ignore_errors=True)
        VENV.rename(OLD_VENV)
    shutil.rmtree(str(VENV), ignore_errors=True)
    try:
        yield
    except BaseException:
        if OLD_VENV.exists():
            shutil.rmtree(str(VENV), ignore_errors=True)
            OLD_VENV.rename(VENV)
        raise
    shutil.rmtree(str(OLD_VENV), ignore_errors=True)


def make_environment(names, source=None):
    """Creates `.venv`, installs the packages, and marks it as complete.

    Args:
      names: Iterator over the names of the steps, such as "Step 1 of 3".
      source: The `WheelFolder` with the packages, or None for the package index.
    """
    VENV.mkdir()
    BEGUN.touch()
    say(f"{next(names)}: creating the environment")
    step([sys.executable, "-m", "venv", VENV],
         "Could not create .venv. On Debian and Ubuntu, run apt install python3-venv.")
    install(LOCK, names, source)
    make_importable()
    STAMP.write_text(wanted_stamp())


class WheelFolder:
    """Folder that `course.py wheels` has filled, or its address on a local network.

    Args:
      place: Path of the folder, or an address that begins with http:// or https://.

    Raises:
      Problem: If the folder does not exist or contains no wheel.
    """

    def __init__(self, place):
        self.place = place
        self.options = ["--no-index", "--find-links", place]
        if place.startswith("http://"):  # pip would refuse it otherwise
            host = urllib.parse.urlsplit(place).hostname or ""
            self.options += ["--trusted-host", host]
        elif not place.startswith("https://") and not any(Path(place).glob("*.whl")):
            raise Problem(
                f"No wheels (.whl) found in {place}. Pass the folder that was filled "
                "with: python3 course.py wheels FOLDER"
            )

    @property
    def complaint(self):
        """Message for a set-up that did not find all packages."""
        python = "{}.{}".format(*sys.version_info[:2])
        return (f"{self.place} cannot be reached, or it lacks a package for Python "
                f"{python} on {platform.system()} {platform.machine()}. The lines "
                f"above are the end of {LOG.name}. To add what is missing, see "
                "python3 course.py wheels --help")


def install(lock, names, source=None):
    """Installs the exact versions of a lock file with uv, or with pip."""
    # The last line is this folder, which `make_importable` adds in another way.
    pins = re.findall(r"^[\w.-]+==.+", (ROOT / lock).read_text(), re.M)
    (VENV / lock).write_text("\n".join(pins))
    command = [venv_python(), "-m", "pip", "--disable-pip-version-check", "install",
               "--no-deps", "--no-warn-script-location", "--no-compile",
               "--progress-bar", "off"]
    complaint = (f"Could not download the packages. The lines above are the end of "
                 f"{LOG.name}. Check the network or the proxy, then run the same "
                 "command again.")
    if source:
        command, complaint = [*command, *source.options], source.complaint
    elif shutil.which("uv"):
        command = ["uv", "pip", "install", "--no-deps", "--python", venv_python()]
    step([*command, "-r", VENV / lock], complaint,
         Moving(next(names), next(names), len(pins)))


def make_importable():
    """Adds the project folder to the import path of the environment."""
    # The encoding of such a file depends on the Python version, but ASCII always works.
    program = (
        "import pathlib, sys, sysconfig\n"
        "line = 'import sys; sys.path.append(' + ascii(sys.argv[1]) + ')'\n"
        "where = sysconfig.get_path('purelib')\n"
        "pathlib.Path(where, 'course.pth').write_text(line, encoding='ascii')\n"
    )
    step([venv_python(), "-c", program, ROOT],
         "Could not write to .venv. Check the permissions of the folder.")


class Moving:
    """Progress line of a set-up, with its step, a bar and the elapsed time.

    Args:
      fetches: Name of the download step, such as "Step 2 of 3".
      unpacks: Name of the step after it.
      at_most: Number of packages for all systems together.
    """

    FETCHED = re.compile(
        r"(?:Downloading|Using cached) (?:\S*/)?(\S+?)-\d\S* \(([\d.]+) (\w)B\)")
    UNITS = {"k": 1e-3, "M": 1, "G": 1e3}
    WIDTH = 20
    EVERY = 10  # seconds between two lines, if the output is not a terminal

    def __init__(self, fetches, unpacks, at_most):
        self.fetches, self.unpacks, self.at_most = fetches, unpacks, at_most
        self.before = unpacked()
        self.began = self.said = time.monotonic()

    def line(self, log):
        """Returns the progress line for the current output of pip or uv."""
        new = len(re.findall(r"^(?:Collecting|Processing| \+) ", log, re.M))
        present = len(re.findall(r"^Requirement already", log, re.M))
        fetched = self.FETCHED.findall(log)
        megabytes = sum(float(size) * self.UNITS[unit] for _, size, unit in fetched)
        last = (f"{megabytes:.0f} MB, downloaded {fetched[-1][0]}" if fetched else
                "searching")
        name, done, total = self.fetches, new + present, self.at_most
        text = f"at most {total} packages, {last}"
        if re.search("^(?:Installing collected|Prepared)", log, re.M):
            name, total = self.unpacks, new or total - present
            replaced = len(re.findall("^ *Attempting uninstall", log, re.M))
            done = min(unpacked() - self.before + replaced, total)
            # After the last package, pip still works, and does not show at what.
            text = f"{total} packages, " + ("installing" if done < total else
                                            "almost done")
        full = self.WIDTH * done // max(total, 1)
        seconds = int(time.monotonic() - self.began)
        return (f"{name}: [{'#' * full:.<{self.WIDTH}}] {done} of {text} "
                f"({seconds // 60}:{seconds % 60:02d})")

    def show(self, log):
        """Updates the line on a terminal, or prints one every ten seconds."""
        if sys.stderr.isatty():
            width = shutil.get_terminal_size().columns - 1
            sys.stderr.write(f"\r\x1b[K{self.line(log)[:width]}")
            sys.stderr.flush()
        elif time.monotonic() - self.said >= self.EVERY:
            self.said = time.monotonic()
            say(self.line(log))


def unpacked():
    """Returns the number of packages that are installed in `.venv`."""
    return sum(1 for place in ("lib/python*", "Lib")  # the second is for Windows
               for _ in VENV.glob(f"{place}/site-packages/*.dist-info"))


def step(command, complaint, moving=None):
    """Runs a command, logs its output, and raises `Problem` if it fails."""
    # In UTF-8 mode, paths are correct in every locale.
    environment = dict(os.environ, PYTHONUTF8="1", PYTHONUNBUFFERED="1")
    with open(str(LOG), "ab") as log:
        begin = log.tell()
        process = subprocess.Popen(
            [str(part) for part in command], cwd=str(ROOT), env=environment,
            stdout=log, stderr=subprocess.STDOUT)
    ended = False
    try:
        while not ended:
            time.sleep(0.1)
            ended = process.poll() is not None
            if moving is not None:
                moving.show(said(begin))
    except BaseException:
        process.kill()
        raise
    finally:
        if moving is not None and sys.stderr.isatty():
            say("")
    if process.returncode:
        say("\n".join(said(begin).splitlines()[-5:]))
        raise Problem(complaint)


def said(begin):
    """Returns the text of the log from a byte offset to its end."""
    return LOG.read_bytes()[begin:].decode("utf-8", "replace")
