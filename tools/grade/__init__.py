"""Runs the exercises that a class handed in through the checks of the course.

    python3 course.py grade FOLDER       # of every lesson
    python3 course.py grade FOLDER 03    # of one

FOLDER holds a folder or a notebook per learner. Of each notebook only the cells of
exercises are taken, found by the name that they define, with those definitions above
them that they build on, and put into the pristine lesson. Each answer runs in a
process of its own, with limits of time, memory and disk, in a folder of its own. A
table (CSV) says what came out, a second one has a line per learner with the points of
each exercise, for an LMS, and one page (HTML) shows both, what failed most, and a part
for each learner, to print. The first answers take longer: TensorFlow starts.
"""

import argparse
import contextlib
import csv
import multiprocessing
import os
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tqdm import tqdm

from helpers.errors import DataError
from helpers.files import whole_file
from tools import exercises as ex
from tools import notebook as nb
from tools.grade import page
from tools.grade.collect import Answer, collect
from tools.judge import process
from tools.lesson import Exercise, Lesson

SECONDS, GIGABYTES, JOBS = 60.0, 2.0, 2
PATIENCE = 2  # times its seconds by the clock: an answer waits, or others compute
COLUMNS = ("learner", "lesson", "exercise", "result", "passed", "says", "note", "file",
           "seconds")
WARNING = """\
This runs what was handed in, as you. Each answer has its own process and folder, and
limits of time, memory and disk; it may read what you may, and call whom it likes.
What it starts ends with it, but for what takes a session of its own (a daemon).
A container keeps more from it, and ends that, too:

  docker build -t tensorflow-course .
  install -d -m 777 "{place}"
  docker run --rm --network none --memory 8g --pids-limit 512 \\
    -v "{submissions}":/handed-in:ro -v "{place}":/report tensorflow-course \\
    python3 course.py grade /handed-in --table /report/{name} --yes
"""


def grade(folder: Path, lessons: list[Path], *, seconds: float = SECONDS,
          gigabytes: float = GIGABYTES, jobs: int = JOBS) -> Iterator[dict]:
    """Yields a row per learner and exercise, as soon as it is there.

    Args:
      folder: a folder or a notebook per learner.
      lessons: those that count.
      seconds: that one answer may compute, all its threads together; by the clock,
        `PATIENCE` times as long.
      gigabytes: that one answer may take.
      jobs: how many run at a time.
    """
    read = [Lesson(path) for path in lessons]
    wanted = [exercise for lesson in read for exercise in lesson.exercises]
    answers = collect(folder, wanted)
    pristine = {lesson.path.stem: {"setup": list(lesson.exercises[0].before),
                                   "taught": ex.taught(lesson)} for lesson in read}
    limits = {"seconds": seconds, "clock": PATIENCE * seconds,
              "memory": int(gigabytes * 1e9)}

    totals: dict[str, int] = {}

    def judged(answer: Answer) -> dict:
        if not answer.source:
            return _row(answer, {})
        exercise = answer.exercise
        task = {"module": exercise.module, "check": exercise.check,
                "name": exercise.name, "source": answer.source,
                "own": ex.needed(list(answer.own), answer.source)}
        task |= pristine[exercise.lesson] | limits
        verdict = process.judge(task)
        if verdict["result"] in ("solved", "not solved"):
            verdict["passed"] = f"{verdict['held']} of {_of(exercise, task, totals)}"
        return _row(answer, verdict)

    process.prepare({exercise.module for exercise in wanted})
    pool = ThreadPoolExecutor(jobs)
    try:
        yield from tqdm(pool.map(judged, answers), total=len(answers), unit="answer")
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for child in multiprocessing.active_children():
            process.end_group(child)  # now: one of it may hold its pipe open


def _of(exercise: Exercise, task: dict, totals: dict[str, int]) -> int:
    """Returns how many claims the lesson's own answer holds, found out once."""
    if exercise.key not in totals:
        verdict = process.judge({**task, "source": exercise.answer, "own": []})
        totals[exercise.key] = verdict.get("held", 0)
    return totals[exercise.key]


