"""Runs an old program with a TensorFlow that only writes down what is asked of it.

    python recorder.py PROGRAM

Prints a JSON list of `[line, name]`, one for each name of TensorFlow that the program
touches. Nothing else of TensorFlow is there.
"""

import importlib.abc
import importlib.machinery
import json
import sys
import types


class Anything:
    """A value that TensorFlow would have made."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Anything()

    def __call__(self, *args, **kwargs):
        return Anything()

    def __iter__(self):
        return iter([Anything(), Anything()])

    def __enter__(self):
        return Anything()

    def __exit__(self, *error):
        return False

    def __getitem__(self, key):
        return Anything()

    def __add__(self, other):
        return Anything()

    __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __add__
    __matmul__ = __pow__ = __lt__ = __gt__ = __neg__ = __add__

    def __mro_entries__(self, bases):
        return ()


class Name(Anything):
    """A name of TensorFlow that was looked up, or a module of it."""

    def __init__(self, path):
        self.__dict__["_path"] = path

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return looked_up(f"{self._path}.{name}")


class Module(types.ModuleType):
    """A module of TensorFlow; whatever is asked for is there."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return looked_up(f"{self.__name__}.{name}")

    def __setattr__(self, name, value):
        if not isinstance(value, Module):  # an import would hide the next look-up
            super().__setattr__(name, value)


def looked_up(path):
    frame = sys._getframe(2)
    while frame and frame.f_code.co_filename != PROGRAM:
        frame = frame.f_back
    if frame:
        FOUND.append([frame.f_lineno, path.replace("tensorflow", "tf", 1)])
    return Name(path)


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "tensorflow":
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        return Module(spec.name)

    def exec_module(self, module):
        pass


PROGRAM, FOUND = sys.argv[1], []
sys.meta_path.insert(0, Finder())
with open(PROGRAM) as stream:
    code = compile(stream.read(), PROGRAM, "exec")
output, sys.stdout = sys.stdout, sys.stderr
exec(code, {"__name__": "__main__"})
json.dump(FOUND, output)
