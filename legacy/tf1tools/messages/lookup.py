"""Finds the explanation of an error message on the page errors.md.

The module needs only the standard library.
"""

import html
import re
from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tf1tools.messages import shapes

PAGE = Path(__file__).with_name("errors.md")
OLD_NAMES = "Names of TensorFlow 1, of old libraries and of Python 2"
FOLLOWS = "What follows from another error"
GENERAL = "What any program of Python says"
NO_MESSAGE = "No message at all"
CUT = "A traceback without its last line"  # used only if a log names no error
UNRAISED = ("What only another version or machine raises", GENERAL, NO_MESSAGE, CUT)
_LAST = (FOLLOWS, GENERAL, NO_MESSAGE)  # used if no other section matches
_DECIDES = {
    CUT: "give the last line of the traceback, which names the error.",
    GENERAL: "give the whole traceback, because this line has many causes.",
    NO_MESSAGE: "give a warning or an error of the program if it prints one, and "
                "otherwise start it with `tf1 watch PROGRAM`."}
_PART = re.compile(r"^(?P<level>##|###) (?P<title>[^\n]+)\n(?P<body>.*?)(?=^##|\Z)",
                   re.M | re.S)
_CODE = re.compile(r"```python\n(.*?)```", re.S)
_LISTED = r"(`[^`]+`(?:;\s`[^`]+`)*)\."
_ALSO = re.compile(rf"\s*Also\s{_LISTED}\n\n")
_PERHAPS = re.compile(rf"\s*Perhaps\s{_LISTED}\sTo decide:\s(.+?)\n\n", re.S)
_CASE = re.compile(  # an item of a list: evidence, and what it means
    r"^- If\s+the\s+(?P<kind>log\s+has|log\s+fits|shapes\s+show)\s+"
    r"(?P<evidence>`[^`]+`(?:,\s+`[^`]+`)*)(?:,\s+as\s+in\s+`(?P<example>[^`]+)`)?:\s+"
    r"(?P<text>.+?)(?=^- If\sthe|\n\n|\Z)", re.M | re.S)
_OP = r"[A-Z]\w*[a-z]\w*"
# Informational messages, except of a waiting cluster and of a full memory.
_NOTICE = re.compile(r"^(?:\S* ?\S*: )?I (?:\w+/|\w:\\)"
                     r"(?!.*(?:still waiting|Started server|Sum Total of in-use)).*\n?",
                     re.M)
# Lines of the level of an error that TensorFlow prints where nothing fails.
_HARMLESS = re.compile(r"^.*OpKernel \('op: .*for unknown op.*\n?", re.M)
# Warnings in a log rarely have anything to do with the error that ends it.
_WARNING = re.compile(
    r"^(?:.*W \w+/\S*(?:dso_loader|cudart|cuda_\w+|gpu_\w+|feature_guard|numa)\S*\].*"
    r"|WARNING:.*|[IW]\d{4} .*"
    r"|.*\b(?:Future|Deprecation|User|Runtime)Warning: .*)\n?", re.M)
_ERROR = re.compile(  # the line of an exception and its continuation lines
    r"^[ >|E]*(?:[\w.]+\.)?[A-Z]\w*(?:Error|Exception)\b(?! +Traceback)"
    r"[^\n]*(?:\n(?!Traceback|During|The above|Caused by|[ >|]*File |-{5})[^\n]*)*",
    re.M)
_FATAL = re.compile(r"^.*\b[EF]\d{0,4} (?:\S+ )*\S+\.cc:\d+\].*", re.M)
_TRACE = re.compile(  # lines of a traceback of Python, IPython or pytest
    r"""['"], line \d+|\bTraceback\b|^\W*-+> ?\d+ |\.pyc?\S* in \w+\(|Caused by op"""
    r"|\.py:\d+:? (?:in )?\w", re.M)
_CHAIN = re.compile(  # the first of such errors is the cause of the others
    r"During handling of the above exception|was the direct cause of the following")
