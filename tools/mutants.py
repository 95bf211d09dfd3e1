"""Measures the checks: changes each solution by rules; its check must refuse it.

    python3 course.py test checks           # every exercise
    python3 course.py test checks 03a 05    # of some lessons
    python3 course.py test checks --sample 3    # so many mutants of each exercise

Operators change a number, an argument, a comparison, a statement. Specialisers make the
answer right for one case only: a parameter or a length keeps the value that it first
had, inputs are cut, made unique or rounded, a loop takes its first or last item alone,
a gradient is stopped. A mutant that does the same as the solution stands in
`tests/mutants_equal.toml` with the reason.
"""

import argparse
import contextlib
import importlib
import io
import multiprocessing
import os
import random
import re
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import nbformat
from tqdm import tqdm

from helpers.files import ROOT
from tools import exercises as ex
from tools import notebook as nb
from tools import stubs
from tools.mutation import IMPORT, Mutant, mutants

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

EQUAL = ROOT / "tests" / "mutants_equal.toml"
# A mutant may wait for ever: one that takes so much longer than the solution does.
LEAST_SECONDS, TIMES, MOST_SECONDS, SAMPLE_SECONDS = 10, 3, 300, 40
# Imported once, in a server from which every process that judges is forked.
PRELOADED = ["helpers.lesson", "helpers.checks.report", "tools.special"]
REFUSED, ACCEPTED, BROKEN, ENDLESS = "refused", "accepted", "broken check", "endless"
CALLS_A_CHECK = re.compile(r"\bcheck_\w+\(")
NONE = "no mutant"  # it cannot change anything that the check gives it, by its type


class Task(NamedTuple):
    """One exercise: what runs before the answer, the answer, and its check.

    Attributes:
      exercise: title, name and check.
      number: of its lesson, such as `03a`.
      before: sources that the answer builds on.
      answer: the solution's source.
    """

    exercise: ex.Exercise
    number: str
    before: list[str]
    answer: str

    @property
    def key(self) -> str:
        """What the exercise is called in the list of equal mutants."""
        return f"{self.number} {self.exercise.name}"


class Score(NamedTuple):
    """How the mutants of one exercise fared.

    Attributes:
      task: the exercise.
      fates: of each mutant that is not listed as equal.
      equal: the mutants listed as equal.
      seconds: all of them took.
    """

    task: Task
    fates: dict[Mutant, str]
    equal: list[Mutant]
    seconds: float

    def count(self, special: bool) -> tuple[int, int]:
        """Returns how many of how many were refused, of one of the two kinds."""
        fates = [fate for m, fate in self.fates.items() if m.special == special]
        return sum(fate != ACCEPTED for fate in fates), len(fates)


def tasks(lesson: Path) -> list[Task]:
    """Returns the exercises of a lesson with their solutions."""
    cells = nbformat.read(nb.solution(lesson), as_version=4).cells
    found, before = [], []
    waiting = iter(ex.exercises(lesson))
    for cell in cells:
        if cell.cell_type != "code" or CALLS_A_CHECK.search(cell.source):
            continue
        if "exercise" in cell.metadata.get("tags", []):
            answer = cell.source.replace(stubs.BEGIN, "").replace(stubs.END, "")
            found.append(Task(next(waiting), nb.number(lesson), list(before), answer))
        before.append(cell.source)
    return found


def judge(connection, task: Task) -> None:
    """Answers sources that come over a connection with what the check makes of each."""
    module = importlib.import_module(f"helpers.checks.lesson_{task.number}")
    check = getattr(module, task.exercise.check)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        place = {"__name__": "answer"}
        with contextlib.redirect_stdout(io.StringIO()):
            for text in task.before:
                exec(text, place)
        connection.send("ready")
        while True:
            try:
                source = connection.recv()
            except EOFError:
                return
            with contextlib.redirect_stdout(io.StringIO()):
                fate = _fate(check, task.exercise.name, source, dict(place))
            connection.send(fate)


def _fate(check, name: str, source: str, place: dict) -> str:
    from tools import special  # not above: TensorFlow is for those that judge

    special.forget()
    try:
        exec(source, place)
        report = check(place[name])
    except Exception:  # the answer, not its check, could not even be defined
        return REFUSED
    if report and IMPORT in source and not special.applied:
        return NONE
    return ACCEPTED if report else BROKEN if report.broken else REFUSED


