"""Makes implicit relative imports explicit, because Python 3 requires it.

Python 2 looked for a module in the folder of the importing file first, so `import
utils` in `core/solver.py` meant `core/utils.py`. In Python 3, this is still true for a
program that is started in `core`, because the folder of the program is in `sys.path`.
It is not true for a file that is imported as a part of the package. The rule therefore
looks at where the project's programs start. If a file is used in both ways, its import
is left for you.

Since: Python 3.0
Lesson: 10a
Side: Python 2.7

Before:

    # file: train.py
    from core.solver import solve
    print(solve())
    # file: core/__init__.py
    # file: core/solver.py
    import utils, os
    from utils import helper
    from core.utils import SIZE
    def solve():
        return helper(utils.SIZE)
    # file: core/utils.py
    SIZE = 3
    def helper(n):
        return n + 1

After:

    # file: train.py
    from core.solver import solve
    print(solve())
    # file: core/solver.py
    from . import utils; import os
    from .utils import helper
    from core.utils import SIZE
    def solve():
        return helper(utils.SIZE)

Before:

    # file: core/__init__.py
    # file: core/train.py
    import utils
    print(utils.SIZE)
    # file: core/utils.py
    SIZE = 3

After:

    # file: core/train.py
    import utils
    print(utils.SIZE)
"""

import ast

from tf1tools.port.rule import Rule
from tf1tools.port.table.known import is_package
from tf1tools.port.text.syntax import modules_of

rule = Rule(__name__, __doc__, __file__)


@rule.node(ast.Import, ast.ImportFrom)
def say_from_where(node, part):
    """Adds the leading dot to imports from the file's own folder."""
    project, path = part.file.project, part.file.path
    homes = project.homes(part.file)
    if not project.holds_package(path.parent) or homes == {path.parent}:
        return
    beside = [name for name in modules_of(node) if not is_package(name) and {
        path.with_name(f"{name.partition('.')[0]}.py"),
        path.with_name(name.partition(".")[0]) / "__init__.py"} & project.files.keys()]
    if not beside:
        return
    if path.parent in homes or any("." in name for name in beside) and isinstance(
            node, ast.Import):
        yield part.left(node, f"only programs that are started in this folder find "
                              f"{beside[0]}: import it in a way that works for all")
    elif isinstance(node, ast.ImportFrom):
        start = part.text.text.index(node.module, part.text.span(node)[0] + 4)
        yield part.instead(node, part.written(node).replace(
            node.module, f".{node.module}", 1)) if start else None
    else:
        yield part.instead(node, "; ".join(
            ("from . import " if alias.name in beside else "import ")
            + part.written(alias) for alias in node.names))
