"""Checks whether this machine can run the course, and suggests fixes.

    python3 course.py doctor
    python3 course.py doctor "MESSAGE"     # explains an error of old code
    python3 course.py doctor - < LOG       # explains the error in a log

Each check prints one line. The command needs only Python, so it also runs where the
set-up fails. The exit code is 1 if a problem prevents the course from running. Messages
are explained by `tf1 explain`, whose exit code is 1 if no known message is similar.
"""

import contextlib
import importlib.util
import json
import os
import platform
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
GIGA = 10**9
OK, WARN, BAD = "ok", "note", "BAD"
CPU_FLAGS = ("avx",)
# Runs with the Python that has TensorFlow, and lists the CUDA packages that
# TensorFlow's metadata require and that are not installed.
SEEN = """
import importlib.metadata, json, os, re
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf

def missing():
    for line in importlib.metadata.requires("tensorflow"):
        name = re.match(r"[\\w-]+", line)[0]
        try:
            if "and-cuda" in line:
                importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            yield name

build = tf.sysconfig.get_build_info()
cuda = build["is_cuda_build"]
print(json.dumps({
    "version": tf.__version__, "cuda": cuda and build.get("cuda_version", "12"),
    "capabilities": build.get("cuda_compute_capabilities", []),
    "devices": [device.device_type for device in tf.config.list_physical_devices()],
    "missing": list(missing()) if cuda else []}))
"""


class Finding(NamedTuple):
    """Result of one check of the machine, with a fix if there is a problem."""

    name: str
    state: str
    text: str


def python_version(environment) -> Finding:
    version = "{}.{}.{}".format(*sys.version_info[:3])
    try:
        environment.check_machine()
    except environment.Problem as problem:
        return Finding("Python", BAD, str(problem))
    return Finding("Python", OK,
                   f"{version} on {platform.system()} {platform.machine()}")


def set_up(environment) -> Finding:
    if environment.is_set_up():
        return Finding("set-up", OK, ".venv is complete")
    if environment.VENV.is_symlink():
        return Finding("set-up", BAD, ".venv is a link. Remove the link, and run "
                       "python3 course.py lab.")
    if environment.VENV.exists():
        return Finding("set-up", WARN, ".venv is incomplete or belongs to another "
                       "folder. python3 course.py lab creates it again.")
    return Finding("set-up", WARN, ".venv does not exist yet. The command "
                   "python3 course.py lab creates it.")


def disk(environment) -> Finding:
    free = shutil.disk_usage(ROOT).free
    text = f"{free / GIGA:.0f} GB are free"
    if free < environment.NEEDED_BYTES and not environment.is_set_up():
        return Finding("disk", BAD, f"{text}, but the set-up needs "
                       f"{environment.NEEDED_BYTES / GIGA:.0f} GB. Free some space.")
    return Finding("disk", OK, text)


def processor() -> Finding:
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return Finding("processor", OK, platform.machine())
    try:
        flags = Path("/proc/cpuinfo").read_text().split()
    except OSError:
        return Finding("processor", OK, platform.machine())
    missing = [flag for flag in CPU_FLAGS if flag not in flags]
    if missing:
        return Finding("processor", BAD, "This processor has no AVX, so TensorFlow "
                       "stops with 'illegal instruction'. Use another machine or a "
                       "cloud service.")
    return Finding("processor", OK, f"{platform.machine()} with AVX")


def tensorflow(environment) -> Finding:
    """Checks that TensorFlow can be imported and whether it sees a GPU."""
    whole = environment.is_set_up()
    if not whole and importlib.util.find_spec("tensorflow") is None:
        return Finding("TensorFlow", OK, "TensorFlow is not installed yet")
    program = environment.venv_python() if whole else sys.executable
    done = subprocess.run([str(program), "-c", SEEN], capture_output=True,
                          text=True)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [f"code {done.returncode}"])[-1]
        return Finding("TensorFlow", BAD, f"TensorFlow cannot be imported ({last}). "
                       "Rename .venv, and run python3 course.py lab, which creates a "
                       "new one.")
    seen = json.loads(done.stdout.splitlines()[-1])
    command = ("python3 course.py lab --gpu" if whole
               else "pip install -r requirements-gpu.txt")
    return gpu(seen, environment.has_driver(), command, environment.cards())


