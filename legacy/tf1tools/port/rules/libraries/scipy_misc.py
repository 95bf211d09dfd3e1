"""Marks the image functions of `scipy.misc`, which SciPy has removed.

Programs used `scipy.misc` to read, write and resize pictures. The line is left for you,
with a replacement, even if SciPy is not installed.

Since: SciPy 1.2
Lesson: 04a
Side: none: nothing is written

Left:

    import scipy.misc  # left: not installed
    scipy.misc.imsave("a.png", x)  # left: PIL.Image.fromarray
"""

from tf1tools.port.rule import Rule

rule = Rule(__name__, __doc__, __file__)

rule.rows({
    "scipy.misc.imread": ("", "numpy.asarray(PIL.Image.open(path))"),
    "scipy.misc.imsave": ("", "PIL.Image.fromarray(pixels).save(path), of uint8"),
    "scipy.misc.imresize": ("", "PIL.Image.fromarray(pixels).resize((width, height))"),
    "scipy.misc.imrotate": ("", "PIL.Image.fromarray(pixels).rotate(angle)"),
    "scipy.misc.toimage": ("", "PIL.Image.fromarray(pixels), of uint8"),
    "scipy.misc.bytescale": ("", "scale to 0..255 and .astype(numpy.uint8)"),
})
