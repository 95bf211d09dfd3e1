"""A class hands in, right, wrong and odd: what each is due, and nothing else."""

import contextlib
import csv
import json
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import threading
import time

import classroom
import nbformat
import pytest
from nbformat import v4

from helpers.files import ROOT
from tests.limits import LIMIT
from tools import grade
from tools import notebook as nb
from tools.grade.collect import collect
from tools.judge import process
from tools.lesson import Exercise, Lesson

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs fork and limits")


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """The class, graded once: what was due, the rows, and the table."""
    folder = tmp_path_factory.mktemp("class") / "handed in"
    folder.mkdir()
    due = classroom.write(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grade, "PATIENCE", 5)  # one answer waits, tests run beside
        patch.setattr(process, "DISK", 10**8)
        rows = list(grade.grade(folder, [classroom.OTHER, classroom.LESSON], seconds=8,
                                jobs=2))
    grade.write_table(folder.with_name("grades.csv"), rows)
    return due, rows, folder.with_name("grades.csv")


@pytest.mark.slow
def test_every_submission_gets_what_it_is_due(graded):
    due, rows, _ = graded
    got = {name: tuple(row["result"] for row in rows if row["learner"] == name)
           for name in due}
    assert got == due


@pytest.mark.slow
def test_the_words_say_what_was_odd(graded):
    _, rows, _ = graded
    words = {(row["learner"], row["result"]): f"{row['says']} {row['note']}"
             for row in rows if row["exercise"].startswith("Exercise 2")}
    assert "2 cells define it: the last one counts" in words["copied", "solved"]
    assert "after computing for 8 s" in words["endless", "too long"]
    assert "not done after 40 s" in words["waits and is deaf", "too long"]
    assert "not defined: repeats; " in words["without its helper", "not solved"]
    assert words["syntax error", "syntax error"].startswith("line 2: ")
    assert "check_repeated_steps" in words["another check", "tampered"]
    assert "numpy.allclose" in words["another NumPy", "tampered"]
    assert "2 cells define it" in words["two lessons", "not tried"]