_CODE_LINE = re.compile(  # lines in which a word is a name
    r"""(?m)^\W*(?:File ['"].*(?:\n[ \t>]+.*)?|(?:-+> ?)?\d+ .*|at .*:\d+)$""")
_NAMED = re.compile(r"^[\w.]*[A-Z]\w+: \S", re.M)  # an exception, whatever its name
_OURS = re.compile(r"tensor|keras|\btf\d?\b|tf_|protobuf|session graph|placeholder|"
                   r"feed_dict|\.ckpt|graphdef|savedmodel|/v1/models/", re.I)
_FOREIGN = re.compile(r"\b(?:torch\w*|django|flask|fastapi|jax\w*|mxnet|paddle\w*|"
                      r"sqlalchemy|celery|asyncio|requests|state_dict)\b", re.I)
# Different spellings of one text: colours, quotes, Python 2, old module names.
_SPELT = [(re.compile(was), now) for was, now in (
    (r"\x1b\[[\d;]*m|\^\[\[[\d;]*m", ""), (r"(?m)^[ \t]*(?:> ?)+", ""),
    (r"[`\"\u2018\u2019\u201c\u201d\u00b4]", "'"), (r"\bu(?=')", ""),
    (r"<type '", "<class '"), (r"tensorflow_core\b", "tensorflow"),
    (r"(No module named|cannot import name) (?!')([\w.]+)", r"\1 '\2'"))]
_GAP = r"[\s\S]{0,600}?"  # variable text, limited because a log has many messages
# Prefixes that tools write before each line, and escapes in a quoted text.
_PREFIX = re.compile(
    r"(?m)^(?:[ \t]*(?:"
    r"\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?\]?"
    r"(?!\d|: [IWEF] )"
    r"|\[?\d\d:\d\d:\d\d(?:[.,]\d+)?\]?|[\w.-]+ +\||\[\d+,\d+\]<std\w+>:"
    r"|\[?(?:rank|worker|ps|chief)[ _-]?\d+\]?:|(?:ERROR|CRITICAL|FATAL):[\w.]*:"
    r"|\[?(?:ERROR|CRITICAL|FATAL|stderr)\]?(?: -|:)|E(?=   )|[>*-](?= )|[%#]%?(?= ))"
    r"[ \t]*)+")
_ESCAPES = ((re.compile(r"\\+[nr]"), "\n"), (re.compile(r"\\+t"), " "),
            (re.compile(r"\\+(?=['\"])"), ""))
_TEXTS = re.compile(  # a string literal over two lines of a program
    r"""(?<=[\w,:.] )["'] *\n *(?:\d+ +)?f?["'](?=\w)""")
_DRIVE = re.compile(r"\b[A-Za-z]:\\")  # in Windows paths, \n may begin a folder name
_ENDS = re.compile(r"\.{3,}|\u2026|\n[ \t]*\n|```|\Z")  # where pasted text was cut off
_APOSTROPHE = re.compile(r"(?<=n)'(?=t\b)")
_ENOUGH = 20  # minimum letters of a truncated message
_RUN = 24  # minimum letters of a run of words
_FAR = "\n" + " _" * 400 + "\n"  # longer than any gap
_LONG = 5000  # characters at the end of a log that are searched for words
# Maximum length of an unshortened log, and the lengths kept of a longer one.
_WHOLE, _HEAD, _TAIL = 120_000, 10_000, 40_000
_TELLING = re.compile(r"Error|Exception|Traceback|\b[EF] ?\S+\.cc:", re.I)
_BEFORE, _AFTER, _PLACES = 8, 12, 60  # lines kept around each of at most 60 errors


