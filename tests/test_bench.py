"""`course.py bench`: everything runs in small and writes its files; none by force."""

import importlib
import json
import subprocess
import sys

import pytest

from benchmarks import __main__ as bench
from benchmarks import rounds, tables
from helpers.files import ROOT


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """One run of everything in small: the folder that it wrote."""
    folder = tmp_path_factory.mktemp("results")
    command = [sys.executable, "-m", "benchmarks", "--quick", "--output", folder]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.skipif(sys.platform == "win32", reason="peak memory is read from POSIX")
@pytest.mark.parametrize("name", bench.NAMES)
def test_writes_its_table(quick, name):
    data = json.loads((quick / f"{name}.json").read_text("utf-8"))
    assert data["benchmark"] == name and data["cores"] and data["cpu"]
    module = importlib.import_module(f"benchmarks.{name}")
    wanted = getattr(module, "CONTESTANTS", ["one_cell"])
    assert list(data["rows"]) == list(wanted)
    for row in data["rows"].values():
        assert row and all(value > 0 for value in map(float, row.values()))
    assert str(ROOT) not in json.dumps(data) and str(quick) not in json.dumps(data)


def results_of(*rates):
    return [rounds.Result(rate, 2, 3) for rate in rates]


def test_medians_of_rounds_and_ratios():
    found = {"ours": results_of(8, 1, 6), "limit": results_of(12, 12, 12)}
    note = rounds.verdict(found, "ours", "limit", 0.6)
    lines = tables.text_of(rounds.compared("title", found, [note])).splitlines()
    assert lines[0] == "title"
    assert lines[2].split() == ["ours", "6.00", "2.00", "3.00"]
    # Only rates of one round are compared.
    assert lines[-1] == "ours / limit: 0.50, rounds 0.08 to 0.67; goal 0.6: NOT MET"


def test_a_contestant_that_fails_is_one_line():
    with pytest.raises(RuntimeError) as caught:
        rounds.compete({"ours": ["benchmarks.nothing"]}, 1)
    assert "ours failed with status 1: " in str(caught.value)
    assert str(caught.value).endswith("No module named benchmarks.nothing")
