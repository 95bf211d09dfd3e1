"""Replaces modules and functions that Python 3 has renamed or moved.

Since: Python 3.0
Lesson: 10a
Side: Python 2.7

Before:

    import cPickle as pickle
    import urllib
    urllib.urlretrieve("http://a/b", "b")

After:

    import urllib.request
    import pickle
    import urllib
    urllib.request.urlretrieve("http://a/b", "b")

Left:

    import string
    print string.join(x, " ")  # left: ' '.join
"""

from tf1tools.port.rule import Rule

rule = Rule(__name__, __doc__, __file__)

rule.rows({
    "urllib2": "urllib.request", "urlparse": "urllib.parse", "httplib": "http.client",
    "cookielib": "http.cookiejar", "BaseHTTPServer": "http.server",
    "HTMLParser": "html.parser", "SocketServer": "socketserver", "cPickle": "pickle",
    "StringIO": "io", "cStringIO": "io", "Queue": "queue",
    "ConfigParser": "configparser", "Tkinter": "tkinter", "thread": "_thread",
    "commands": "subprocess", "__builtin__": "builtins", "copy_reg": "copyreg",
})
rule.rows({
    "urllib.urlretrieve": "urllib.request.urlretrieve",
    "urllib.urlopen": "urllib.request.urlopen",
    "urllib.URLopener": "urllib.request.URLopener",
    "urllib.FancyURLopener": "urllib.request.FancyURLopener",
    "urllib.pathname2url": "urllib.request.pathname2url",
    "urllib.urlencode": "urllib.parse.urlencode", "urllib.quote": "urllib.parse.quote",
    "urllib.unquote": "urllib.parse.unquote",
    "urllib.quote_plus": "urllib.parse.quote_plus",
    "urllib.unquote_plus": "urllib.parse.unquote_plus",
    "itertools.izip": "zip", "itertools.imap": "map",
    "itertools.ifilter": "filter",
    "itertools.izip_longest": "itertools.zip_longest",
    "string.letters": "string.ascii_letters", "string.maketrans": "str.maketrans",
    "string.lowercase": "string.ascii_lowercase",
    "string.uppercase": "string.ascii_uppercase", "os.getcwdu": "os.getcwd",
    "sys.maxint": "sys.maxsize",
    "string.join": ("", "' '.join(words)"),
    "sys.setdefaultencoding": ("", "delete the line"),
})