class Case(NamedTuple):
    """Meaning of a message in a log that has certain evidence.

    Attributes:
      kind: Kind of the evidence: texts in the log ("log has"), regular expressions
        ("log fits"), or relations of `shapes.relations` ("shapes show").
      evidence: Pieces of evidence, of which one is enough.
      example: Part of a log that has the evidence; "" if the evidence is a text.
      text: Cause and fix.
    """

    kind: str
    evidence: tuple[str, ...]
    example: str
    text: str

    def holds(self, log: str, shown: set[str]) -> bool:
        """Returns whether there is evidence in a log, or in the relations of shapes."""
        if self.kind == "shapes show":
            return not shown.isdisjoint(self.evidence)
        if self.kind == "log fits":
            return any(re.search(one, log, re.I) for one in self.evidence)
        return any(re.search(rf"(?<![a-z]){re.escape(_plain(one))}", log, re.I)
                   for one in self.evidence)


class Entry(NamedTuple):
    """Family of error messages on the page, with cause, fix and example code.

    Attributes:
      section: Heading of the section on the page.
      patterns: Wording of TensorFlow 2.21, followed by older wordings and by other
        messages of the family. In a pattern, `…` stands for any text and `⟨Op⟩` for a
        name in CamelCase.
      raises: Code that raises the first message, or "" if no code here can.
      works: Corrected code, or "" if none is shown.
      text: Cause, fix and lesson.
      perhaps: Patterns that have other causes as well.
      decides: Way to decide between these causes.
      cases: Causes that other parts of the log prove. The first that holds is the
        answer, in place of `text`.
    """

    section: str
    patterns: tuple[str, ...]
    raises: str
    works: str
    text: str
    perhaps: tuple[str, ...] = ()
    decides: str = ""
    cases: tuple[Case, ...] = ()

    def fits(self, message: str) -> str:
        """Returns the longest pattern that occurs in a message, or "" if none does."""
        if self.section == NO_MESSAGE:
            message = _CODE_LINE.sub("", message)
        found = (p for p in self.patterns if self._has(p, message))
        return max(found, key=_said, default="")

    def raised(self, errors: str) -> bool:
        """Returns whether errors contain the last fixed words of a pattern."""
        ends = (_essence(p).strip("…").rpartition("…")[2] for p in self.patterns)
        return any(_said(end) > 9 and self._has(end, errors)
                   for end in ends) or bool(self.fits(errors))

    def says(self, words: str) -> str:
        """Returns the pattern whose words occur in a message in order, or ""."""
        found = (p for p in self.patterns if len(_tokens(p)) > 2
                 and all(token in words or token == "…" for token in _tokens(p))
                 and _letters(p) > 9 and _worded(p).search(words))
        return max(found, key=_letters, default="")

    def begins(self, message: str) -> bool:
        """Returns whether a message ends with the first sentence of a pattern."""
        first = (p.partition(". ")[0] for p in self.patterns if ". " in p)
        return any(re.search(_regex(p, False).pattern + r"[^.]*\W*$", _plain(message))
                   for p in first if _said(p) > 25 and self._has(p, message)
                   and re.search(r": .*\w|^[^:]+$", p))

    def _has(self, pattern: str, message: str) -> bool:
        # In a long log, finding words is a hundred times faster than patterns.
        if not all(word in _small(message) for word in _literal(pattern)):
            return False
        found = _regex(pattern, self.section == NO_MESSAGE)
        return bool(found.search(_plain(message)))


@cache
def _literal(pattern: str) -> list[str]:
    """Returns the fixed words of a pattern in lower case, longest first."""
    words = pattern if "⟨Op⟩" in pattern else _essence(pattern)
    found = re.split(r"…|⟨Op⟩|\s+", _plain(words))
    return sorted(map(str.lower, found), key=len, reverse=True)  # the rarest first


@cache
def _regex(pattern: str, said: bool) -> re.Pattern:
    if said:  # symptoms in plain words
        words = r"\W+".join(map(re.escape, pattern.split()))
        return re.compile(rf"\b{words.replace('…', _GAP)}\b", re.I)
    words = pattern if "⟨Op⟩" in pattern else _essence(pattern)
    parts = [re.escape(part.strip()) for part in _plain(words).split("…")]
    found = _GAP.join(filter(None, parts)).replace(r"\ ", " ?")  # spaces are optional
    return re.compile(found.replace("⟨Op⟩", _OP), 0 if "⟨Op⟩" in words else re.I)


