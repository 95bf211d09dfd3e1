"""`lesson.begin` leaves Python's collector at work, and hides nothing of the user's."""

import subprocess
import sys

PROGRAM = """
import gc
from helpers import lesson
lesson.begin("tests")
assert gc.isenabled()
frozen = gc.get_freeze_count()
assert frozen > 100_000, frozen
mine = []
mine.append(mine)
lesson.begin("tests")  # a cell that is run again
assert gc.isenabled() and gc.get_freeze_count() <= frozen
assert any(one is mine for one in gc.get_objects())
"""


def test_the_collector_works_again_and_a_second_call_hides_nothing():
    subprocess.run([sys.executable, "-c", PROGRAM], check=True)
