"""A folder is unpacked or drawn whole, or not at all, also when the maker is killed.

What a hostile archive could do is not tested: its size and hash are known before.
"""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import killing
import pytest

from tests.limits import LIMIT

pytestmark = pytest.mark.skipif(os.name == "nt", reason="kills by POSIX signals")


@pytest.fixture
def many(tmp_path) -> Path:
    with zipfile.ZipFile(tmp_path / "many.zip", "w") as file:
        for k in range(200):
            file.writestr(f"d{k % 7}/{k}.bin", os.urandom(5000))
    return tmp_path / "many.zip"


def test_killed_while_unpacking_20_times(many, tmp_path, tried):
    tried(20)
    pairs = killing.job("unpack", tmp_path / "out", archive=many)
    assert ("absent", "whole") in pairs


def test_three_processes_at_once(tmp_path):
    code = (
        "import sys\n"
        "from helpers import files\n"
        "from helpers.shapes import write_tiny_shapes\n"
        "print('ready', flush=True); sys.stdin.readline()\n"
        "assert files.is_whole(write_tiny_shapes('out', train=3, val=1))"
    )
    together = [
        subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                         cwd=tmp_path)
        for _ in range(3)
    ]  # fmt: skip
    assert [p.stdout.readline() for p in together] == ["ready\n"] * 3
    for process in together:
        print(file=process.stdin, flush=True)
    errors = [process.communicate(timeout=LIMIT)[1] for process in together]
    assert [process.returncode for process in together] == [0, 0, 0], errors
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out"]
