"""Dictionaries of Python 2 had methods that give iterators.

A function of that name in a module is no method of a dictionary: `six.iteritems` stays,
for six is there today and knows both Pythons.

Since: Python 3.0
Sitting: 10a
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
