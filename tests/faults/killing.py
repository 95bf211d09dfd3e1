"""Kills a piece of work at 20 moments and runs it again: what is left each time?

Run as a process of its own, with the job as JSON: it forks, so it must have no
threads. Each round starts clean, kills a child, looks at the real name, runs the
work to its end, looks again. Prints a list of [killed, run again] as JSON, each
"absent", "whole" or "partial".
"""

import hashlib
import importlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
import types
from pathlib import Path

from tqdm import tqdm

from helpers.datasets import tiny_imagenet
from helpers.datasets.downloads import Download
from tests.limits import LIMIT

KILLS = 20


def job(work: str, target, **arguments) -> list[tuple[str, str]]:
    """Runs this file as a process; returns what it found, which is never a part."""
    arguments = {"work": work, "target": str(target), **arguments}
    found = subprocess.run(
        [sys.executable, __file__, json.dumps(arguments, default=str)],
        capture_output=True, text=True, timeout=LIMIT, check=True,
    )  # fmt: skip
    pairs = [tuple(pair) for pair in json.loads(found.stdout)]
    assert len(pairs) == KILLS
    assert {again for _, again in pairs} == {"whole"}
    assert {killed for killed, _ in pairs} <= {"absent", "whole"}
    return pairs


def digest(path: Path) -> str:
    """Returns one hash over a file, with its shards, or the files of a folder."""
    total = hashlib.sha256()
    inside = sorted(p for p in path.rglob("*") if p.is_file())
    for file in inside if path.is_dir() else [path, *sorted(shards_beside(path))]:
        total.update(file.relative_to(path.parent).as_posix().encode())
        total.update(file.read_bytes())
    return total.hexdigest()


def download(target, url, size, sha256):
    Download(Path(target).name, (url,), size, f"sha256:{sha256}", "-").fetch()


def unpack(target, archive):
    known = types.SimpleNamespace(digest="md5:0", fetch=lambda: archive)
    tiny_imagenet._unpacked(known, Path(target))


def shards(target):
    from helpers import records

    prefix = target.removesuffix(".manifest.json")
    records.write_shards([b"%06d" % n for n in range(1_000)], prefix, 3, seed=1)


def shards_beside(manifest: Path):
    return manifest.parent.glob(f"{manifest.name.split('.')[0]}-?????-of-?????")


def child(function, arguments) -> int:
    pid = os.fork()
    if pid:
        return pid
    try:
        function(**arguments)
        os._exit(0)
    except BaseException:
        os._exit(1)


def timed(function, arguments) -> float:
    start = time.monotonic()
    os.waitpid(child(function, arguments), 0)
    return time.monotonic() - start


def remove(target: Path) -> None:
    for path in (target, *shards_beside(target)):
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


def main(work, target, **arguments):
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # no progress bars
    # tqdm's own lock is shared by forks: who is killed holding it stops all others.
    tqdm.set_lock(threading.RLock())
    tqdm.monitor_interval = 0  # a thread of its own
    if work == "shards":
        importlib.import_module("helpers.records")  # once, and not in each child
    function, target = globals()[work], Path(target)
    arguments["target"] = str(target)
    random.seed(7)
    durations = []
    for _ in range(3):
        remove(target)
        durations.append(timed(function, arguments))
    duration, whole, pairs = min(durations), digest(target), []
    for k in range(KILLS):
        remove(target)
        pid = child(function, arguments)
        time.sleep(duration * (k + random.random()) / KILLS)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        killed = state(target, whole)
        again = timed(function, arguments)
        if killed == "absent":
            duration = again  # what else runs on this machine changes
        pairs.append((killed, state(target, whole)))
    print(json.dumps(pairs))


def state(target: Path, whole: str) -> str:
    if not target.exists():
        return "absent"
    return "whole" if digest(target) == whole else "partial"


if __name__ == "__main__":
    main(**json.loads(sys.argv[1]))
