"""`tf.svd` took `compute_uv` before `full_matrices`; they changed places in 1.0.

By position nobody can tell which was meant, so the line is left.

Since: TensorFlow 1.0
Sitting: 10a
Side: TensorFlow 0.12

Left:

    a = tf.neg(b)
    s = tf.svd(x, False, True)  # left: name compute_uv= and full_matrices=
    s = tf.svd(x, compute_uv=False)
"""

from tf1tools.port.rule import Rule

rule = Rule(__name__, __doc__, __file__)


@rule.call("tf.svd", "tf.linalg.svd")
def order(use):
    """Leaves what names neither."""
    if use.call.positional > 1:
        yield use.left("name compute_uv= and full_matrices=, which changed places")