@cache
def entries(page: Path = PAGE) -> list[Entry]:
    """Reads the entries of the page, in order."""
    found, section = [], ""
    for part in _PART.finditer(page.read_text(encoding="utf-8")):
        if part["level"] == "##":
            section = part["title"]
            continue
        body = part["body"]
        raises, works = _codes(body, section)
        also = _ALSO.match(body)
        body = body[also.end() if also else 0:]
        perhaps = _PERHAPS.match(body)
        body = body[perhaps.end() if perhaps else 0:]
        others, unsure = (_quoted(part[1]) if part else () for part in (also, perhaps))
        found.append(Entry(
            section, (part["title"].strip("`"), *others, *unsure), raises, works,
            " ".join(_CODE.sub("", _CASE.sub("", body)).split()), unsure,
            " ".join(perhaps[2].split()) if perhaps else "", _cases(body)))
    return found


def _cases(body: str) -> tuple[Case, ...]:
    """Returns the cases that an entry lists."""
    return tuple(Case(" ".join(case["kind"].split()), _quoted(case["evidence"]),
                      " ".join((case["example"] or "").split()),
                      " ".join(case["text"].split()))
                 for case in _CASE.finditer(body))


def _codes(body: str, section: str) -> tuple[str, str]:
    """Returns the code that raises a message, and the code that does not."""
    found = _CODE.findall(body)
    raises = "" if section in UNRAISED or not found else found.pop(0)
    return raises, found[0] if found else ""


def _quoted(listed: str) -> tuple[str, ...]:
    """Returns the texts in backticks of a list."""
    return tuple(re.findall(r"`([^`]+)`", " ".join(listed.split())))


def look_up(message: str) -> tuple[list[Entry], list[Entry]]:
    """Returns the entries that match a message, and up to three similar ones.

    An entry that matches an exception takes precedence over one that matches the rest
    of a log. Entries on consequences of another error come next, and then those on
    general messages of Python. Entries that consist of plain words match only if the
    message names no error. Errors of other libraries match nothing.
    """
    message = _squeezed(message)
    if _FOREIGN.search(message) and not _OURS.search(message):
        return [], []
    message = _bare(message)
    message = _NOTICE.sub("", message) or message
    if _ERROR.search(message) or _FATAL.search(message):
        message = _WARNING.sub("", message)
    if _ERROR.search(message):
        message = _HARMLESS.sub("", message)
    raised = "\n".join(_ERROR.findall(message))
    every = entries()
    if raised:  # a log contains many unrelated words
        every = [entry for entry in every if entry.section != NO_MESSAGE]
    sure = [entry for entry in every if entry.section not in (*_LAST[1:], CUT)]
    cut = [entry for entry in every if entry.section == CUT and not raised]
    every = [entry for entry in every if entry.section != CUT]
    message, raised = _both(message), _both(raised)
    end = message[-_LONG:]
    words, few = _words_of(end), _words_of(raised[-_LONG:])
    fitting = ([entry for entry in sure if entry.fits(message)]
               or [entry for entry in sure if entry.begins(message)]
               or _loosely(end, sure)
               or [entry for entry in cut if entry.fits(message) and _is_cut(message)]
               or [entry for entry in every if entry.section in _LAST[1:]
                   and entry.fits(message)]
               or [entry for entry in every if entry.section != NO_MESSAGE
                   and entry.says(words)])
    errors = _ERROR.findall(message) if _CHAIN.search(message) else []
    fitting.sort(key=lambda entry: (_LAST.index(entry.section) + 1
                                    if entry.section in _LAST else 0,
                                    not (entry.raised(raised) or entry.says(few)),
                                    next((k for k, one in enumerate(errors)
                                          if entry.fits(one)), len(errors)),
                                    -_said(entry.fits(raised) or entry.fits(message)
                                           or entry.says(few) or entry.says(words))))
    return fitting, [] if fitting else _near(raised or message, every)[:3]


