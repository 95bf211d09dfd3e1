"""Compares the outputs of a cell: numbers within a tolerance, text exactly.

A cell tagged `within:10%` prints numbers that may change by a tenth of their value. A
cell tagged `within:0.04` prints numbers that may change by this amount. If a tolerance
is wider than a third of a printed number, the metadata of the cell explain why, under
`within_reason`.
"""

import math
import re
from collections import defaultdict

TAG = re.compile(r"within:(\d+(?:\.\d+)?)(%?)")
# A comma groups digits, but not in a pair such as (1,200), which is two numbers.
NUMBER = re.compile(r"(?<![\w.])[-+]?(?:(?!(?<=[(\[])[\d,]+[)\]])\d{1,3}(?:,\d{3})+"
                    r"|\d+|(?=\.\d))(?:\.\d*)?"
                    r"(?:e[-+]?\d+)?(?!\.?\w)", re.I)
WIDE = 0.334  # a third


def tolerance(cell) -> str:
    """Returns the tolerance in a cell's tag, such as "10%", or "" without a tag.

    Raises:
      ValueError: If a tag that begins with `within:` contains no tolerance.
    """
    for tag in cell.metadata.get("tags", []):
        if tag.startswith("within:"):
            if not TAG.fullmatch(tag):
                raise ValueError(
                    f"Invalid tag {tag}. Write, for example, within:10% or within:0.04."
                )
            return tag.partition(":")[2]
    return ""


def agree(text: str, stored: str, allowed: str) -> bool:
    """Returns whether two outputs have equal text and numbers within tolerance.

    Both outputs must have the same count of numbers, each with its sign and exponent. A
    number that is too large for a float equals only itself, like the words inf and nan.

    Args:
      text: New output.
      stored: Stored output.
      allowed: Tolerance, as returned by `tolerance`.
    """
    return _words(text) == _words(stored) and all(
        now == then or _are_near(_value(now), _value(then), allowed)
        for now, then in zip(NUMBER.findall(text), NUMBER.findall(stored), strict=True))


def _are_near(now: float, then: float, allowed: str) -> bool:
    return math.isfinite(now) and math.isfinite(then) and (
        abs(now - then) <= _limit(allowed, then))


def settle(outputs: list, stored: list, allowed: str) -> None:
    """Replaces new outputs with stored ones that agree within the tolerance.

    Args:
      outputs: Outputs of a cell that was run. They are changed in place.
      stored: Outputs of the same cell in its file.
      allowed: Tolerance, as returned by `tolerance`. Without one, nothing is changed.
    """
    if not allowed:
        return
    known = _texts(stored)
    for kind, places in _texts(outputs).items():
        for (now, key), (then, _) in zip(places, known.get(kind, []), strict=False):
            if agree(now[key], then[key], allowed):
                now[key] = then[key]


def widest(outputs: list, allowed: str) -> float:
    """Returns the tolerance relative to the smallest nonzero number.

    Raises:
      ValueError: If the cell prints no number, or only zeros.
    """
    values = [abs(number) for places in _texts(outputs).values()
             for place, key in places for number in numbers(place[key]) if number]
    if not values:
        raise ValueError(
            f"The tag within:{allowed} requires a cell that prints a number other than "
            "0. Remove the tag from this cell."
        )
    return _limit(allowed, min(values)) / min(values)


def numbers(text: str) -> list[float]:
    """Returns the numbers in a text, in order, excluding digits inside words."""
    return [_value(found) for found in NUMBER.findall(text)]


def _value(found: str) -> float:
    return float(found.replace(",", ""))


def _limit(allowed: str, then: float) -> float:
    relative = allowed.endswith("%")
    limit = float(allowed[:-1]) / 100 * abs(then) if relative else float(allowed)
    return limit * (1 + 1e-9)  # because 1 - 0.96 is slightly more than 0.04


def _words(text: str) -> list[str]:
    """Returns the text between the numbers, without surrounding spaces."""
    return [words.strip(" ") for words in NUMBER.split(text)]


def _texts(outputs: list) -> dict[str, list]:
    """Returns the places of all text outputs, grouped by kind."""
    places = defaultdict(list)
    for output in outputs:
        if output["output_type"] == "stream":
            places[output["name"]].append((output, "text"))
        for kind in output.get("data", {}):
            if kind == "text/plain":
                places[kind].append((output["data"], kind))
    return places
