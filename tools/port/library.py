"""Names of Python 2, of its library and of old NumPy: what they are called today."""

import functools
import importlib
import importlib.util
import sys
import types
import warnings

MODULES = {
    "urllib2": "urllib.request", "urlparse": "urllib.parse", "httplib": "http.client",
    "cookielib": "http.cookiejar", "BaseHTTPServer": "http.server",
    "HTMLParser": "html.parser", "SocketServer": "socketserver",
    "cPickle": "pickle", "StringIO": "io", "cStringIO": "io", "Queue": "queue",
    "ConfigParser": "configparser", "Tkinter": "tkinter", "thread": "_thread",
    "commands": "subprocess", "__builtin__": "builtins", "copy_reg": "copyreg",
    "input_data": "tutorials_mnist",  # the tutorials' file, as it was copied about
}
BUILTINS = {
    "xrange": "range", "raw_input": "input", "unicode": "str", "basestring": "str",
    "long": "int", "unichr": "chr", "file": "open", "reduce": "functools.reduce",
    "reload": "importlib.reload", "intern": "sys.intern", "buffer": "memoryview",
    "execfile": "", "cmp": "", "apply": "", "coerce": "",
}
METHODS = {
    ".iteritems()": "items", ".itervalues()": "values", ".iterkeys()": "keys",
    ".viewitems()": "items", ".has_key()": "__contains__",
    ".keys()[]": "keys", ".values()[]": "values", ".items()[]": "items",
    # TensorFlow's flags, which are absl's today; both look at the command line.
    "._parse_flags()": "flag_values_dict", ".__flags": "flag_values_dict()",
    ".tostring()": "tobytes",  # an array's
}
OF_LIBRARIES = ("._parse_flags()", ".__flags", ".tostring()")  # under any Python
CALLS = {
    "numpy.load(encoding=)": "allow_pickle=True as well, which was the default",
    "numpy.fromstring()": "numpy.frombuffer(...).copy(), for bytes",
    "string.join": "' '.join(words)",
    "sys.setdefaultencoding": "nothing: delete the line",
}
_NAMES = {
    "urllib.request": "urlretrieve urlopen URLopener FancyURLopener pathname2url",
    "urllib.parse": "urlencode quote unquote quote_plus unquote_plus",
    "collections.abc": "Mapping MutableMapping Sequence Iterable Iterator Callable "
                       "Hashable Set Sized Container",
}
NAMES = {
    **{f"{new.partition('.')[0]}.{name}": f"{new}.{name}"
       for new, names in _NAMES.items() for name in names.split()},
    "itertools.izip": "zip", "itertools.imap": "map", "itertools.ifilter": "filter",
    "itertools.izip_longest": "itertools.zip_longest",
    "string.letters": "string.ascii_letters", "string.maketrans": "str.maketrans",
    "string.lowercase": "string.ascii_lowercase",
    "string.uppercase": "string.ascii_uppercase",
    "os.getcwdu": "os.getcwd", "sys.maxint": "sys.maxsize",
    "time.clock": "time.perf_counter", "fractions.gcd": "math.gcd",
    "inspect.getargspec": "inspect.getfullargspec",
    "numpy.int": "int", "numpy.float": "float",
    "numpy.object": "object", "numpy.str": "str", "numpy.complex": "complex",
    "numpy.unicode": "str", "numpy.float_": "numpy.float64",
    "numpy.complex_": "numpy.complex128", "numpy.string_": "numpy.bytes_",
    "numpy.unicode_": "numpy.str_", "numpy.Inf": "numpy.inf",
    "numpy.Infinity": "numpy.inf", "numpy.infty": "numpy.inf",
    "numpy.NaN": "numpy.nan", "numpy.NAN": "numpy.nan", "numpy.product": "numpy.prod",
    "numpy.cumproduct": "numpy.cumprod", "numpy.alltrue": "numpy.all",
    "numpy.sometrue": "numpy.any", "numpy.in1d": "numpy.isin",
    "numpy.trapz": "numpy.trapezoid", "numpy.round_": "numpy.round",
}
# Only these are looked into: they are there, and importing them does nothing.
_KNOWN = (sys.stdlib_module_names | {"numpy", "tf_keras"}) - {"antigravity", "this"}
_BESIDE = ("tutorials_mnist", "tf")


@functools.cache
def gone(name: str) -> bool:
    """Whether a name of Python or of a library is there no more.

    Args:
      name: `numpy.float`, `urllib2`, `xrange`, `.iteritems()`; a single word is a
        package or a built-in function.
    """
    if name.startswith("."):
        return name in METHODS
    if name in CALLS:
        return True
    package, dot, _ = name.partition(".")
    if package in MODULES or name in BUILTINS:
        return not dot or today(name) is None
    if package not in _KNOWN:
        return not dot and package not in _BESIDE and \
            importlib.util.find_spec(package) is None
    return not resolves(name)


def today(name: str) -> str | None:
    """Returns the name of today, or `None` where nobody can say."""
    if name.startswith("."):
        return METHODS[name]
    if name in BUILTINS:
        return BUILTINS[name] or None
    if name in NAMES:
        return NAMES[name]
    package, dot, rest = name.partition(".")
    if package not in MODULES:
        return None
    new = f"{MODULES[package]}{dot}{rest}"
    return new if resolves(new) or new.startswith(_BESIDE) else None


def instead(name: str) -> str:
    """Returns what to write for a name that is gone."""
    new = today(name)
    if name in CALLS:
        return CALLS[name]
    if name.endswith("[]"):
        return f"list(...): {name[:-2]} is no list in Python 3"
    if new is not None:
        return f"{new}, in Python 3" if not name.startswith("numpy") else new
    if "." in name or name in BUILTINS:
        return "nothing has this name today: write what it did"
    return f"the package {name}, which is not installed here"


@functools.cache
def resolves(name: str) -> bool:
    """Whether a dotted name is there; what is no module's own is taken for there."""
    package, *rest = name.split(".")
    with warnings.catch_warnings():  # NumPy warns of names that it will take
        warnings.simplefilter("ignore")
        try:
            value = importlib.import_module(package)
            for number, part in enumerate(rest, 1):
                if not isinstance(value, types.ModuleType):
                    return True
                if not hasattr(value, part):
                    importlib.import_module(".".join([package, *rest[:number]]))
                value = getattr(value, part)
        except Exception:  # whatever an import says
            return False
    return True