@pytest.mark.slow
def test_no_cell_of_the_table_is_a_formula(graded):
    _, rows, path = graded
    with open(path, newline="", encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    assert len(table) == len(rows)
    cells = [cell for row in table for cell in row.values()]
    assert not [cell for cell in cells if cell[:1] in ("=", "+", "-", "@")]


@pytest.mark.slow
def test_solutions_are_solved(tmp_path, monkeypatch):
    """No limit and no missing cell makes right answers of some lessons wrong."""
    # How many claims there are would be found by running each of them once more.
    monkeypatch.setattr(grade, "_of", lambda *of_an_answer: 1)
    lessons = nb.lessons(ROOT)[::8]
    for lesson in lessons:
        path = tmp_path / "ada" / lesson.name
        path.parent.mkdir(exist_ok=True)
        path.write_text(nbformat.writes(classroom.solved(lesson)), "utf-8")
    rows = list(grade.grade(tmp_path, lessons, jobs=2))
    assert len(rows) == sum(len(Lesson(lesson).exercises) for lesson in lessons)
    assert not [row for row in rows if row["result"] != "solved"]


# What may stand in the pipe of a verdict, with no process behind it.
SAID = [b"", b"\n", b"{}\n", b"[]\n", b"3\n", b"NaN\n", b"\0\0\xff\xff",
        b"[" * 60_000 + b"\n",
        b'{"result": "solved"}\n', b'{"result": 3, "says": ""}\n', b"\x80\x04.\n",
        b'{"result": "solved", "says": ["x"]}\n', b'{"result": [], "says": ""}\n',
        b'{"result": "A+", "says": ""}\n', b'{"result": "solved", "says": "x"} {}\n',
        b"x" * 100_000, b'"' + b"9" * 60_000 + b'"\n', b"\xff\xfe\n",
        b"9" * 9_000 + b"\n"]


class Ended:
    """A process that has ended."""

    exitcode = 0

    def join(self, seconds):
        """It has."""


@pytest.mark.parametrize("said", SAID, ids=range(len(SAID)))
@pytest.mark.parametrize("closed", [True, False])
def test_whatever_stands_in_the_pipe_there_is_a_row(said, closed, tmp_path):
    """Its end may be closed, or never be."""
    way, end = multiprocessing.Pipe(duplex=False)
    writer = threading.Thread(target=_write_all, args=(end.fileno(), said))
    writer.start()
    if closed and len(said) < 1 << 16:
        writer.join()
        end.close()
    clock = {"clock": 1.0, "seconds": 1.0}
    found = process._follow(Ended(), way, tmp_path, time.monotonic() + 1.0, clock)
    way.close()  # then the writer ends, too
    writer.join()
    assert found.keys() == {"result", "says"} and len(found["says"]) <= 1000
    assert found["result"] in ("tampered", "too long", "ended itself")


def _write_all(number, said):
    with contextlib.suppress(OSError):
        while said:
            said = said[os.write(number, said):]


def test_what_was_graded_until_it_is_stopped_is_in_the_table(tmp_path):
    row = dict.fromkeys(grade.COLUMNS, "x")
    for stop in (KeyboardInterrupt, SystemExit):
        def rows(stop=stop):
            yield {**row, "result": "solved"}
            yield {**row, "result": "error"}
            raise stop

        with pytest.raises(stop):
            grade.write_table(tmp_path / "grades.csv", rows())
        with open(tmp_path / "grades.csv", newline="", encoding="utf-8") as file:
            assert [one["result"] for one in csv.DictReader(file)] == [
                "solved", "error"]


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_whatever_ends_it_ends_its_answers_too(number, tmp_path):
    """And leaves the table of those that were done. TensorFlow says nothing."""
    told = tmp_path / "its number"
    source = (f"import os, pathlib, time\n{classroom.HOST}"
              f"    pathlib.Path({str(told)!r}).write_text(str(os.getpid()))\n"
              "    os.fork()\n    time.sleep(600)")
    handed_in(tmp_path / "in" / "ada.ipynb", source)
    with open(tmp_path / "said", "w") as said:
        process = subprocess.Popen(
            [sys.executable, "-m", "tools.grade", str(tmp_path / "in"), "09a", "--yes"],
            cwd=ROOT, stdout=subprocess.DEVNULL, stderr=said)
    while not told.exists() or not told.read_text():
        assert process.poll() is None
        time.sleep(0.1)
    process.send_signal(number)
    assert process.wait(LIMIT) != 0
    group = int(told.read_text())
    for _ in range(200):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(group, 0)
            time.sleep(0.1)
            continue
        break
    else:
        raise AssertionError("the answer still runs")
    assert (tmp_path / "in-grades.csv").read_text().startswith("learner,")
    assert not re.search(r"absl|[IWE]\d{4} ", (tmp_path / "said").read_text())


def exercise(name="f", number=1):
    return Exercise("06a_vgg", f"Exercise {number}: {name}", name, "check")


def handed_in(path, *sources):
    cells = [v4.new_code_cell(source) for source in sources]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(nbformat.writes(v4.new_notebook(cells=cells)), "utf-8")


@pytest.mark.parametrize("source, found", [
    ("def f(x):\n    pass", True), ("class f:\n    pass", True),
    ("f = lambda x: x", True), ("@d\ndef f(): pass", True), ("def f(", True),
    ("    def f(): pass", False), ("f == 3", False), ("def ff(): pass", False),
])
def test_a_cell_is_found_by_the_name_that_it_defines(source, found, tmp_path):
    handed_in(tmp_path / "ada" / "any name.ipynb", "import os", source, "def g(): 1")
    answers = collect(tmp_path, [exercise(), exercise("g", 2)])
    assert [a.source for a in answers] == [source if found else "", "def g(): 1"]
    assert [a.result for a in answers] == ["" if found else "missing", ""]


def test_a_file_or_a_folder_is_a_learner_and_links_are_none(tmp_path):
    folder = tmp_path / "in"
    handed_in(folder / "ada.ipynb", "def f(): 1")
    handed_in(folder / "bob" / "deep" / "x.ipynb", "def f(): 2")
    handed_in(folder / "bob" / ".ipynb_checkpoints" / "x.ipynb", "def f(): 3")
    handed_in(tmp_path / "secret.ipynb", "def f(): 4")
    (folder / "eve").mkdir()
    (folder / "eve" / "x.ipynb").symlink_to(tmp_path / "secret.ipynb")
    got = {a.learner: (a.source, a.result) for a in collect(folder, [exercise()])}
    assert got == {"ada": ("def f(): 1", ""), "bob": ("def f(): 2", ""),
                   "eve": ("", "no exercise found")}


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe", b"{}",
                                     b'{"cells": 3, "nbformat": 4}', b"[" * 10**5])
