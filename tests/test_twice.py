"""The core sittings with every cell run twice in a row, as impatient readers do."""

import pytest

from tools import notebook as nb
from tools import readme, run_lessons

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]


@pytest.mark.parametrize("number", readme.CORE)
def test_a_cell_that_is_run_again_says_the_same(number):
    assert run_lessons.run(nb.lessons(readme.ROOT, [number]), False, twice=True) == []
