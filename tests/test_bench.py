"""`course.py bench`: everything runs in small and writes its files; none by force."""

import json
import math
import subprocess
import sys

import pytest

from benchmarks import __main__ as bench
from benchmarks import results, rounds, towers
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
def test_writes_table_plot_and_json(quick, name):
    data = json.loads((quick / f"{name}.json").read_text("utf-8"))
    assert data["benchmark"] == name and data["cores"] and data["cpu"]
    text = (quick / f"{name}.txt").read_text("utf-8")
    for table in data["tables"]:
        assert table["title"] in text
        for contestant, row in table["rows"].items():
            assert contestant in text
            assert row and all(map(math.isfinite, row.values()))
    assert (quick / f"{name}.png").read_bytes()[:4] == b"\x89PNG"
    assert str(ROOT) not in text and str(quick) not in text + json.dumps(data)


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_all_towers_start_from_chance(quick):
    [table] = json.loads((quick / "towers.json").read_text("utf-8"))["tables"]
    assert list(table["rows"]) == list(towers.CONTESTANTS)
    for row in table["rows"].values():
        assert abs(row["first loss"] - math.log(5)) < 3
        assert 0.3 < row["peak GB"] < 8


def contestant(file, *rates):
    """Returns a command that reports one of these rates after the other."""
    file.write_text(json.dumps(rates))
    program = (
        "import json, pathlib, sys\n"
        "file = pathlib.Path(sys.argv[1])\n"
        "first, *rest = json.loads(file.read_text())\n"
        "file.write_text(json.dumps(rest))\n"
        "print('warming up')\n"
        "print([first, 2, 3])"
    )
    return [sys.executable, "-c", program, str(file)]


def test_medians_of_rounds_and_ratios(tmp_path):
    commands = {
        "ours": contestant(tmp_path / "ours", 8, 1, 6),
        "rival": contestant(tmp_path / "rival", 3, 3, 300),
        "limit": contestant(tmp_path / "limit", 12, 12, 12),
    }
    found = rounds.compete(commands, 3)
    note = rounds.verdict(found, "ours", "limit", 0.6)
    table = rounds.compared("title", found, ("ours",), notes=[note])
    row = table.rows["ours"]
    # The rates' medians are 6 and 3, but only rates of one round are compared.
    assert [row["pictures/s"], row["to best rival"], row["to limit"]] == [6, 1 / 3, 0.5]
    lines = results.text_of(table).splitlines()
    assert lines[0] == "title"
    assert lines[2].split() == ["ours", "6.00", "0.33", "0.50", "2.00", "3.00"]
    assert lines[-1] == "ours / limit: 0.50, rounds 0.08 to 0.67; goal 0.6: NOT MET"


def test_peak_memory_is_this_process_own():
    held = bytearray(300_000_000)
    program = "from benchmarks import rounds; print(rounds.peak_mb())"
    child = rounds.run_alone("child", [sys.executable, "-c", program])
    assert rounds.peak_mb() > 300 and 1 < float(child) < 100 and held


def test_a_contestant_that_fails_is_one_line():
    broken = {"ours": [sys.executable, "-c", "raise ValueError('no luck')"]}
    with pytest.raises(RuntimeError) as caught:
        rounds.compete(broken, 1)
    assert str(caught.value) == "ours failed with status 1: ValueError: no luck"
