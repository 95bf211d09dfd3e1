"""Replaces `getchildren()` of an XML element with `list(element)`.

An element of `lxml` still has the method, and a class of the project may define it.

Since: Python 3.9
Lesson: 10a
Side: Python 3.7

Before:

    import xml.etree.ElementTree as ET
    for item in ET.parse("a.xml").getroot().iter("object"):
        print([one.text for one in item.find("box").getchildren()])

After:

    import xml.etree.ElementTree as ET
    for item in ET.parse("a.xml").getroot().iter("object"):
        print([one.text for one in list(item.find("box"))])

Stays:

    from lxml import etree
    print(etree.fromstring(text).getchildren())

Left:

    import xml.etree.ElementTree as ET
    import matplotlib.pyplot as plt
    import tensorflow as tf
    tf.Session()
    ET.parse("a.xml")
    plt.figure().getchildren()  # left: write list(...) if this is an XML element
"""

import ast

from tf1tools.port.reading.project import Certainty
from tf1tools.port.rule import Change, Rule

rule = Rule(__name__, __doc__, __file__)


@rule.node(ast.Call)
def children(node, part):
    """Replaces `getchildren()` of an XML element with `list(...)`."""
    project = part.file.project
    if getattr(node.func, "attr", "") != "getchildren" or node.args or \
            "getchildren" in project.methods:
        return
    element = node.func.value
    certainty = project.gives({"xml"}, element, part)
    if certainty is Certainty.YES:
        start, end = part.text.span(node)
        name = part.text.span(node.func)[1] - len("getchildren")
        dot = part.text.text.rindex(".", start, name)
        order = part.depth(node)
        yield Change(part, start, start, "list(", order)
        yield Change(part, dot, end, ")", -order)
    elif certainty:
        yield part.left(node, "write list(...) if this is an XML element")
