"""`course.py bench`: everything runs in small and prints its table; none by force."""

import importlib
import re
import subprocess
import sys

import pytest

from benchmarks import __main__ as bench
from benchmarks import growth, rounds
from helpers.files import ROOT
from tools import serve_graphs


@pytest.fixture(scope="module")
def quick():
    """What one run of everything in small printed: the lines of each benchmark."""
    command = [sys.executable, "-m", "benchmarks", "--quick"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    _, *parts = re.split(r"^=== (\w+) ===$", done.stdout, flags=re.M)
    return dict(zip(parts[::2], map(str.splitlines, parts[1::2]), strict=True))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="peak memory is read from POSIX")
@pytest.mark.parametrize("name", bench.NAMES)
def test_prints_its_table(quick, name):
    module = importlib.import_module(f"benchmarks.{name}")
    rows = quick[name][3:3 + len(module.CONTESTANTS)]
    for row, contestant in zip(rows, module.CONTESTANTS, strict=True):
        assert row.startswith(contestant)
        figures = row.removeprefix(contestant).replace(",", "").split()
        assert len(figures) == (6 if name == "growth" else 3)
        assert all(float(figure) > 0 for figure in figures[:3])


def test_an_exponent_is_the_slope_of_the_logarithms():
    work = [10, 20, 40, 80]
    assert growth.exponent(work, [3.0 * n**2 for n in work]) == pytest.approx(2)
    assert growth.exponent(work, [0.1 * n for n in work]) == pytest.approx(1)


def results_of(*rates):
    return [rounds.Result(rate, 2, 3) for rate in rates]


def test_medians_of_rounds_and_ratios():
    found = {"ours": results_of(8, 1, 6), "limit": results_of(12, 12, 12)}
    note = rounds.verdict(found, "ours", "limit", 0.6)
    lines = rounds.text_of(rounds.compared("title", found, [note])).splitlines()
    assert lines[0] == "title"
    assert lines[2].split() == ["ours", "6.00", "2.00", "3.00"]
    # Only rates of one round are compared.
    assert lines[-1] == "ours / limit: 0.50, rounds 0.08 to 0.67; goal 0.6: NOT MET"


@pytest.mark.parametrize("number", ["-1", "0", "nan", "1.5", "inf", "²", ""])
def test_counts_that_cannot_be_are_refused_in_one_way(number, capsys):
    for main, option in ((serve_graphs.main, "--port"),
                         (rounds.options_of("towers").parse_args, "--rounds")):
        with pytest.raises(SystemExit):
            main([f"{option}={number}"])
        assert "Expected a positive whole number" in capsys.readouterr().err
