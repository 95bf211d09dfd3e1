"""Python 2 made readable for Python 3's parser, line for line and place for place."""

import ast
import re
import warnings

_SIGNS = re.compile(
    r"""^\s*(print\s+[^\s(=.,)]|print\s*>>|print\s*$|exec\s+[^\s(=.,)]
    |except\s+[\w.()]+(\s*,\s*[\w.]+)*\s*,\s*\w+\s*:|.*\braise\s+[\w.]+\s*,)
    |<>|\bur['"]|(?<![\w.])0[0-7]+\b(?!\.)|\b\d+L\b""",
    re.X | re.M,
)
_STATEMENT = re.compile(r"^(\s*|.*:\s+)(print|exec)(\s*>>|\s+|$)(?![=.,)])(.*)$")


def parse(text: str) -> ast.Module:
    """Parses Python 3; warnings about odd escapes are the file's own affair.

    Raises:
      SyntaxError: it is none, or nests too deeply to be read.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (RecursionError, MemoryError, ValueError) as error:
        raise SyntaxError(f"cannot be parsed ({error})") from error


def looks_like(text: str) -> bool:
    """Whether source that Python 3 refuses has the marks of Python 2."""
    return bool(_SIGNS.search(text))


def translated(text: str) -> str:
    """Returns Python 2 with what Python 3 cannot parse rewritten.

    Names keep their line and column, for that is what the report gives.
    """
    lines = text.expandtabs(8).split("\n")
    for number, line in enumerate(lines):
        if found := _STATEMENT.match(line):
            lines[number] = _called(found, lines, number)
    text = "\n".join(lines)
    text = re.sub(r"^(\s*except\s+[^:\n]+?)\s*,(\s*\w+\s*:)", r"\1 as\2", text,
                  flags=re.M)
    text = re.sub(r"\b(raise\s+[\w.]+)\s*,([^\n]*)$", r"\1(\2)", text, flags=re.M)
    text = text.replace("<>", "!=")
    text = re.sub(r"\bur(?=['\"])", " r", text)
    # Any number of the same width will do: only names are read.
    text = re.sub(r"(?<![\w.])0+([1-7][0-7]*)\b(?![.xob])", r" \1", text)
    text = re.sub(r"\b(\d+)L\b", r"\1 ", text)
    text = re.sub(r"\bdef (\w+)\(([^()]*)\(([^()]*)\)", r"def \1(\2 \3 ", text)
    return re.sub(r"`([^`\n]+)`", r"(\1)", text)


def _called(found: re.Match, lines: list[str], number: int) -> str:
    """Returns `print x` as `print(x)`; the bracket may close on a later line."""
    before, word, gap, rest = found.groups()
    if word == "print" and rest.startswith("(") and _closes(rest):
        return lines[number]
    last, depth = number, _depth(rest)
    while depth > 0 and last + 1 < len(lines):
        last += 1
        depth += _depth(lines[last])
    gap = "(" + " " * (len(gap) - 1)
    if last > number:
        lines[last] += ")"
        return f"{before}{word}{gap}{rest}"
    rest, mark, comment = _without_comment(rest)
    return f"{before}{word}{gap}{rest.rstrip().rstrip(',')}){mark}{comment}"


def _without_comment(text: str) -> tuple[str, str, str]:
    quote = ""
    for place, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character == "#":
            return text[:place], " #", text[place + 1:]
    return text, "", ""


def _depth(text: str) -> int:
    """Returns how many brackets stay open, those in strings left out."""
    bare = re.sub(r"'(\\.|[^'\\])*'|\"(\\.|[^\"\\])*\"", "", text)
    bare = _without_comment(bare)[0]
    return sum(map(bare.count, "([{")) - sum(map(bare.count, ")]}"))


def _closes(text: str) -> bool:
    """Whether a bracket that opens a text closes at its end."""
    try:
        ast.parse(f"print{text.strip()}")
    except SyntaxError:
        return _depth(text) > 0
    return True
