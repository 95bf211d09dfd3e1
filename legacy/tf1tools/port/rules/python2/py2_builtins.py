"""Replaces built-in functions that Python 3 has renamed or removed.

Since: Python 3.0
Lesson: 10a
Side: Python 2.7

Before:

    print reduce(max, xrange(3))

After:

    import functools
    print(functools.reduce(max, range(3)))

Left:

    execfile("a.py")  # left: no current package has it
    print len(buffer(b"ab"))  # left: write memoryview(...) of bytes
"""

from tf1tools.port.rule import Rule

rule = Rule(__name__, __doc__, __file__)

TODAY = {
    "xrange": "range", "raw_input": "input", "unicode": "str", "basestring": "str",
    "long": "int", "unichr": "chr", "file": "open", "reduce": "functools.reduce",
    "reload": "importlib.reload", "intern": "sys.intern",
    "execfile": "", "cmp": "", "apply": "", "coerce": "",
}
rule.rows({"builtins.buffer": ("", "write memoryview(...) of bytes, not of text")})
rule.rows({f"builtins.{old}": new for old, new in TODAY.items()})
