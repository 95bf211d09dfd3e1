"""Checks numbers that are given on a command line."""

import argparse
import math


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
            f"{text!r} is not a number of seconds above 0, such as 10")
    return number
