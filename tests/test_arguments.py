"""Whole numbers: what passes for one, and what the message says of the others."""

import numpy as np
import pytest

from helpers.arguments import whole_number


@pytest.mark.parametrize("value", [3, np.int32(3), np.uint8(3), np.array(3)])
def test_whole_numbers_become_ints(value):
    number = whole_number("size", value)
    assert number == 3 and type(number) is int


@pytest.mark.parametrize(
    "value", [True, np.bool_(True), np.array(True), 1.5, 2.0, np.float32(2), "3", None]
)
def test_what_is_no_whole_number(value):
    with pytest.raises(TypeError, match="^size=.*: must be a whole number$"):
        whole_number("size", value)


def test_the_limits_are_allowed_and_named():
    assert whole_number("size", 2, 2, 7) == 2 and whole_number("size", 7, 2, 7) == 7
    assert whole_number("seed", 0, 0) == 0 and whole_number("seed", 2**40) == 2**40
    with pytest.raises(ValueError, match="^size=1: must be at least 2$"):
        whole_number("size", np.int64(1), 2)
    with pytest.raises(ValueError, match="^size=8: must be at most 7$"):
        whole_number("size", 8, 2, 7)
