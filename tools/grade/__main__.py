"""`python -m tools.grade FOLDER`."""

import sys

from tools.environment import go_where_called
from tools.grade import main

if __name__ == "__main__":
    go_where_called()
    sys.exit(main(sys.argv[1:]))
