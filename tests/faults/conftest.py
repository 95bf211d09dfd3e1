"""Counts the faults that were tried, and what came of them.

    python3 course.py test faults

Each test is one fault, or as many as it records (`tried(n)`). What fails is silent (it
went on with less, other or no data), unless it ran into its time limit: then it hung.
"""

import shutil
import subprocess
from collections import Counter, defaultdict

import pytest


@pytest.fixture
def tried(record_property):
    """Call it with the number of faults that the test tries, if not one."""
    return lambda number: record_property("faults", number)


@pytest.fixture
def small_disk(tmp_path):
    """A folder on a disk of 600 kB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", str(disk)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True
                                                       ).returncode:
        pytest.skip("mounting a small disk needs root")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def pytest_terminal_summary(terminalreporter):
    subjects = defaultdict(Counter)
    for outcome in ("passed", "failed", "error"):
        for report in terminalreporter.stats.get(outcome, []):
            _count(subjects, report, outcome)
    if not subjects:
        return
    columns = ("tried", "survived", "silent", "hung")
    write = terminalreporter.write_line
    write("")
    write(f"{'faults':14s}" + "".join(f"{name:>10s}" for name in columns))
    for subject, counts in sorted(subjects.items()):
        write(f"{subject:14s}" + "".join(f"{counts[n]:10d}" for n in columns))
    total = sum(subjects.values(), Counter())
    write(f"{'sum':14s}" + "".join(f"{total[n]:10d}" for n in columns))


def _count(subjects, report, outcome) -> None:
    path, _, _ = report.nodeid.partition("::")
    properties = dict(getattr(report, "user_properties", ()))
    if not path.endswith("_faults.py"):
        return
    if outcome == "passed" and report.when != "call":
        return
    subject = path.rpartition("/test_")[2].removesuffix("_faults.py")
    result = "survived"
    if outcome != "passed":
        result = "hung" if "Timeout" in str(report.longrepr) else "silent"
    subjects[subject].update({"tried": properties.get("faults", 1),
                              result: properties.get("faults", 1)})