def gpu(seen: dict, has_driver: bool, command: str, cards=()) -> Finding:
    """Explains why TensorFlow sees no GPU, and what to install first.

    Args:
      seen: Dictionary that the program `SEEN` prints.
      has_driver: Whether the NVIDIA driver is installed.
      command: Command that installs CUDA's libraries on this machine.
      cards: GPUs that the driver lists, as `environment.cards` returns them.
    """
    count = seen["devices"].count("GPU")
    text = f"{seen['version']} sees {count or 'no'} GPU"
    if count:
        return seen_gpu(text, cards)
    oldest = min((int(name.rsplit("_", 1)[-1]) / 10 for name in seen["capabilities"]),
                 default=0)
    for card in cards:
        if card.capability < oldest:
            return Finding("TensorFlow", WARN, f"{text}, because {card.name} has the "
                           f"compute capability {card.capability}, and TensorFlow is "
                           f"built for {oldest} and newer. The course runs on the CPU.")
    if not seen["cuda"]:
        return Finding("TensorFlow", WARN if has_driver else OK, f"{text}, because it "
                       "is built without CUDA. The package `tensorflow` for Linux "
                       "x86-64 includes CUDA.")
    libraries = ", ".join(seen["missing"])
    if has_driver and libraries:
        return Finding("TensorFlow", WARN, f"{text}. The driver is installed, but "
                       f"CUDA packages are missing: {libraries}. TensorFlow asks for "
                       f"the libraries of CUDA {seen['cuda']} by name, so another "
                       f"version does not replace them. Run: {command}")
    if has_driver:
        version = (f"has version {cards[0].driver}, but" if cards else
                   "may be too old, because")
        return Finding("TensorFlow", WARN, f"{text}, although the driver and the CUDA "
                       f"packages are installed. The driver {version} CUDA 12 needs "
                       "525 or newer. Run nvidia-smi to see its version.")
    more = f" and the CUDA packages {libraries}" if libraries else ""
    return Finding("TensorFlow", OK, f"{text}, and the course needs none. To use an "
                   f"NVIDIA GPU, you also need its driver{more}. Install the driver so "
                   f"that nvidia-smi shows the GPU, then run: {command}")


def seen_gpu(text: str, cards) -> Finding:
    """Returns the finding for GPUs that TensorFlow sees, with their memory in use."""
    for card in cards:
        text += (f"; {card.name}, compute capability {card.capability}, driver "
                 f"{card.driver}, {card.used:,} of {card.total:,} MiB in use")
    if any(card.used > card.total / 2 for card in cards):
        return Finding("TensorFlow", WARN, f"{text}. Another program has taken most of "
                       "the memory. If a lesson runs out of memory, end that program, "
                       "or set CUDA_VISIBLE_DEVICES to another GPU.")
    return Finding("TensorFlow", OK, text)


def proxy() -> Finding:
    names = ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy")
    variables = [name for name in names if os.environ.get(name)]
    if not variables:
        return Finding("proxy", OK, "No proxy is set. Behind a proxy, set HTTPS_PROXY.")
    if "127.0.0.1" not in os.environ.get("NO_PROXY", os.environ.get("no_proxy", "")):
        return Finding("proxy", WARN, f"{variables[0]} is set. Also set "
                       "NO_PROXY=127.0.0.1, because otherwise the browser may not "
                       "reach JupyterLab.")
    return Finding("proxy", OK, f"{variables[0]} is set, and 127.0.0.1 is excluded")


def loopback() -> Finding:
    try:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            probe.listen()
            with socket.create_connection(probe.getsockname(), timeout=5):
                pass
    except OSError as error:
        return Finding("ports", BAD, f"Programs cannot listen on 127.0.0.1 ({error}), "
                       "which JupyterLab, TensorBoard, and lesson 09a need. Check the "
                       "firewall.")
    taken = []
    for port in (8888, 6006):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                taken.append(port)
    if taken:
        return Finding("ports", OK, f"Port {taken[0]} is in use, so another port will "
                       "be used")
    return Finding("ports", OK, "The ports 8888 and 6006 are free")


def data_folder() -> Finding:
    folder = Path(os.environ.get("HELPERS_DATA") or ROOT / "data")
    with contextlib.suppress(RuntimeError):
        folder = folder.expanduser()
    existing = folder if folder.exists() else folder.parent
    if not existing.is_dir() or not os.access(existing, os.W_OK):
        return Finding("data", BAD, f"{folder} is not writable. To use a folder of "
                       "your own, set HELPERS_DATA.")
    return Finding("data", OK, "The data folder is writable")


def examine() -> list[Finding]:
    """Runs all checks of the machine and returns the most serious results first."""
    sys.path.insert(0, str(ROOT))
    from tools import environment

    findings = [python_version(environment), set_up(environment), disk(environment),
             processor(), tensorflow(environment), proxy(), loopback(),
             data_folder()]
    return sorted(findings, key=lambda finding: (BAD, WARN, OK).index(finding.state))


def main(arguments: list[str]) -> int:
    if arguments and (arguments == ["-"] or not arguments[0].startswith("-")):
        tf1 = ROOT / "legacy" / "tf1.py"
        return subprocess.call([sys.executable, str(tf1), "explain", *arguments])
    if arguments and arguments[0].startswith("-"):
        print(__doc__.strip())
        return 0 if arguments in (["-h"], ["--help"]) else 2
    findings = examine()
    for finding in findings:
        print(f"{finding.state:5s} {finding.name:10s} {finding.text}")
    return int(any(finding.state == BAD for finding in findings))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
