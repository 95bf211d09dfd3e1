"""Renames methods of Python's library, such as `isAlive()`.

Methods such as `assertEquals` of a test case and `isAlive` of a thread existed in every
Python that TensorFlow 1 supported. A method that the project defines itself is not
changed, and neither is a method of an object from another library.

Since: Python 3.9, 3.12
Lesson: 10a
Side: Python 3.7

Before:

    import threading, unittest
    import xml.etree.ElementTree as ET
    threads = [threading.Thread() for _ in range(2)]
    for thread in threads:
        print(thread.isAlive())
    class TheTest(unittest.TestCase):
        def test(self):
            self.assertItemsEqual([2, 1], found)
    for one in ET.parse("a.xml").getiterator("object"):
        print(one)

After:

    import threading, unittest
    import xml.etree.ElementTree as ET
    threads = [threading.Thread() for _ in range(2)]
    for thread in threads:
        print(thread.is_alive())
    class TheTest(unittest.TestCase):
        def test(self):
            self.assertCountEqual([2, 1], found)
    for one in ET.parse("a.xml").iter("object"):
        print(one)

Stays:

    class Robot:
        def isAlive(self):
            return True
    print(Robot().isAlive())

Left:

    import threading
    import tensorflow as tf
    import matplotlib.pyplot as plt
    tf.Session()
    plt.figure().isAlive()  # left: write is_alive if this is a method of a thread
"""

from tf1tools.port.rule import Rule

rule = Rule(__name__, __doc__, __file__)

rule.rows({".isAlive()": (".is_alive", "of a thread")},
          of=("threading", "multiprocessing", "tf"))
rule.rows(dict.fromkeys([".getiterator()", ".getiterator(...)"],
                        (".iter", "of an element")),
          of=("xml", "lxml"))
rule.rows({".readfp(...)": (".read_file", "of a parser")},
          of=("configparser", "ConfigParser", "six"))
rule.rows({f".{old}(...)": (f".{new}", "of a test case") for old, new in {
    "assert_": "assertTrue",
    "assertEquals": "assertEqual",
    "assertNotEquals": "assertNotEqual",
    "assertAlmostEquals": "assertAlmostEqual",
    "assertNotAlmostEquals": "assertNotAlmostEqual",
    "assertItemsEqual": "assertCountEqual",
    "assertRegexpMatches": "assertRegex",
    "assertNotRegexpMatches": "assertNotRegex",
    "assertRaisesRegexp": "assertRaisesRegex",
}.items()}, of=("unittest", "unittest2", "absl", "testtools", "tf"))
