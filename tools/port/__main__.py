"""`python -m tools.port PATH`."""

import gc
import sys

from tools.environment import go_where_called
from tools.port import main

go_where_called()
gc.set_threshold(100_000, 50, 50)  # syntax trees are many objects, and they stay
status = main()
gc.freeze()  # nor are they looked through at the end, which took three seconds
sys.exit(status)
