"""Each rule of `port` has a page, and each page is a test of its rule."""

import importlib.util
import pkgutil
import re

import pytest
from ported import copies, ported, written

from helpers.files import ROOT
from tf1tools.port import command as port
from tf1tools.port import rule, rulebook
from tf1tools.port.names import fates, today
from tf1tools.port.outcome import report, write
from tf1tools.port.outcome.work import Work, work
from tf1tools.port.rule import Example, Note, Rule
from tf1tools.port.text.edits import Edit, applied
from tools import book

BOOK = rulebook.load()


def failures(rule: Rule, folder) -> list[str]:
    """Returns what is wrong with the examples of a rule, and what a page lacks."""
    wrong = [f"no {fact}:" for fact in ("Since", "Lesson", "Side")
             if fact not in rule.facts]
    if not rule.examples:
        wrong.append("no example")
    return wrong + [text for number, one in enumerate(rule.examples, 1)
                    for text in _wrong(one, number, folder / str(number))]


def _wrong(example: Example, number: int, folder):
    done, new = ported(example.before, folder)
    if clash := done.clashes():
        yield f"{number}: {[f.rule.name for f in clash[0]]} want one place"
    if example.report:
        yield from _not_reported(example, number, done)
        return
    left = {one.line: one.words for one in done.of(example.kind)}
    for line in left.keys() | example.left.keys():
        if not left.get(line, "").count(example.left.get(line, "?")):
            yield (f"{number}: line {line} is left with {left.get(line)!r}, not "
                   f"{example.left.get(line)!r}")
    for name, text in example.after.items():
        if not (new / name).exists():
            yield f"{number}: {name} is not there"
        elif text.strip() and (new / name).read_text() != text:
            yield f"{number}: {name} is\n{(new / name).read_text()}"
    if not example.left:
        yield from (f"{number}: the copy is changed again, {path.name}"
                    for path in changed_again(work(new)))


def _not_reported(example: Example, number: int, done: Work):
    page, = report.pages(done)
    for line, (verdict, words) in example.report.items():
        fates = [fate for use, fate in page.rows if use.line == line]
        if not any(one.verdict == verdict and words in one.instead for one in fates):
            yield f"{number}: line {line} is reported as {fates}"


def changed_again(done: Work) -> list:
    """Returns the files of a copy that another copy would change."""
    return [file.path for file, one in done.outcomes.items()
            if file.path.name not in BESIDE and one.is_changed]


BESIDE = {path.name for path in write.BESIDE.iterdir()}
RAISES = {"scipy.interpolate.interp2d"}  # it is there, and any call of it raises
# Rows of installed libraries: Pillow in the course's environment, and others if they
# are added to it for a moment.
ASKED = [row for row in BOOK["library-moved"].table if not any(
    importlib.util.find_spec(name.partition(".")[0]) is None
    for name in (row.old, row.new or "PIL"))]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("row", ASKED, ids=lambda row: row.old)
def test_a_moved_name_is_gone_and_its_new_home_is_there(row):
    assert not found(row.old) or row.old in RAISES
    assert not row.new or found(row.new)


def found(name: str) -> bool:
    """Returns whether an installed library has a name."""
    try:
        pkgutil.resolve_name(name)
    except (ImportError, AttributeError):
        return False
    return True


@pytest.mark.parametrize("name", sorted(BOOK))
def test_the_examples_of_a_page(name, tmp_path):
    """A rule is named in the report, in what is left, or in the pieces of the patch."""
    assert not failures(BOOK[name], tmp_path)
    examples = BOOK[name].examples
    kinds = {one.kind for one in examples if not one.report}
    said = [_named(tmp_path / str(number)) for number, _ in enumerate(examples, 1)]
    assert name in " ".join(said) or Note in kinds or not kinds


def _named(folder) -> str:
    """Returns the rules that the patch and the report name."""
    text = report.as_text(report.pages(work(folder / "old")))
    patch = (folder / "new" / write.DIFF).read_text()
    return " ".join([*re.findall(r"^@@.*@@(.*)$", patch, re.M),
                     *re.findall(r"\[(.*)\]$", text, re.M)])


@pytest.mark.parametrize("name", sorted(BOOK))
def test_a_page_notices_that_its_rule_is_gone(name, monkeypatch, tmp_path):
    one = BOOK[name]
    for row in one.table:
        monkeypatch.delitem(rule.ROWS, row.old)
    for kind, hooks in rule.HOOKS.items():
        monkeypatch.setitem(rule.HOOKS, kind, [h for h in hooks if h.rule is not one])
    for cache in (today.today, fates.fate):
        cache.cache_clear()
    found = failures(one, tmp_path)
    for cache in (today.today, fates.fate):
        cache.cache_clear()
    assert found or name == "library-gone"  # it has words only


def test_the_pages_are_made_from_the_rules():
    page = ROOT / "legacy" / "docs" / "rules.md"
    assert page.read_text("utf-8") == rulebook.pages(), (
        "run: python -m tf1tools.port.rulebook")


ALONE = {name: [one.before["old.py"] for one in its_rule.examples
                if "old.py" in one.before] for name, its_rule in BOOK.items()}


@pytest.mark.parametrize("name", sorted(filter(ALONE.get, ALONE)))
def test_no_two_rules_want_one_place(name, tmp_path):
    """Each example in one program with each example of every other rule."""
    both = [f"{mine}\n{text}" for mine in ALONE[name]
            for other in ALONE if other >= name for text in ALONE[other]]
    written(tmp_path, {f"program{number}.py": text for number, text in enumerate(both)})
    assert [[one.rule.name for one in pair] for pair in work(tmp_path).clashes()] == []


@pytest.mark.parametrize("hook", ["row", "insertion"])
def test_two_rules_on_one_place_are_a_failure(hook, monkeypatch, tmp_path):
    """The file stays as it is, the line is left, and both rules are named."""
    mine, text = BOOK["np-arguments"], "import numpy as np\nx = np.float(np.ones(1))\n"

    def other(use):
        at = use.part.text.span(use.node)[0]
        yield rule.Change(use.part, at, at + 2 * (hook == "row"), "other")

    def third(use):
        at = use.part.text.span(use.node)[0]
        yield rule.Change(use.part, at, at, "third")

    monkeypatch.setitem(rule.HOOKS, "call", [
        *rule.HOOKS["call"], rule.Hook("numpy.float", mine, other),
        *[rule.Hook("numpy.float", BOOK["axis-first"], third)] * (hook != "row")])
    done, new = copies({"old.py": text}, tmp_path)
    assert done.clashes() and new["old.py"] == text
    words, = {one.words for one in done.of(rule.Left)}
    assert "np-arguments" in words and "change this place" in words


def test_a_name_or_an_argument_in_two_rules_is_an_error():
    for old in ("numpy.float", "numpy.reshape(newshape=)"):
        with pytest.raises(ValueError, match="both register"):
            BOOK["axis-first"].rows({old: "x"})


def test_two_edits_of_one_place_are_refused():
    with pytest.raises(ValueError, match="overlap"):
        applied("abcd", [Edit(0, 3, "x"), Edit(2, 4, "y")])


def test_each_rule_is_explained(capsys):
    for name in BOOK:
        assert port.main(["--explain", name]) == 0
        assert capsys.readouterr().out == rulebook.page(BOOK[name]) + "\n"


def test_the_book_has_the_pages():
    assert "legacy/docs/rules.md" in book.DOCUMENTS
    index = (ROOT / "docs" / "book" / "index.md").read_text("utf-8")
    assert "legacy/docs/rules\n" in index
