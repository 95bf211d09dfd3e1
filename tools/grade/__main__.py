"""`python -m tools.grade FOLDER`."""

import sys

from tools.grade import main

if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit("\nstopped")
