"""Converts the syntax of Python 2 to that of Python 3.

`print` and `exec` were statements, a comma separated an exception from its name, and
functions and `lambda` could unpack tuples in their parameters. The meaning of the
program does not change.

Code that is valid Python 3 is checked only for `print >> file`, which Python 3 reads as
a tuple and which fails at run time. Tabs in indentation that also contains spaces are
expanded to multiples of eight columns.

Since: Python 3.0
Lesson: 10a
Side: Python 2.7

Before:

    print "names", 0777, 3L, ur"x"
    print >>log, "a",
    try:
        x = `y` <> "2"
        raise ValueError, "no"
    except (ValueError, KeyError), error:
        exec "x = 1" in names
    pairs.sort(key=lambda (a, b): a + b)
    def far((x, y), (w, (h, _))=(1, (2, 3))):
        'Says how far.'
        return x + w
    def near((x, y)): return x

After:

    print("names", 0o777, 3, r"x")
    print("a", file=log, end=" ")
    try:
        x = repr(y) != "2"
        raise ValueError("no")
    except (ValueError, KeyError) as error:
        exec("x = 1", names)
    pairs.sort(key=lambda a_b: (lambda a, b: a + b)(*a_b))
    def far(x_y, w_h__=(1, (2, 3))):
        'Says how far.'
        (x, y) = x_y
        (w, (h, _)) = w_h__
        return x + w
    def near(x_y): (x, y) = x_y; return x

Before:

    import sys
    print >> sys.stderr, 7 / 2

After:

    import sys
    print(7 // 2, file=sys.stderr)

Stays:

    print = 8
    x = "print >> x"; y = 7 / 2
"""

import ast
import itertools
import re
from collections.abc import Iterator
from typing import NamedTuple

from tf1tools.port.rule import Rule
from tf1tools.port.text.edits import Edit, applied
from tf1tools.port.text.syntax import parse

rule = Rule(__name__, __doc__, __file__)

_TOKEN = re.compile(
    r"""(?P<comment>\#[^\n]*)
    |(?P<string>[bBuUrR]{0,2}(?:\"{3}(?:\\.|[^\\])*?\"{3}|'{3}(?:\\.|[^\\])*?'{3}
       |"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'))
    |(?P<newline>\n)|(?P<space>[ \t]+|\\\n)
    |(?P<number>0[xXbBoO][\da-fA-F]+[lL]?|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[jJlL]?)
    |(?P<name>[^\W\d]\w*)|(?P<sign><>|>>|.)""",
    re.X | re.S,
)
_COMPOUND = {"if", "elif", "else", "for", "while", "try", "except", "finally", "with",
             "def", "class"}


class Token(NamedTuple):
    """Token of a program, with its offsets and its bracket depth."""

    kind: str
    text: str
    start: int
    end: int
    depth: int


@rule.text
def syntax(code: str, tree: ast.Module | None) -> list[Edit]:
    """Returns the edits that convert Python 2 to Python 3, or [] for Python 3."""
    if tree and not _prints_to_a_file(code, tree):
        return []
    edits = list(_changes(code))
    try:
        parse(applied(code, edits))
    except IndentationError:  # tabs mixed with spaces
        edits += _without_tabs(code)
    except SyntaxError:
        pass
    return edits


def _prints_to_a_file(code: str, tree: ast.Module) -> bool:
    """Returns whether code that parses contains `print >> file, x`."""
    return bool(re.search(r"\bprint\s*>>", code)) and any(
        isinstance(node, ast.BinOp) and isinstance(node.op, ast.RShift)
        and getattr(node.left, "id", "") == "print" for node in ast.walk(tree))


def _without_tabs(code: str) -> Iterator[Edit]:
    """Yields edits that replace tabs in the indentation with spaces."""
    for token in _tokens(code):
        first = code[token.start - 1:token.start] in ("", "\n")
        if first and token.kind == "space" and "\t" in token.text:
            yield Edit(token.start, token.end, token.text.expandtabs(8))


def _tokens(code: str) -> Iterator[Token]:
    depth = 0
    for found in _TOKEN.finditer(code):
        word = found[0]
        depth -= word in (")", "]", "}")
        yield Token(str(found.lastgroup), word, found.start(), found.end(), depth)
        depth += word in ("(", "[", "{")


def _changes(code: str) -> Iterator[Edit]:
    """Yields the edits of each statement."""
    whole = list(_tokens(code))
    yield from _words(whole)
    printing = not re.search(r"from\s+__future__\s+import[^\n]*print_function", code)
    statements = list(_statements(whole))
    for number, statement in enumerate(statements):
        first = statement[0].text
        if first == "def":
            yield from _pairs(statement, statements[number + 1:number + 3], code)
        if first == "print" and printing:
            yield from _print(statement, code)
        elif first == "exec":
            yield from _exec(statement)
        elif first == "raise":
            yield from _raise(statement)
        elif first == "except":
            yield from _except(statement)
        yield from _lambdas(statement)


def _words(tokens: list[Token]) -> Iterator[Edit]:
    """Yields edits of single tokens, such as `<>`, backquotes and octal numbers."""
    opened = False
    for token in tokens:
        if token.text == "<>":
            yield Edit(token.start, token.end, "!=")
        elif token.text == "`":
            opened = not opened
            yield Edit(token.start, token.end, "repr(" if opened else ")")
        elif token.kind == "number":
            number = token.text.rstrip("lL")
            if re.fullmatch(r"0[0-7]*[1-7][0-7]*", number):
                number = "0o" + number.lstrip("0")
            if number != token.text:
                yield Edit(token.start, token.end, number)
        elif token.kind == "string" and token.text[:2].lower() == "ur":
            yield Edit(token.start, token.start + 2, "r")