def test_what_is_no_notebook_is_a_word_and_the_rest_goes_on(content, tmp_path):
    (tmp_path / "ada.ipynb").write_bytes(content)
    handed_in(tmp_path / "bob.ipynb", "def f(): 1")
    ada, bob = collect(tmp_path, [exercise()])
    assert ada.result in ("not a notebook", "no exercise found") and not ada.source
    assert "\n" not in ada.note
    assert bob.source == "def f(): 1"


def test_odd_cells_are_left_out_and_the_others_count(tmp_path):
    odd = [{}, 3, None, {"cell_type": "code", "source": ["def f():\n", "    1"],
                         "metadata": {"tags": 5}},
           {"cell_type": "code", "source": {"a": 1}, "metadata": [1]},
           {"cell_type": "code", "source": "def other(): 1",
            "metadata": {"tags": [[], 1]}}]
    (tmp_path / "ada.ipynb").write_text(json.dumps({"cells": odd}))
    f, g = collect(tmp_path, [exercise(), exercise("g", 2)])
    assert f.source == "def f():\n    1" and g.result == "missing"


def test_what_is_not_there_is_said_with_what_is(tmp_path):
    """A teacher sees why there are no points, and where to look."""
    handed_in(tmp_path / "ada" / "a.ipynb", "def f(): 1", "def g_2(): 1")
    handed_in(tmp_path / "bob" / "b.ipynb", "1")
    (tmp_path / "eve").mkdir()
    (tmp_path / "eve" / "answer.docx").write_bytes(b"PK")
    answers = {(a.learner, a.exercise.name): a for a in collect(
        tmp_path, [exercise(), exercise("g", 2)])}
    seen = {key: (a.result, a.note, a.file) for key, a in answers.items()
            if not a.source}
    assert seen == {
        ("ada", "g"): ("missing", "no cell defines g: deleted, or renamed?", "a.ipynb"),
        ("bob", ""): ("no exercise found", "none of its cells defines what an exercise "
                      "asks for", "b.ipynb"),
        ("eve", ""): ("no exercise found", "there is no notebook (.ipynb): ask for the "
                      "one that was handed out", "")}


def test_a_table_that_cannot_be_written_is_found_before_an_answer_runs(
        tmp_path, capsys, monkeypatch):
    handed_in(tmp_path / "in" / "ada.ipynb", "def receptive_field(layers): 1")
    (tmp_path / "a file").write_text("")
    monkeypatch.setattr(grade, "grade", lambda *a, **k: pytest.fail("it ran"))
    with pytest.raises(SystemExit):
        grade.main([str(tmp_path / "in"), "--yes", "--table",
                    str(tmp_path / "a file" / "grades.csv")])
    assert str(tmp_path / "a file") in capsys.readouterr().err


@pytest.mark.parametrize("arguments, words", [
    ([], "the following arguments are required"), (["{in}/none"], "is no folder"),
    (["{in}", "--table", "{in}/grades.csv"], "lies inside"),
    (["{in}", "99"], "there is no lesson 99"),
])
def test_what_is_asked_wrongly_runs_nothing(arguments, words, tmp_path, capsys):
    arguments = [part.replace("{in}", str(tmp_path)) for part in arguments]
    with pytest.raises(SystemExit):
        grade.main(arguments)
    assert words in capsys.readouterr().err


