"""What lessons 06a, 12a and 12b draw into the frames of their pages."""

import re

import numpy as np
import pytest

from helpers.chart import Chart
from helpers.pages.looks import SIZE, look_frame


def points(drawn):
    [path] = re.findall(r" d='M([^']+)'", drawn)
    return np.array([pair.split() for pair in path.split("L")], float)


def test_a_line_stands_where_the_axes_say():
    chart = Chart(x=(1, 16), y=(0, 10))
    drawn = points(chart.line([1, 16], [0, 10], "a"))
    axes = chart.axes([1, 16], [0, 10], "what is counted")
    across = [float(x) for x in re.findall(r"<text x='([\d.]+)'.*?middle", axes)]
    np.testing.assert_allclose(drawn[:, 0], across)
    assert drawn[0, 1] > drawn[1, 1], "upwards is more"
    assert "what is counted" in axes and "here</text>" in chart.line(
        [1], [2], "a", name="here")


def test_each_power_of_ten_takes_as_much_room_and_none_leaves_the_frame():
    chart = Chart(x=(0, 1), y=(1e-4, 1e4), log=True)
    low, one, high, over, none = points(
        chart.line([0, 0, 0, 0, 0], [1e-4, 1, 1e4, 1e9, 0], "a"))[:, 1]
    assert low - one == pytest.approx(one - high, abs=1)
    assert (over, none) == (high, low)


def test_a_look_says_its_word_and_its_shares():
    looks = np.full([2, 8, 8], 1 / 64)
    looks[1] = np.eye(8) / 8
    scene = (np.zeros([64, 64, 3], np.uint8), [(0, 0, 8, 8), (30, 30, 8, 9)],
             ["star", "</S>"], looks, np.array([[0.25, 0.5], [0.0, 0.125]]))
    first, second = (look_frame(*scene, at) for at in (0, 1))
    assert first.says == (
        "Before 'star': 25% on object 1, 50% on object 2, 25% elsewhere.")
    assert first.layers[0] == second.layers[0], "stored once"
    assert first.layers[1] != second.layers[1]
    for x, y in re.findall(r"<rect x='([\d.]+)' y='([\d.]+)'", "".join(first.layers)):
        assert 0 <= float(x) < SIZE[0] and 0 <= float(y) < SIZE[1]