def _statements(tokens: list[Token]) -> Iterator[list[Token]]:
    """Yields the tokens of each simple statement and each compound head."""
    found: list[Token] = []
    for token in tokens:
        outside = token.depth <= 0
        ends = outside and (token.kind == "newline" or token.text == ";")
        head = bool(found) and found[0].text in _COMPOUND
        if ends or (outside and token.text == ":" and head
                    and not any(t.text == "lambda" for t in found)):
            if found:
                yield found
            found = []
        elif token.kind not in ("space", "comment", "newline"):
            found.append(token)
    if found:
        yield found


def _commas(tokens: list[Token]) -> list[int]:
    """Returns the indices of the commas outside all brackets."""
    depth = tokens[0].depth
    return [number for number, token in enumerate(tokens)
            if token.text == "," and token.depth == depth]


def _is_bracket(tokens: list[Token]) -> bool:
    """Returns whether the tokens form one pair of parentheses."""
    depth = tokens[0].depth
    return tokens[0].text == "(" and not any(
        token.depth == depth for token in tokens[1:-1]) and tokens[-1].text == ")"


def _print(statement: list[Token], code: str) -> Iterator[Edit]:
    word, *rest = statement
    if not rest:
        yield Edit(word.end, word.end, "()")
        return
    if rest[0].text in ("=", ".", ",", ")") or _is_bracket(rest) or (
            rest[0].text == ">>" and not rest[1:]):
        return
    ending = []
    start, last = rest[0].start, rest[-1]
    if rest[0].text == ">>":
        commas = _commas(rest)
        end = commas[0] if commas else len(rest)
        ending = ["file=" + code[rest[1].start:rest[end - 1].end]]
        rest = rest[end + 1:]
        start = rest[0].start if rest else last.end
    if rest and last.text == ",":
        ending.append('end=" "')
        yield Edit(last.start, last.end, "")
    yield Edit(word.end, start, "(")
    comma = ", " if rest and ending else ""
    yield Edit(last.end, last.end, comma + ", ".join(ending) + ")")


def _exec(statement: list[Token]) -> Iterator[Edit]:
    word, *rest = statement
    if not rest or rest[0].text in ("=", ".", ",", ")") or _is_bracket(rest):
        return
    yield Edit(word.end, rest[0].start, "(")
    for before, token, after in zip(rest, rest[1:], rest[2:], strict=False):
        if token.text == "in" and token.depth == rest[0].depth:
            yield Edit(before.end, after.start, ", ")
    yield Edit(rest[-1].end, rest[-1].end, ")")


def _raise(statement: list[Token]) -> Iterator[Edit]:
    commas = _commas(statement)
    if not commas or statement[-1].text == ",":
        return
    first = statement[commas[0]]
    yield Edit(first.start, statement[commas[0] + 1].start, "(")
    if len(commas) > 1:
        second = statement[commas[1]]
        after = statement[commas[1] + 1]
        yield Edit(second.start, after.start, ").with_traceback(")
    yield Edit(statement[-1].end, statement[-1].end, ")")


def _except(statement: list[Token]) -> Iterator[Edit]:
    if len(commas := _commas(statement)) == 1 and len(statement) == commas[0] + 2:
        comma = statement[commas[0]]
        yield Edit(comma.start, comma.end, " as")


def _pairs(head: list[Token], body: list[list[Token]], code: str) -> Iterator[Edit]:
    """Yields edits that unpack tuple parameters in a function's first line."""
    taken = []
    for before, token in zip(head, head[1:], strict=False):
        if token.text == "(" and before.text in ("(", ",") and \
                token.depth == head[0].depth + 1:
            close = next((one for one in head if one.start > token.start
                          and one.text == ")" and one.depth == token.depth), None)
            if close is None:  # a line that is cut
                return
            names = "_".join(one.text for one in head if one.kind == "name"
                             and token.start < one.start < close.start)
            yield Edit(token.start, close.end, names)
            taken.append(f"{code[token.start:close.end]} = {names}")
    if taken and body:
        docstring = len(body) > 1 and len(body[0]) == 1 and body[0][0].kind == "string"
        first = body[docstring][0].start
        line = code[code.rfind("\n", 0, first) + 1:first]
        between = "; " if line.strip() else f"\n{line}"
        yield Edit(first, first, between.join([*taken, ""]))


def _lambdas(statement: list[Token]) -> Iterator[Edit]:
    """Yields edits that unpack the tuple parameter of a `lambda`."""
    for number, token in enumerate(statement[:-1]):
        bracket = statement[number + 1]
        if token.text != "lambda" or bracket.text != "(":
            continue
        close = next((n for n in range(number + 2, len(statement))
                      if statement[n].depth == bracket.depth), None)
        if close is None or [t.text for t in statement[close + 1:close + 2]] != [":"]:
            continue
        names = [t.text for t in statement[number + 2:close] if t.kind == "name"]
        body = list(itertools.takewhile(
            lambda t, depth=token.depth: t.depth > depth or (
                t.depth == depth and t.text != ","), statement[close + 2:]))
        if not body:
            continue
        one = "_".join(names)
        yield Edit(token.start, token.start, f"lambda {one}: (")
        yield Edit(bracket.start, bracket.end, "")
        yield Edit(statement[close].start, statement[close].end, "")
        yield Edit(body[-1].end, body[-1].end, f")(*{one})")