def _row(answer: Answer, verdict: dict) -> dict:
    exercise = answer.exercise
    return {"result": answer.result, "says": "", "seconds": 0.0, "passed": "",
            "claim": "", **verdict, "learner": answer.learner,
            "lesson": exercise.lesson, "exercise": exercise.title, "note": answer.note,
            "file": answer.file, "key": exercise.key if exercise.name else ""}


def write_table(path: Path, rows: Iterable[dict], kept: list[dict] | None = None
                ) -> Counter[str]:
    """Writes the CSV row by row; a cell that a spreadsheet would run is text.

    Where it is stopped, what was graded until then is in the table.

    Args:
      path: of the table.
      rows: one at a time.
      kept: takes them all.

    Returns:
      How often there was each result.
    """
    results, stopped = Counter(), None
    with whole_file(path) as temporary, \
            open(temporary, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        try:
            for row in rows:
                writer.writerow({name: page.plain(row[name]) for name in COLUMNS})
                file.flush()
                results[row["result"]] += 1
                if kept is not None:
                    kept.append(row)
        except (KeyboardInterrupt, SystemExit) as error:
            stopped = error
    if stopped:
        raise stopped
    return results


def main(arguments: list[str]) -> int:
    sys.stdout.reconfigure(errors="backslashreplace")  # names of files are anything
    parser = _parser()
    options, lessons = nb.chosen(parser, arguments)
    folder = options.folder.resolve()
    table = (options.table or folder.with_name(folder.name + "-grades.csv")).resolve()
    if os.name == "nt":
        parser.error("it needs Linux or macOS: run it in a container")
    if not folder.is_dir():
        parser.error(f"{folder} is no folder")
    if table.is_relative_to(folder):
        parser.error(f"{table} lies inside {folder}: learners would read it")
    kept: list[dict] = []
    try:
        points = page.read_points(options.points, {
            exercise.key for path in lessons for exercise in Lesson(path).exercises})
        _ask(folder, table, options.yes)
        table.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=table.parent):
            pass  # found now, and not after the answers ran
        for number in (signal.SIGTERM, signal.SIGHUP):  # end what runs, then
            signal.signal(number, lambda number, _: sys.exit(128 + number))
        with contextlib.closing(grade(
                folder, lessons, seconds=options.seconds,
                gigabytes=options.gigabytes, jobs=options.jobs)) as rows:
            results = write_table(table, rows, kept)
        page.write_page(table.with_suffix(".html"), kept, folder.name)
        page.write_wide(table.with_name(f"{table.stem}-points.csv"), kept, points)
    except (OSError, ValueError, DataError) as error:
        parser.error(str(error))
    for result, count in results.most_common():
        print(f"{count:5d} {result}")
    print(table, table.with_suffix(".html"),
          table.with_name(f"{table.stem}-points.csv"), sep="\n")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = nb.parser("grade", __doc__)
    parser.add_argument("folder", type=Path, help="a folder or notebook per learner")
    parser.add_argument("--table", type=Path, help="default: FOLDER-grades.csv")
    parser.add_argument("--points", type=Path,
                        help="CSV, such as: 09a repeated_steps,3; default 1 each")
    parser.add_argument("--seconds", type=float, default=SECONDS,
                        help="of computing, per answer")
    parser.add_argument("--gigabytes", type=float, default=GIGABYTES, help="per answer")
    parser.add_argument("--jobs", type=int, default=JOBS, help="at a time")
    parser.add_argument("--yes", action="store_true", help="do not ask before it runs")
    return parser


def _ask(folder: Path, table: Path, yes: bool) -> None:
    """Says what will run; without a terminal, or a yes, nothing does."""
    print(WARNING.format(submissions=folder, place=table.parent, name=table.name))
    answer = "yes" if yes else ""
    with contextlib.suppress(EOFError):  # no terminal
        answer = answer or input("Run it here? [y/N] ").strip().lower()
    if answer not in ("y", "yes"):
        raise ValueError("nothing was run; --yes runs it without asking")
