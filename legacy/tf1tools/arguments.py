"""Parses command lines: suggests words for misspelt ones, and checks numbers."""

import argparse
import difflib
import math
from collections.abc import Iterable


class Parser(argparse.ArgumentParser):
    """Argument parser that suggests the option that a misspelt one may mean."""

    def error(self, message: str):
        """Prints the message with a suggestion, and exits."""
        start = "unrecognized arguments: "
        given = message.removeprefix(start).split() if message.startswith(start) else []
        hints = [hint for word in given if word.startswith("--") and (
            hint := did_you_mean(word.partition("=")[0], self._option_string_actions))]
        super().error(f"{message}. {' '.join(hints)}" if hints else message)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Returns the question whether a similar known word was meant, or ""."""
    near = difflib.get_close_matches(word, known, n=1)
    return f"Did you mean {near[0]}?" if near else ""


def seconds(text: str) -> float:
    """Converts a command-line argument to a positive number of seconds.

    Raises:
      argparse.ArgumentTypeError: If it is not a positive, finite number.
    """
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(
            f"Expected a positive number of seconds, but got {text!r}.")
    return number