@cache
def _squeezed(log: str) -> str:
    """Shortens a long log, so that every pattern can be searched in it.

    Very long words (such as pictures in base64), wide gaps and empty lines are
    shortened. If a log is still too long, its beginning, its end, and the lines around
    the first errors are kept.
    """
    log = re.sub(r"\S{2000,}", lambda word: f"{word[0][:600]} {word[0][-600:]}", log)
    log = re.sub(r"[^\S\n]{80,}", " " * 40, log)
    log = re.sub(r"\n(?:[^\S\n]*\n){3,}", "\n\n\n", log)
    if len(log) <= _WHOLE:
        return log
    lines = log.splitlines(keepends=True)
    telling = [k for k, line in enumerate(lines) if _TELLING.search(line)][:_PLACES]
    kept = sorted({near for k in telling for near in range(
        max(0, k - _BEFORE), min(len(lines), k + _AFTER))})
    middle = "".join(lines[k][:2000] for k in kept)[:_WHOLE - _HEAD - _TAIL]
    return f"{log[:_HEAD]}{_FAR}{middle}{_FAR}{log[-_TAIL:]}"


def _is_cut(log: str) -> bool:
    """Returns whether a log ends in a traceback without the line of the error."""
    *_, last = _TRACE.finditer(log) if _TRACE.search(log) else [None]
    return last is not None and not _NAMED.search(log, last.end())


def _bare(log: str) -> str:
    """Removes log prefixes, line numbers and escape sequences from a log."""
    if "&" in log:
        log = html.unescape(log)
    if log.count("\n") < 3 and not _DRIVE.search(log):
        for written, meant in _ESCAPES:
            log = written.sub(meant, log)
    return _PREFIX.sub("", _TEXTS.sub("", log))


def _loosely(message: str, every: list[Entry]) -> list[Entry]:
    """Returns the entries whose words occur in a message, or a partial match.

    The result with more matching letters is returned.
    """
    words = _words_of(message)
    whole = [entry for entry in every if entry.says(words)]
    part, letters = _part(message, every)
    if part and letters > max((_letters(e.says(words)) for e in whole), default=0):
        return part
    return whole


def _part(message: str, every: list[Entry]) -> tuple[list[Entry], int]:
    """Returns the only entry that shares a long part with a message.

    The part is a run of words. If no entry shares a run, it is the beginning of a
    pattern at a place where the message was cut off. The number of letters in the part
    is returned as well.
    """
    words = _words_of(message).split()
    runs = {entry: _run(entry, words) for entry in every}
    best = max(runs.values(), key=len, default="")
    if best:
        those = [entry for entry in every if any(
            f" {best} " in f" {_words_of(pattern)} " for pattern in entry.patterns)]
        return those if len(those) == 1 else [], len(best.replace(" ", ""))
    ends = [_words_of(message[:end.start()]).split()[-40:]
            for end in _ENDS.finditer(message)]
    letters = {entry: max((_cut_short(end, pattern) for end in ends
                           for pattern in entry.patterns), default=0)
               for entry in every}
    most = max(letters.values(), default=0)
    those = [entry for entry in every if letters[entry] == most] if most else []
    return those if len(those) == 1 else [], most


def _run(entry: Entry, words: list[str]) -> str:
    """Returns the longest run of words that a message shares with an entry.

    The words next to the run must agree too, because a different word there would
    belong to another message.
    """
    said = f" {' '.join(words)} "
    best = ""
    for part in {part for pattern in entry.patterns if "⟨Op⟩" not in pattern
                 for cut in ("…", "…|[.:;] ")
                 for part in re.split(cut, _essence(pattern))}:
        own = _words_of(part).split()
        least = min(5, max(4, len(own)))  # four if the part has only four words
        for first in range(len(own) - least + 1):
            last = first + least
            while last <= len(own) and f" {' '.join(own[first:last])} " in said:
                last += 1
            run = " ".join(own[first:last - 1])
            if last > first + least and len(run) > max(_RUN, len(best)):
                before, _, after = said.partition(f" {run} ")
                if (_alike(own[:first][-1:], before.split()[-1:], len(before.split()))
                        and _alike(own[last - 1:last], after.split()[:1],
                                   len(after.split()))):
                    best = run
    return best


