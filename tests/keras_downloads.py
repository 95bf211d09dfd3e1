"""Which files a module of the installed Keras downloads, read from its source."""

import ast
import inspect


def keras_downloads(module) -> set[tuple[str, str, str]]:
    """Returns name, address and MD5 of each `get_file` call in a module of Keras."""
    nodes = ast.walk(ast.parse(inspect.getsource(module)))
    calls = [node for node in nodes if isinstance(node, ast.Call)
             and ast.unparse(node.func).endswith("get_file")]
    return {
        (call.args[0].value, getattr(module, call.args[1].id),
         next(k.value.value for k in call.keywords if k.arg == "file_hash"))
        for call in calls
    }
