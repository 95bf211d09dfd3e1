"""`python -m tools.port PATH`."""

import sys

from tools.port import main

sys.exit(main())
