"""How long a test waits: what takes longer hangs, however busy the machine is.

No test has a limit of its own. Eight busy processes beside two cores make a test ten
times as long, and one that is ended by a limit takes its worker with it.
"""

LIMIT = 1500  # seconds; pytest's own limit, in tools/run_tests.py, is above
