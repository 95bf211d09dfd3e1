"""What an answer may touch while it runs: a fence for one process and its children.

Its own folder, memory and processes, no file of another. Linux has all of it, macOS
the limits alone. None of it replaces a container: the answer shares a process with its
check.
"""

import contextlib
import ctypes
import os
import resource
import struct
import sys
from pathlib import Path

FIRST_USER = 60_000  # of users that no system has
PROCESSES = 64
THREADS = 4 * PROCESSES + 16 * (os.cpu_count() or 1)  # TensorFlow makes some per core
FILE_BYTES = 10**9
# Linux, include/uapi/linux/landlock.h; the numbers are the same on every machine.
_CREATE, _ADD, _RESTRICT = 444, 445, 446
_EXECUTE, _WRITE, _READ, _LIST = 1, 1 << 1, 1 << 2, 1 << 3
_FILES_V1 = (1 << 13) - 1
_FILES = {1: _FILES_V1, 2: (1 << 14) - 1, 3: (1 << 15) - 1}
_NET = 3  # bind and connect by TCP, from version 4
_SCOPE = 3  # abstract sockets and signals, from version 6
_NO_NEW_PRIVILEGES, _SUBREAPER, _KEEP_CAPABILITIES = 38, 36, 8
_CAPABILITIES_V3, _OVERRIDES, _READS_ALL = 0x20080522, 1 << 1, 1 << 2


def keep_orphans() -> None:
    """Makes this process the parent of what its children leave behind (Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)


def version() -> int:
    """Returns which Landlock the kernel has: 0 for none."""
    if sys.platform != "linux":
        return 0
    return max(0, ctypes.CDLL(None).syscall(_CREATE, None, 0, 1))


def enclose(workplace: Path, readable: list[Path], seconds: float, memory: int) -> None:
    """Fences this process in, for good.

    Args:
      workplace: the only folder that it may write to.
      readable: what it may read besides the system's own folders.
      seconds: of computing, over all its cores.
      memory: bytes that it may take on top of what it has.
    """
    _limit(seconds, memory)
    os.chdir(workplace)
    if os.geteuid() == 0:
        _become_nobody(workplace, readable)
    if version():
        _forbid(workplace, readable)


def _limit(seconds: float, memory: int) -> None:
    limits = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_FSIZE: FILE_BYTES,
        resource.RLIMIT_CPU: int(seconds * (os.cpu_count() or 1)) + 1,
    }
    with contextlib.suppress(OSError, ValueError):
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        limits[resource.RLIMIT_AS] = pages * resource.getpagesize() + memory
    if os.geteuid():
        limits[resource.RLIMIT_NPROC] = _threads_of_mine() + THREADS
    else:
        limits[resource.RLIMIT_NPROC] = THREADS  # of a user of its own
    for kind, limit in limits.items():
        with contextlib.suppress(OSError, ValueError):  # a lower one is there
            later = 5 if kind == resource.RLIMIT_CPU else 0  # a signal tells why, first
            resource.setrlimit(kind, (limit, limit + later))


def _threads_of_mine() -> int:
    """Returns how many threads this user runs: the system's limit counts them all."""
    import psutil

    return sum(p.info["num_threads"] or 0
               for p in psutil.process_iter(["uids", "num_threads"])
               if p.info["uids"] and p.info["uids"].real == os.getuid())


def _become_nobody(workplace: Path, readable: list[Path]) -> None:
    """Root has no limit of processes: this becomes a user of its own, who has one.

    Behind Landlock the user may read what root reads, as the course may be in a closed
    folder; without it, the process stays root where it could read nothing.
    """
    closed = any(not path.stat().st_mode & 0o001 for place in readable
                 for path in place.resolve().parents)
    if closed and not version():
        return
    libc, user = ctypes.CDLL(None), FIRST_USER + os.getpid() % 5000
    os.chown(workplace, user, user)
    libc.prctl(_KEEP_CAPABILITIES, 1, 0, 0, 0)
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    if closed:
        for kept in (_READS_ALL, _OVERRIDES):  # containers give the second one
            wanted = struct.pack("6I", kept, kept, 0, 0, 0, 0)
            if not libc.capset(struct.pack("Ii", _CAPABILITIES_V3, 0), wanted):
                return


def _forbid(workplace: Path, readable: list[Path]) -> None:
    """Landlock: no file but these, no TCP, no signal to the outside."""
    libc, have = ctypes.CDLL(None, use_errno=True), version()
    files = _FILES[min(have, 3)] | (1 << 15 if have >= 5 else 0)
    rules = struct.pack("QQQ", files, _NET if have >= 4 else 0,
                        _SCOPE if have >= 6 else 0)
    size = 24 if have >= 6 else 16 if have >= 4 else 8
    ruleset = libc.syscall(_CREATE, ctypes.create_string_buffer(rules, 24), size, 0)
    look = _EXECUTE | _READ | _LIST
    system = map(Path, ("/usr", "/lib", "/lib64", "/bin", "/etc", "/proc", "/sys",
                        "/opt"))
    allowed = {**dict.fromkeys((*system, *readable), look),
               Path("/dev"): look | _WRITE, workplace: files}
    for path, access in allowed.items():
        if not path.exists():
            continue
        if not path.is_dir():
            access &= _EXECUTE | _WRITE | _READ
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        rule = struct.pack("=Qi", access, descriptor)
        failed = libc.syscall(_ADD, ruleset, 1, ctypes.create_string_buffer(rule), 0)
        os.close(descriptor)
        if failed:
            raise OSError(ctypes.get_errno(), f"landlock: {path}")
    libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    if libc.syscall(_RESTRICT, ruleset, 0):
        raise OSError(ctypes.get_errno(), "landlock")
    os.close(ruleset)
