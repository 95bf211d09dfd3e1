"""Replaces the array method `tostring()`, which returned bytes, with `tobytes()`.

Since: NumPy 2.3
Lesson: 10a
Side: Python 3.7 with NumPy 1.15

Before:

    import numpy as np
    def text(size):
        pictures = [np.zeros(size), np.ones(size)]
        return [one.tostring() for one in pictures]

After:

    import numpy as np
    def text(size):
        pictures = [np.zeros(size), np.ones(size)]
        return [one.tobytes() for one in pictures]

Stays:

    import xml.etree.ElementTree as ET
    ET.tostring(root)
    class A:
        def tostring(self): pass
    A().tostring()
"""

from tf1tools.port.rule import Rule

rule = Rule(__name__, __doc__, __file__)

rule.rows({".tostring()": (".tobytes", "of an array")}, of=(
    "numpy", "array", "cv2", "h5py", "imageio", "matplotlib", "pandas", "PIL", "scipy",
    "skimage", "tf"))
