"""`tostring()` of an array is `tobytes()`; what it gave were bytes all along.

Since: NumPy 2.3
Sitting: 10a
Side: Python 3.7 with NumPy 1.15

Before:

    x.tostring()

After:

    x.tobytes()

Stays:

    import xml.etree.ElementTree as ET
    ET.tostring(root)
    class A:
        def tostring(self): pass
    A().tostring()
"""

from tools.port.rule import rows

rows({".tostring()": ".tobytes"})
