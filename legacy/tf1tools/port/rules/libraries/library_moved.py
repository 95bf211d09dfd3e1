"""Replaces names that Pillow, SciPy, OpenCV and other libraries moved or removed.

The other libraries are scikit-learn, scikit-image and pandas. If a package is not
installed, its import is left for you.

Since: Pillow 10, SciPy 1.3 to 1.14, scikit-learn 0.20 to 1.2, OpenCV 3, pandas 1.0
Lesson: 10a
Side: none: no old version is installed beside today's

Before:

    from PIL import Image
    import PIL.Image
    print(image.resize((8, 8), Image.ANTIALIAS), PIL.Image.CUBIC)

After:

    from PIL import Image
    import PIL.Image
    print(image.resize((8, 8), Image.LANCZOS), PIL.Image.BICUBIC)

Before:

    from PIL.Image import ANTIALIAS
    print(ANTIALIAS)

After:

    from PIL.Image import LANCZOS as ANTIALIAS
    print(ANTIALIAS)

Left:

    import cv2  # left: not installed
    import tensorflow as tf
    tf.Session()
    video = cv2.VideoWriter("a.avi", cv2.cv.CV_FOURCC("m", "p", "4", "v"), 4, (8, 8))

Left:

    from sklearn.cross_validation import KFold  # left: not installed
    KFold(9, n_folds=3)  # left: split(x, y)
    import scipy.ndimage  # left: not installed
    scipy.ndimage.imread("a.png")  # left: PIL.Image.open
"""

from tf1tools.port.rule import Rule

rule = Rule(__name__, __doc__, __file__)

rule.rows()
