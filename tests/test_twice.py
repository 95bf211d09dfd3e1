"""Runs each cell of the core lessons twice in a row, as impatient readers do."""

import pytest

from tools import notebook as nb
from tools import readme, run_lessons

pytestmark = pytest.mark.slow

# A short training is run again like a long one.
SHORT = {"08a": {"PICTURES": 1000, "STEPS": 40}}


EACH_TIME = ("01a", "02a", "05a")  # seconds each; the others run once a week


@pytest.mark.parametrize("number", [
    number if number in EACH_TIME else pytest.param(number, marks=pytest.mark.weekly)
    for number in readme.CORE])
def test_a_cell_that_is_run_again_says_the_same(number):
    lessons = nb.lessons(readme.ROOT, [number])
    assert run_lessons.run(lessons, False, SHORT.get(number), twice=True) == []
