"""Runs the exercises that a class handed in through the checks of the course.

    python3 course.py grade FOLDER       # of every lesson
    python3 course.py grade FOLDER 03    # of one

FOLDER holds a folder or a notebook per learner. Of each notebook only the cells of
exercises are taken, found by the name that they define, and put into the pristine
lesson. Each answer runs in a process of its own, with limits of time and memory, in a
folder of its own. A table (CSV) for all and a page for each learner say what came out.
The first answers take longer: TensorFlow starts.
"""

import argparse
import contextlib
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tqdm import tqdm

from helpers.errors import DataError
from helpers.files import ROOT
from tools import exercises as ex
from tools import notebook as nb
from tools.grade.collect import Answer, collect
from tools.grade.pages import write_pages, write_table

SECONDS, GIGABYTES, JOBS = 60.0, 2.0, 2
PATIENCE = 2  # times its seconds by the clock: an answer waits, or others compute
SLACK = 120.0  # seconds that the grader may take beyond an answer's own: imports
WARNING = """\
This runs what was handed in. Each answer has its own process and folder, and limits of
time and memory; {fence}.
A container keeps more from it:

  docker build -t tensorflow-course .
  install -d -m 777 "{report}"
  docker run --rm --network none --memory 8g --pids-limit 512 \\
    -v "{submissions}":/handed-in:ro -v "{report}":/report tensorflow-course \\
    python3 course.py grade /handed-in --report /report --yes
"""


class Grader:
    """A process that judges answers one by one; begun anew when it was ended."""

    def __init__(self):
        self._process = None

    def judge(self, task: dict) -> dict:
        """Returns the verdict on one answer, whatever that does to the grader."""
        try:
            process = self._process = self._process or _start()
        except OSError as error:
            return {"result": "not graded", "says": str(error)}
        timer = threading.Timer(task["clock"] + SLACK, process.terminate)
        timer.start()
        try:
            process.stdin.write(json.dumps(task).encode() + b"\n")
            process.stdin.flush()
            return json.loads(process.stdout.readline())
        except (OSError, ValueError):
            self.end()
            return {"result": "ended itself", "says": "it ended what watched over it"}
        finally:
            timer.cancel()

    def end(self) -> None:
        """Ends the process and what it runs, and waits for it."""
        process, self._process = self._process, None
        if process:
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(SLACK)
            process.kill()
            process.wait()
            process.stdin.close()
            process.stdout.close()


def _start() -> subprocess.Popen:
    environment = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3")
    return subprocess.Popen(
        [sys.executable, "-m", "tools.grade.grader"], cwd=ROOT, env=environment,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


def grade(folder: Path, lessons: list[Path], *, seconds: float = SECONDS,
          gigabytes: float = GIGABYTES, jobs: int = JOBS) -> list[dict]:
    """Returns a row per learner and exercise.

    Args:
      folder: a folder or a notebook per learner.
      lessons: those that count.
      seconds: that one answer may compute; by the clock, `PATIENCE` times as long.
      gigabytes: that one answer may take.
      jobs: how many run at a time.
    """
    wanted = [exercise for lesson in lessons for exercise in ex.exercises(lesson)]
    answers = collect(folder, wanted)
    pristine = {path.stem: {"setup": ex.setup(path), "taught": ex.taught(path)}
                for path in lessons}
    limits = {"seconds": seconds, "clock": PATIENCE * seconds,
              "memory": int(gigabytes * 1e9)}
    graders, free = [Grader() for _ in range(jobs)], queue.SimpleQueue()
    for grader in graders:
        free.put(grader)

    def judged(answer: Answer) -> dict:
        if not answer.source:
            return _row(answer, {})
        grader = free.get()
        try:
            task = _task(answer) | pristine[answer.exercise.lesson] | limits
            return _row(answer, grader.judge(task))
        finally:
            free.put(grader)

    pool = ThreadPoolExecutor(jobs)
    try:
        return list(tqdm(pool.map(judged, answers), total=len(answers), unit="answer"))
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for grader in graders:
            grader.end()


def _task(answer: Answer) -> dict:
    exercise = answer.exercise
    return {"module": f"helpers.checks.lesson_{exercise.lesson.split('_')[0]}",
            "check": exercise.check, "name": exercise.name, "source": answer.source,
            "elsewhere": answer.elsewhere}


def _row(answer: Answer, verdict: dict) -> dict:
    verdict = {"result": answer.result, "says": "", "note": "", "output": "",
               "printed": 0, "seconds": 0.0, **verdict}
    exercise = answer.exercise
    return {**verdict, "learner": answer.learner, "lesson": exercise.lesson,
            "exercise": exercise.title, "source": answer.source, "note": answer.note}


def main(arguments: list[str]) -> int:
    sys.stdout.reconfigure(errors="backslashreplace")  # names of files are anything
    parser = _parser()
    try:
        options, lessons = nb.chosen(parser, arguments)
    except ValueError as error:
        parser.error(str(error))
    folder = options.folder.resolve()
    report = (options.report or folder.with_name(folder.name + "-report")).resolve()
    if os.name == "nt":
        parser.error("it needs Linux or macOS: run it in a container")
    if not folder.is_dir():
        parser.error(f"{folder} is no folder")
    if report.is_relative_to(folder):
        parser.error(f"{report} lies inside {folder}: learners would read it")
    try:
        _ask(folder, report, options.yes)
        report.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=report):
            pass  # found now, and not after the answers ran
        rows = grade(folder, lessons, seconds=options.seconds,
                     gigabytes=options.gigabytes, jobs=options.jobs)
        write_table(report / "grades.csv", rows)
        write_pages(report, rows)
    except (OSError, ValueError, DataError) as error:
        parser.error(str(error))
    for result, count in Counter(row["result"] for row in rows).most_common():
        print(f"{count:5d} {result}")
    print(f"{report / 'grades.csv'} and a page per learner beside it")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="course.py grade", description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path, help="a folder or notebook per learner")
    parser.add_argument("--report", type=Path, help="default: FOLDER with -report")
    parser.add_argument("--seconds", type=float, default=SECONDS,
                        help="of computing, per answer")
    parser.add_argument("--gigabytes", type=float, default=GIGABYTES, help="per answer")
    parser.add_argument("--jobs", type=int, default=JOBS, help="at a time")
    parser.add_argument("--yes", action="store_true", help="do not ask before it runs")
    return parser


def _ask(folder: Path, report: Path, yes: bool) -> None:
    """Says what will run; without a terminal, or a yes, nothing does."""
    from tools.grade import fence  # not on Windows

    kept = "it reads no file of another, makes no TCP connection" \
        if fence.version() >= 4 \
        else "it reads no file of another" if fence.version() \
        else "what it reads and whom it calls is not limited here"
    print(WARNING.format(fence=kept, submissions=folder, report=report))
    answer = "yes" if yes else ""
    with contextlib.suppress(EOFError):  # no terminal
        answer = answer or input("Run it here? [y/N] ").strip().lower()
    if answer not in ("y", "yes"):
        raise ValueError("nothing was run; --yes runs it without asking")