class Judge:
    """A process that judges answers to one exercise, made anew when one hangs."""

    def __init__(self, task: Task):
        self.task = task
        self.process = None

    def fate(self, source: str, seconds: float) -> str:
        """Returns what the check makes of a source."""
        if self.process is None:
            self.start()
        self.connection.send(source)
        try:
            if self.connection.poll(seconds):
                return self.connection.recv()
        except EOFError:  # the answer ended the process
            pass
        self.close()
        return ENDLESS

    def start(self):
        """Starts the process, which runs all that comes before an answer."""
        way = multiprocessing.get_context("spawn")
        if "forkserver" in multiprocessing.get_all_start_methods():
            way = multiprocessing.get_context("forkserver")
            way.set_forkserver_preload(PRELOADED)
        self.connection, theirs = way.Pipe()
        self.process = way.Process(target=judge, args=(theirs, self.task))
        self.process.start()
        theirs.close()
        if not self.connection.poll(MOST_SECONDS) or self.connection.recv() != "ready":
            raise ValueError(f"{self.task.key}: what comes before it does not end")

    def close(self):
        """Ends the process."""
        if self.process is not None:
            self.process.kill()
            self.process.join()
            self.process = None


def score(task: Task, equal: dict[str, str], sample: int, bar: tqdm) -> Score:
    """Judges the mutants of one exercise.

    Args:
      task: the exercise.
      equal: reasons, by the names of mutants that do the same as the solution.
      sample: how many mutants, drawn by a seed; all if 0. A sample takes on trust
        that the solution itself is accepted.
      bar: advanced by one per mutant.

    Raises:
      ValueError: the check refuses the solution, or a listed mutant is none.
    """
    found = mutants(task.answer)
    if unknown := equal.keys() - {mutant.name for mutant in found}:
        raise ValueError(f"{EQUAL.name}: {task.key} has no mutant {min(unknown)!r}")
    same = [mutant for mutant in found if mutant.name in equal]
    others = [mutant for mutant in found if mutant.name not in equal]
    if sample:
        others = random.Random(task.key).sample(others, min(sample, len(others)))
    start, judge_of = time.monotonic(), Judge(task)
    try:
        judge_of.start()
        once, limit, fates = time.monotonic(), SAMPLE_SECONDS, {}
        if not sample:
            if (fate := judge_of.fate(task.answer, MOST_SECONDS)) != ACCEPTED:
                raise ValueError(f"{task.key}: the solution itself: {fate}")
            limit = max(LEAST_SECONDS, TIMES * (time.monotonic() - once))
        for mutant in others:
            if (fate := judge_of.fate(mutant.source, limit)) != NONE:
                fates[mutant] = fate
            bar.update()
    finally:
        judge_of.close()
    return Score(task, fates, same, time.monotonic() - start)


def row(one: Score) -> str:
    """Returns how many of how many were refused, and which were not."""
    shown = ["{} of {}".format(*one.count(special)) for special in (False, True)]
    lines = [f"{one.task.key:34s} {shown[0]:>11s} {shown[1]:>13s} "
             f"{len(one.equal):6d} {one.seconds:5.0f}"]
    lines += [f"    {fate}: {mutant.name}" for mutant, fate in one.fates.items()
              if fate != REFUSED]
    return "\n".join(lines)


def total(scores: list[Score]) -> str:
    """Returns how many of all were refused, of each kind and together."""
    kinds = [[one.count(special) for one in scores] for special in (False, True)]
    refused, made = ([sum(pair[k] for pair in counts) for counts in kinds]
                     for k in (0, 1))
    shown = ["{} of {}".format(*pair) for pair in zip(refused, made, strict=True)]
    share = 100 * sum(refused) / max(1, sum(made))
    return (f"{'together':34s} {shown[0]:>11s} {shown[1]:>13s} "
            f"{sum(len(one.equal) for one in scores):6d}\n"
            f"refused: {sum(refused)} of {sum(made)} ({share:.1f} %)")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="course.py test checks", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("numbers", nargs="*", metavar="NN", help="lessons; default all")
    parser.add_argument("--sample", type=int, default=0, help="mutants per exercise")
    options = parser.parse_args(arguments)
    try:
        every = [task for path in nb.lessons(ROOT, options.numbers)
                 for task in tasks(path)]
        equal = tomllib.loads(EQUAL.read_text("utf-8"))
    except ValueError as error:
        parser.error(str(error))
    scores, failed = [], False
    print(f"{'exercise':34s} {'operators':>11s} {'specialisers':>13s} "
          f"{'equal':>6s} {'s':>5s}")
    with tqdm(unit="mutant", dynamic_ncols=True) as bar:
        for task in every:
            bar.set_postfix_str(task.key)
            try:
                scores.append(score(task, equal.get(task.key, {}), options.sample, bar))
                bar.write(row(scores[-1]))
            except ValueError as error:
                bar.write(str(error))
                failed = True
    print(total(scores))
    passed = [fate for one in scores for fate in one.fates.values() if fate == ACCEPTED]
    return int(failed or bool(passed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
