"""Marks the imports of packages that are neither installed nor in the project.

If a program adds a folder to `sys.path`, the modules in that folder belong to the
project.

Since: always
Lesson: 10a
Side: none

Left:

    import cv2_of_1999  # left: not installed
    try:
        import cupy_of_1999
    except ImportError:
        pass

Before:

    # file: main.py
    import sys
    sys.path.insert(0, "src")
    import transform
    print(transform.SIZE)
    # file: src/transform.py
    SIZE = 3

After:

    # file: main.py
    import sys
    sys.path.insert(0, "src")
    import transform
    print(transform.SIZE)
"""

from tf1tools.port.rule import Rule, row_of
from tf1tools.port.table.known import BESIDE, is_package
from tf1tools.port.text.syntax import modules_of

rule = Rule(__name__, __doc__, __file__)


@rule.file
def missing(file, work):
    """Marks the imports of packages that are not installed."""
    for part in file.parts:
        for node in part.imports:
            for name in modules_of(node):
                package = name.partition(".")[0]
                row = row_of(name)
                elsewhere = row and row.new.partition(".")[0] != package
                if not (is_package(package) or elsewhere or file.project.own(
                        file.path, name) or file.project.is_own(file.path, name)
                        or package in BESIDE):
                    yield part.left(node, f"install the package {package}, which is "
                                          "not installed here")
