"""The one visual language: it is read, told apart, and every figure speaks it."""

import itertools
import re

import nbformat
import numpy as np
import pytest

from helpers import language
from helpers.files import ROOT
from tools import notebook as nb

# As people without one kind of cone see: linear RGB to linear RGB.
# Source: Machado, Oliveira and Fernandes, "A physiologically-based model for
# simulation of color vision deficiency", 2009.
EYES = {
    "all cones": np.eye(3),
    "no L": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
             [-0.003882, -0.048116, 1.051998]],
    "no M": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
             [-0.011820, 0.042940, 0.968881]],
    "no S": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
             [0.004733, 0.691367, 0.303900]],
}
TO_XYZ = np.array([[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750],
                   [0.0193339, 0.1191920, 0.9503041]])


def linear(colour):
    c = np.array([int(colour[k:k + 2], 16) / 255 for k in (1, 3, 5)])
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def contrast(a, b):
    """As WCAG 2.2 counts it: 4.5 for text, 3 for lines, at least."""
    dark, light = sorted(0.05 + (TO_XYZ @ linear(colour))[1] for colour in (a, b))
    return light / dark


def distance(a, b, eye):
    """In CIELAB: 2 is a difference that is seen side by side."""
    places = []
    for colour in (a, b):
        seen = np.clip(np.array(EYES[eye]) @ linear(colour), 1e-3, 1)
        x, y, z = np.cbrt(TO_XYZ @ seen / [0.95047, 1, 1.08883])
        places.append([116 * y, 500 * (x - y), 200 * (y - z)])
    return np.linalg.norm(np.subtract(*places))


@pytest.mark.parametrize("colour", [
    *language.TOWER, language.LOST, language.SOFT, language.INK])
def test_lines_are_read_as_text_on_paper_and_in_the_dark(colour):
    assert contrast(colour, language.PAPER) >= 4.5
    if colour in language.DARK:
        assert contrast(language.DARK[colour], language.DARK[language.PAPER]) >= 4.5


def test_black_text_is_read_on_every_fill():
    for kind, look in language.FILLS.items():
        if kind != "control":  # black: its text is white
            assert contrast(language.INK, look["facecolor"]) >= 7


@pytest.mark.parametrize("eye", EYES)
def test_no_two_colours_look_alike(eye):
    for colours in (language.TOWER, language.TINT):
        for a, b in itertools.combinations(colours, 2):
            assert distance(a, b, eye) > 10, (a, b)
    for tint in language.TINT:
        assert distance(tint, language.LOST_TINT, eye) > 10


def test_what_is_red_has_a_second_sign():
    red = {language.LOST, language.LOST_TINT}
    for kind, look in language.FILLS.items():
        assert bool(red & set(look.values())) == (kind in ("lost", "starves"))
        assert ("hatch" in look) == (kind in ("lost", "starves", "waits"))


def test_a_fifth_tower_begins_anew_and_an_unknown_word_is_refused():
    assert language.fill(5) == language.fill(1) != language.fill(2)
    with pytest.raises(ValueError, match="Unknown fill 'dead'. Choose one of 'plain'"):
        language.fill("dead")


# A colour of its own, beside those of the language.
OWN = re.compile(r"#[0-9a-f]{6}\b|[\"'](?:tab:\w+|C\d|Set\d|tab\d+)[\"']", re.I)


def test_there_is_one_palette():
    sources = {path.name: path.read_text("utf-8")
               for path in ROOT.glob("helpers/**/*.py") if path.stem != "language"}
    for path in nb.lessons(ROOT):
        cells = nbformat.read(path, as_version=4).cells
        sources[nb.number(path)] = "\n".join(
            cell.source for cell in cells if cell.cell_type == "code")
    found = {name for name, text in sources.items() if OWN.search(text)}
    assert not found
