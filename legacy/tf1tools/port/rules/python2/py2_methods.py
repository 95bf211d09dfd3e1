"""Replaces dictionary methods such as `iteritems()` and `has_key()`.

In Python 2, these methods returned iterators or tested for a key. A function of the
same name in a module is not changed: `six.iteritems` stays, because six is still
available and works with both versions of Python.

Since: Python 3.0
Lesson: 10a
Side: Python 2.7

Before:

    for k, v in d.iteritems():
        print k

After:

    for k, v in d.items():
        print(k)

Stays:

    import six
    for k, v in six.iteritems(d):
        print(k)
"""

from tf1tools.port.rule import Rule

rule = Rule(__name__, __doc__, __file__)

rule.rows({old: (new, "of a dictionary") for old, new in {
    ".iteritems()": ".items", ".itervalues()": ".values", ".iterkeys()": ".keys",
    ".viewitems()": ".items", ".viewkeys()": ".keys", ".viewvalues()": ".values",
    ".has_key(...)": ".__contains__",
}.items()}, of=("dict", "h5py", "numpy", "pandas", "scipy", "simplejson", "six", "tf",
                     "ujson", "yaml"))
