"""The towers' benchmark in small: it runs, tells the truth, and skips by one line."""

import json
import math
import subprocess
import sys

import pytest

from benchmarks import towers as benchmark
from helpers.files import ROOT

GIGA = 10**9


@pytest.mark.slow
@pytest.mark.timeout(240)
@pytest.mark.skipif(sys.platform == "win32", reason="peak memory is read from POSIX")
def test_all_contestants_run_and_start_from_chance(capsys):
    results = benchmark.main(["--quick"])
    printed = capsys.readouterr().out
    assert [r.name for r in results] == list(benchmark.CONTESTANTS), printed
    for result in results:
        assert result.pictures_per_second > 0
        assert 0.3 * GIGA < result.peak_bytes < 8 * GIGA
        assert len(result.losses) == 2
        assert abs(result.losses[0] - math.log(5)) < 3
    assert 0 < results[0].convolution_share < 1
    for name in benchmark.CONTESTANTS:
        assert any(line.startswith(name) for line in printed.splitlines())


def test_skips_what_does_not_fit(capsys, monkeypatch):
    monkeypatch.setattr(benchmark, "available_bytes", lambda: 10**8)
    assert benchmark.main([]) == []
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines[1:]] == list(benchmark.CONTESTANTS)
    assert all("skipped, it needs about" in line for line in lines[1:])


def test_memory_estimates_are_in_the_order_of_the_copies():
    full = [
        benchmark.needed_bytes(name, 224, 1000, 20, 4) for name in benchmark.CONTESTANTS
    ]
    assert full == sorted(full)
    assert full[2] > 2 * full[0]


def test_verdicts_follow_the_targets():
    ours = benchmark.Result("towers", 1.5, 6 * GIGA, 20.0, 2.0, [], 0.8)
    stack = benchmark.Result("stack", 1.4, 8 * GIGA, 20.0, 2.0, [])
    mirrored = benchmark.Result("mirrored", 1.0, 11 * GIGA, 20.0, 2.0, [])
    speed, bound, half, of_stack = benchmark.verdicts([ours, stack, mirrored])
    assert speed.endswith("1.50, reached")
    assert bound == "  1.88 if all but our convolutions took no time"
    assert half.endswith("0.55, NOT REACHED")
    assert of_stack.endswith("0.75, reached")
    assert "1.50x" in benchmark.table([ours, stack, mirrored]).splitlines()[3]


def test_a_contestant_that_fails_is_an_error_with_its_last_words(monkeypatch):
    options = benchmark.argparse.Namespace(
        image_size=8, classes=2, batch=2, towers=2, steps=1
    )
    real = subprocess.run

    def run(command, **rest):
        assert json.loads(command[-1])["name"] == "towers"
        return real([sys.executable, "-c", "raise SystemExit('no luck')"], **rest)

    monkeypatch.setattr(benchmark.subprocess, "run", run)
    with pytest.raises(RuntimeError, match="towers failed with status 1: no luck"):
        benchmark.run_contestant("towers", options)
    assert benchmark.HERE == ROOT / "benchmarks"