def test_it_warns_offers_the_container_and_asks(tmp_path, capsys, monkeypatch):
    handed_in(tmp_path / "in" / "ada.ipynb", "def receptive_field(layers): 1")
    monkeypatch.setattr("builtins.input", lambda question: "")
    with pytest.raises(SystemExit):
        grade.main([str(tmp_path / "in")])
    shown = capsys.readouterr()
    assert "This runs what was handed in" in shown.out and "docker run" in shown.out
    assert "nothing was run" in shown.err
    assert not (tmp_path / "in-grades.csv").exists()


ROW = {"learner": "ada", "key": "09a f", "exercise": "Exercise 1: f", "lesson": "09a_x",
       "result": "solved", "passed": "2 of 2", "says": "", "note": "", "claim": "",
       "file": "a.ipynb, 2026-01-02 03:04", "seconds": 0.1}
ROWS = [ROW, {**ROW, "learner": "=bob", "result": "not solved", "passed": "1 of 2",
              "claim": "halves", "says": "halves: due 1, yours <b>"},
        {**ROW, "learner": "=bob", "key": "09a g", "passed": "3 of 3"}]


def test_the_page_says_who_failed_what_and_which_file(tmp_path):
    grade.page.write_page(tmp_path / "x.html", ROWS, "class")
    text = (tmp_path / "x.html").read_text("utf-8")
    assert "✗ not solved 1 of 2" in text and "✓ solved 2 of 2" in text
    assert "– not handed in" in text  # ada has no g
    assert "<b>09a f: halves</b>, 1 of 2 who handed it in. halves: due 1" in text
    assert "yours &lt;b&gt;" in text and "a.ipynb, 2026-01-02 03:04" in text
    assert text.count('<section class="learner"') == 2
    assert "http" not in text and "<script" not in text


ODD_NAMES = ["=1+1", "\udce9 of another system", "two\nlines", "a,b;\"c\"", "\x1b[31m",
             "<b>bold</b>", "Zoë 王", "  ", "@x"]


def test_a_name_of_any_kind_gets_its_line_in_both_tables_and_its_part(tmp_path):
    """A folder's name is anything: a fault of one would cost all their tables."""
    rows = [{**ROW, "learner": name} for name in ODD_NAMES]
    grade.write_table(tmp_path / "long.csv", rows)
    grade.page.write_wide(tmp_path / "wide.csv", rows, {"09a f": 1.0})
    grade.page.write_page(tmp_path / "x.html", rows, "class")
    names = {}
    for table in ("long", "wide"):
        with open(tmp_path / f"{table}.csv", newline="", encoding="utf-8") as file:
            names[table] = sorted(line[0] for line in list(csv.reader(file))[1:])
    assert names["long"] == names["wide"] == sorted(map(grade.page.plain, ODD_NAMES))
    assert not any(re.search(r"^[=+@-]|[\x00-\x1f]", name) for name in names["wide"])
    text = (tmp_path / "x.html").read_text("utf-8")
    assert text.count('<section class="learner"') == len(ODD_NAMES)
    assert "<b>bold" not in text


def test_the_wide_table_has_a_line_per_learner_and_the_points_of_a_file(tmp_path):
    said = tmp_path / "points.csv"
    said.write_text("09a f,3\n")
    points = grade.page.read_points(said, {"09a f", "09a g"})
    grade.page.write_wide(tmp_path / "wide.csv", ROWS, points)
    with open(tmp_path / "wide.csv", newline="", encoding="utf-8") as file:
        assert list(csv.reader(file)) == [
            ["learner", "09a f", "09a g", "sum"], ["'=bob", "0", "1", "1"],
            ["ada", "3", "", "3"]]
    said.write_text("09a f,3\nnobody,1\n")
    with pytest.raises(grade.DataError, match="line 2: no exercise 'nobody'"):
        grade.page.read_points(said, {"09a f"})


@pytest.mark.parametrize("name, remedy", [("a.zip", "unpack it"), ("a.py", "notebook")])
def test_an_archive_and_a_program_are_named_with_the_remedy(name, remedy, tmp_path):
    (tmp_path / "ada").mkdir()
    (tmp_path / "ada" / name).write_bytes(b"def f(): 1")
    [answer] = collect(tmp_path, [exercise()])
    assert answer.result == "not a notebook" and remedy in answer.note
    assert answer.file.startswith(name)
