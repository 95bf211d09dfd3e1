"""`python -m tools.grade FOLDER`."""

import sys

from tools.grade import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