def _alike(own: list[str], said: list[str], left: int) -> bool:
    """Returns whether two words may be the same if the message was cut within one."""
    return (not own or not said or own[0][:4] == said[0][:4]
            or left == 1 and (own[0].startswith(said[0]) or own[0].endswith(said[0])))


def _cut_short(said: list[str], pattern: str) -> int:
    """Returns the number of letters of a pattern that end a truncated message."""
    tokens, best = _tokens(pattern), 0
    for start, word in enumerate(said):
        if not tokens or word != tokens[0]:
            continue
        here, letters, count = start, 0, 0
        for place, token in enumerate(tokens):
            if here >= len(said):
                break
            if token == "…":
                continue
            if tokens[place - 1] == "…" and place and token in said[here:here + 12]:
                here = said.index(token, here)
            if said[here] == token:
                here, letters, count = here + 1, letters + len(token), count + 1
            elif here == len(said) - 1 and token.startswith(said[here]):
                here += 1
            else:
                break
        if here >= len(said) and letters >= _ENOUGH and count > 2:
            best = max(best, letters)
    return best


@cache
def _tokens(pattern: str) -> list[str]:
    """Returns the words of a pattern, with "…" at places where others may occur."""
    if "⟨Op⟩" in pattern:
        return []
    parts = [_words_of(part).split() for part in _essence(pattern).split("…")]
    joined = parts[0]
    for part in parts[1:]:
        joined = [*joined, "…", *part]
    return joined


@cache
def _worded(pattern: str) -> re.Pattern:
    """Compiles a regular expression that finds a pattern's words in a text."""
    parts = [re.escape(_words_of(part)) for part in _essence(pattern).split("…")]
    return re.compile(r"(?<!\S)" + r"(?: (?:\S+ ){0,60}?| ?)".join(
        filter(None, parts)) + r"(?!\S)")


def _letters(pattern: str) -> int:
    return len(_words_of(pattern).replace(" ", ""))


@cache
def _words_of(text: str) -> str:
    """Returns the words of a text in lower case, without punctuation."""
    return " ".join(re.findall(r"\w+", _APOSTROPHE.sub("", _plain(text).lower())))


def _both(log: str) -> str:
    """Appends a copy of a log in which lines wrapped by a terminal are joined."""
    longest = max(map(len, log.splitlines()), default=0)
    whole = re.sub(rf"^(.{{{longest}}})\n", r"\1", log, flags=re.M)
    return log if whole == log else log + _FAR + whole


def _essence(pattern: str) -> str:
    """Returns a pattern without the error's name, unless nothing else is left."""
    kind, _, words = pattern.partition(": ")
    named = re.fullmatch(r"\w*(Error|Exception)", kind) and words.strip("… ")
    return words if named else pattern


def _said(pattern: str) -> int:
    """Returns the number of letters in a pattern without its error name."""
    return len(_essence(pattern).replace("…", ""))


