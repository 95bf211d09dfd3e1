"""`course.py bench`: each name runs in small, an unknown one is refused by name."""

import pytest

from benchmarks import __main__ as bench
from benchmarks import film, guards

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]


def test_guards_run_in_small(capsys):
    guards.main(["--quick"])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4
    assert all("unchecked" in line for line in lines[1:3])


def test_film_runs_in_small(capsys):
    film.main(["--quick"])
    [line] = capsys.readouterr().out.splitlines()
    assert "filmed" in line and "aim: under 5" in line


def test_an_unknown_benchmark_is_named(capsys):
    with pytest.raises(SystemExit):
        bench.main(["dance"])
    assert "there is no benchmark dance; there are towers" in capsys.readouterr().err


def test_names_are_run_in_turn(capsys, monkeypatch):
    calls = []
    for name in bench.NAMES:
        module = __import__(f"benchmarks.{name}", fromlist=["main"])
        monkeypatch.setattr(module, "main", lambda a, n=name: calls.append((n, a)))
    assert bench.main(["--quick"]) == 0
    assert calls == [(name, ["--quick"]) for name in bench.NAMES]
