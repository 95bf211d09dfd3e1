"""Checks of numeric arguments: type, sign, range, and finiteness.

Write the check before a function:

    @numbers(batch_size=whole(), held_out=real(0, 1))
    def convert(folder, batch_size=8, held_out=0.1):
"""

import functools
import inspect
import math
import operator
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

Rule = Callable[[str, Any], Any]  # (name, value) -> validated Python value
F = TypeVar("F", bound=Callable)

LARGEST = 2**31 - 1  # maximum of a size or a count (int32)
SIDE = 65_535  # maximum side of a JPEG picture


def numbers(**rules: Rule) -> Callable[[F], F]:
    """Returns a decorator that validates numeric arguments before the call.

    Args:
      **rules: One rule per parameter name, as returned by `whole`, `real`, or `sides`.
        A default value is never checked, so a parameter whose default is `None` also
        accepts `None`.
    """
    def decorate(function: F) -> F:
        signature = inspect.signature(function)
        owner = function.__qualname__.removesuffix(".__init__")

        @functools.wraps(function)
        def checked(*positional, **named):
            try:
                bound = signature.bind(*positional, **named)
            except TypeError:  # Python's own message is clearer
                return function(*positional, **named)
            for name, rule in rules.items():
                default = signature.parameters[name].default
                value = bound.arguments.get(name, default)  # no walrus for AutoGraph
                if value is not default:
                    bound.arguments[name] = rule(f"{owner}: {name}", value)
            return function(*bound.args, **bound.kwargs)

        checked.numbers = rules  # type: ignore[attr-defined]  # a test reads them
        return checked  # type: ignore[return-value]

    return decorate


def whole(least: int = 1, most: int = LARGEST) -> Rule:
    """Returns a rule that accepts whole numbers from `least` to `most`."""
    return functools.partial(whole_number, least=least, most=most)


def real(least: float = -math.inf, most: float = math.inf, *, above: bool = False,
         infinite: bool = False, tensors: bool = False) -> Rule:
    """Returns a rule that accepts finite numbers within the given limits.

    Args:
      least: Smallest allowed value. With `above=True`, largest value that is not
        allowed.
      most: Largest allowed value.
      above: Whether the number must be strictly greater than `least`.
      infinite: Whether infinity is allowed, for example to mean "no limit".
      tensors: Whether tensors are allowed. Their values are not checked.
    """
    def rule(name: str, value: Any) -> Any:
        if tensors and hasattr(value, "get_shape"):
            return value
        number = _plain(name, value, float, "a number")
        if math.isnan(number) or (math.isinf(number) and not infinite):
            raise ValueError(f"{name} must be finite, but got {number}.")
        if above and number <= least:
            raise ValueError(
                f"{name} must be greater than {least:g}, but got {number:g}."
            )
        if number < least:
            raise ValueError(f"{name} must be at least {least:g}, but got {number:g}.")
        if number > most:
            raise ValueError(f"{name} must be at most {most:g}, but got {number:g}.")
        return number

    return rule


def sides(least: int = 1, most: int = SIDE) -> Rule:
    """Returns a rule that accepts one side length, or a (height, width) pair."""
    def rule(name: str, value: Any) -> Any:
        if not isinstance(value, (tuple, list)):
            return whole_number(name, value, least, most)
        if len(value) != 2:
            raise ValueError(
                f"{name} must be a number or a pair (height, width), but got {value!r}."
            )
        return tuple(whole_number(name, side, least, most) for side in value)

    return rule


def whole_number(name: str, value: Any, least: int = 1, most: int = LARGEST) -> int:
    """Converts an argument to `int` and checks that it is within its limits.

    Every object that Python accepts as an index is a whole number, including NumPy's
    integers. `True` and 2.0 are rejected, because they are usually mistakes.

    Args:
      name: Name of the argument for the message, such as `batch_size`.
      value: Value that the caller passed.
      least: Smallest allowed value.
      most: Largest allowed value.

    Raises:
      TypeError: If the value is not a whole number.
      ValueError: If the value is out of range.
    """
    number = _plain(name, value, operator.index, "a whole number")
    if number < least:
        raise ValueError(f"{name} must be at least {least}, but got {number}.")
    if number > most:
        raise ValueError(f"{name} must be at most {most}, but got {number}.")
    return number


def _plain(name: str, value: Any, kind: Callable, expected: str) -> Any:
    """Converts a value to a Python number, and rejects booleans and text."""
    try:
        if isinstance(value, (bool, np.bool_, str, bytes, np.character)):
            raise TypeError("not a number")
        return kind(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise TypeError(f"{name} must be {expected}, but got {value!r:.80}.") from error
