"""Colours of figures under three kinds of colour blindness, computed.

Simulated are full protanopia, deuteranopia and tritanopia, by the matrices of Machado,
Oliveira and Fernandes, "A physiologically-based model for simulation of color vision
deficiency", 2009. Distances are those of CIELAB, contrasts those of WCAG 2.
"""

import itertools

import numpy as np
import pytest

from helpers import lesson
from helpers.plots import graphs

SIGHT = {
    "all cones": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
                   [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
                     [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
                   [0.004733, 0.691367, 0.303900]],
}
TO_XYZ = np.array([[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750],
                   [0.0193339, 0.1191920, 0.9503041]])
WHITE = TO_XYZ @ np.ones(3)
APART = 10  # in CIELAB; 2.3 is barely seen


def linear(colour):
    """Red, green and blue of `#rrggbb`, in light."""
    value = np.array([int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def lab(light):
    """CIELAB of light."""
    ratio = TO_XYZ @ light / WHITE
    root = np.where(ratio > (6 / 29) ** 3, np.cbrt(ratio),
                    ratio / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * root[1] - 16, 500 * (root[0] - root[1]),
                     200 * (root[1] - root[2])])


def distance(one, other, sight):
    seen = [lab(np.clip(np.array(SIGHT[sight]) @ linear(c), 0, 1))
            for c in (one, other)]
    return np.linalg.norm(seen[0] - seen[1])


def nearest(colours, sight):
    return min(distance(a, b, sight) for a, b in itertools.combinations(colours, 2))


def contrast(one, other):
    light, dark = sorted((TO_XYZ[1] @ linear(c) for c in (one, other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_the_measure_knows_what_is_alike_and_what_is_not():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert lab(np.ones(3)) == pytest.approx([100, 0, 0], abs=1e-6)
    # Matplotlib's own orange and green, which this course therefore does not use.
    assert distance("#ff7f0e", "#2ca02c", "all cones") > 60
    assert distance("#ff7f0e", "#2ca02c", "protanopia") < 5


@pytest.mark.parametrize("sight", SIGHT)
def test_lines_and_boxes_differ_in_every_sight(sight):
    assert nearest(lesson.LINE_COLOURS, sight) > APART
    assert nearest([*graphs.COLOURS, graphs.MIXED], sight) > APART


def test_lines_are_seen_on_white_and_text_is_read_on_boxes():
    assert all(contrast(c, "#ffffff") >= 3 for c in lesson.LINE_COLOURS[:4])
    assert all(contrast(c, "#000000") >= 7 for c in graphs.COLOURS)


def test_a_lesson_draws_with_these_lines():
    import matplotlib.pyplot as plt

    lesson.begin("tests")
    fig, ax = plt.subplots()
    drawn = [ax.plot([0, 1])[0].get_color() for _ in lesson.LINE_COLOURS]
    plt.close(fig)
    assert drawn == list(lesson.LINE_COLOURS)