def _near(message: str, every: list[Entry]) -> list[Entry]:
    """Returns the entries that share half or more of their rare words with a text."""
    words = {entry: _words(" ".join(entry.patterns[:1])) for entry in every}
    often = Counter(word for found in words.values() for word in found)
    rare = {entry: {word for word in found if often[word] < len(every) // 20}
            for entry, found in words.items()}
    said = _words(message)
    near = {entry: len(found & said) for entry, found in rare.items()
            if len(found & said) > 1 and 2 * len(found & said) >= len(found)}
    return sorted(near, key=lambda entry: -near[entry])


def trail(log: str) -> list[str]:
    """Returns the error name, op and source line that an unknown log contains."""
    found, log = [], _squeezed(log)
    if kinds := re.findall(r"^(?:[\w.]+\.)?([A-Z]\w*(?:Error|Exception))\b", log, re.M):
        found.append(f"The last error is {kinds[-1]}.")
    ops = re.findall(r"(?:\{\{node |\[\[node |\[Node: |at node '"
                     r"|Caused by op u?')([\w./-]+)", log)
    if ops:
        found.append(f"It comes from the op {ops[0]}. To see its inputs: sess.run(list("
                     f"sess.graph.get_operation_by_name('{ops[0]}').inputs), feeds)")
    lines = re.findall(r'File "([^"\n]+)", line (\d+)', log)
    own = [f"{path}, line {line}" for path, line in lines
           if not re.search(r"site-packages|dist-packages|lib/python|lib\\|^<", path)]
    if own:
        found.append(f"The last line of your own code in it is {own[-1]}.")
    return found


def verdict(errors: Iterable[str]) -> tuple[str, Entry] | None:
    """Returns the root cause among several errors, with its entry on the page.

    Args:
      errors: Errors as single lines, with causes before their consequences.

    Returns:
      The error and its entry, or `None` if no error has an entry.
    """
    found = [(error, look_up(error)[0][0]) for error in errors if look_up(error)[0]]
    found.sort(key=lambda pair: pair[1].section == FOLLOWS)
    return found[0] if found else None


def pattern_of(entry: Entry, message: str) -> str:
    """Returns the pattern of an entry that occurs in a message, or ""."""
    message = _both(_bare(_squeezed(message)))
    return entry.fits(message) or entry.says(_words_of(message[-_LONG:]))


def case_of(entry: Entry, message: str) -> Case | None:
    """Returns the first case of an entry for which a log has evidence."""
    if not entry.cases:
        return None
    log = _bare(_squeezed(message))
    raised = "\n".join(_ERROR.findall(log))
    shown, log = shapes.relations(raised or log), _plain(_both(log))
    return next((case for case in entry.cases if case.holds(log, shown)), None)


def shown(entry: Entry, pattern: str = "", case: Case | None = None) -> str:
    """Formats an entry as text for a terminal.

    Args:
      entry: Entry of the page.
      pattern: The pattern of the entry that fits; by default, its first.
      case: The case of the entry that holds, if one does.
    """
    text = entry.text
    if case:
        text = f"{case.text} Lesson: {text.rpartition('Lesson: ')[2]}"
    text = re.sub(r"\[([^\[\]]+)\]\((?:\.\./)*([^)]+)\)", r"\1, \2", text)
    text = text.replace("Lesson: ", "See lesson ")
    text = re.sub(r"(`[^`]*`)|\*\*", lambda found: found[1] or "", text)
    return f"{pattern or entry.patterns[0]}\n  {text}"


def answer(entry: Entry, message: str) -> str:
    """Returns an entry as text, with what would decide if it is not sure."""
    pattern = pattern_of(entry, message)
    case = case_of(entry, message)
    open_question = doubt(entry, message, pattern, case)
    text = shown(entry, pattern, case)
    return f"Perhaps: {text}\n  To decide: {open_question}" if open_question else text


def doubt(entry: Entry, message: str, pattern: str, case: Case | None = None) -> str:
    """Returns what would decide whether an entry is right; "" if it surely is.

    Args:
      entry: Entry that was found for a message.
      message: The message, or the log.
      pattern: The pattern of the entry that the message has.
      case: The case of the entry that holds, if one does.
    """
    if entry.section in _DECIDES and not (case and entry.section == GENERAL):
        return _DECIDES[entry.section]
    if not pattern:
        return "give the whole message; only a part of this one is known."
    if pattern in entry.perhaps and not case:
        return entry.decides
    raised = "\n".join(_ERROR.findall(_bare(_squeezed(message))))
    if raised and not entry.raised(_both(raised)):
        return ("give the last error alone; this answer belongs to another line of the "
                "log.")
    return ""


@cache
def _plain(text: str) -> str:
    for was, now in _SPELT:
        text = was.sub(now, text)
    return " ".join(text.split())


@cache
def _small(text: str) -> str:
    return _plain(text).lower()


def _words(text: str) -> set[str]:
    return {word.lower() for word in re.findall(r"[A-Za-z_]{3,}", text)}
