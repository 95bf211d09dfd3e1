"""Compares the two shapes, or counts of values, that an error message names."""

import itertools
import math
import re

_SHAPE = re.compile(r"(?<!\w)[\[(]((?:(?:\d+|\?|None|-1)(?:, ?|(?=[\])]))){0,9})[\])]")
_INDEX = re.compile(r"(?<=\w)\[\d\]")  # of In[0] and shape[1]
_BEFORE = re.compile(r"shapes?|_size|\bIn:", re.I)
_FIRST, _NEAR = 20, 300  # places that are looked at, and characters after each
_COUNTS = re.compile(r"tensor with (\d+) values, but the requested shape "
                     r"(has|requires a multiple of) (\d+)")


def relations(message: str) -> set[str]:
    """Returns how the two shapes of a message differ, in words.

    Each relation says something of the first shape, compared with the second. Unknown
    sizes, as `?` and `None`, are taken to be equal to any other. The relations are:

    - `no rows`: a size is 0
    - `fewer axes`, `more axes`
    - `one axis for many`: one axis, where the other shape has three or more
    - `another first number`, `another last number`: the others, at least one, are equal
    - `other numbers between`: the first and the last number are equal
    - `numbers one apart`: sizes between the first and the last differ by one
    - `the same numbers in another order`: behind the first one
    - `three times the values`, `a third of the values`
    - `a multiple of the values`, `a part of the values`: all of an integer ratio
    """
    if counts := _COUNTS.search(message):
        return _ratio(int(counts[1]), int(counts[3])) | (
            {"no rows"} if "0" in (counts[1], counts[3]) else set())
    pair = _pair(message)
    if not pair:
        return set()
    one, other = (re.findall(r"\d+|\?|None|-1", shape) for shape in pair)
    said = {"no rows"} if "0" in one + other else set()
    if len(one) != len(other):
        said.add("fewer axes" if len(one) < len(other) else "more axes")
        if len(one) == 1 and len(other) > 2:
            said.add("one axis for many")
    else:
        said |= _of_equal_length(one, other)
    if len(one) == len(other):
        known = [pair for pair in zip(one, other, strict=True)
                 if all(map(str.isdigit, pair))]
        one, other = ([pair[k] for pair in known] for k in (0, 1))
    if all(map(str.isdigit, one + other)):
        said |= _ratio(*(math.prod(map(int, shape)) for shape in (one, other)))
    return said


def _pair(message: str) -> list[str]:
    """Returns the first two shapes that stand close together in a message."""
    message = _INDEX.sub("", message)
    for found in itertools.islice(_BEFORE.finditer(message), _FIRST):
        near = message[found.end():found.end() + _NEAR]
        if len(pair := _SHAPE.findall(near)) > 1:
            return pair[:2]
    return []


def _of_equal_length(one: list[str], other: list[str]) -> set[str]:
    """Returns the relations of two shapes with the same number of axes."""
    differ = [k for k, pair in enumerate(zip(one, other, strict=True))
              if pair[0] != pair[1] and all(map(str.isdigit, pair))]
    said, last = set(), len(one) - 1
    if len(differ) > 1 and sorted(one[1:]) == sorted(other[1:]):
        said.add("the same numbers in another order")
    if differ == [0] and last:
        said.add("another first number")
    elif differ == [last] and last:
        said.add("another last number")
    elif differ and not {0, last} & set(differ):
        said.add("other numbers between")
        if all(abs(int(one[k]) - int(other[k])) == 1 for k in differ):
            said.add("numbers one apart")
    return said


def _ratio(one: int, other: int) -> set[str]:
    """Returns the relations of two counts of values."""
    if not one or not other or one == other:
        return set()
    said = set()
    if one % other == 0:
        said.add("a multiple of the values")
    if other % one == 0:
        said.add("a part of the values")
    if one == 3 * other:
        said.add("three times the values")
    if other == 3 * one:
        said.add("a third of the values")
    return said
