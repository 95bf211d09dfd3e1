#!/usr/bin/env python3
"""Runs `tf1` from the checkout. `port` and `explain` need Python and nothing else."""

import sys

if sys.version_info < (3, 10):  # noqa: UP036 - this file is read by any Python, the package is not
    sys.exit("tf1: this is Python {}.{}, but tf1 needs Python 3.10 or newer".format(
        *sys.version_info))

from tf1tools.__main__ import main

if __name__ == "__main__":
    sys.exit(main())
