"""A name that moved, or was renamed, before TensorFlow 2.

Names from before 1.0 and from inside the package; a row names the old one and that of
`tensorflow.compat.v1`. What began with the left begins with the right, and the longest
name counts. The rows are in `tf_renamed.txt`.

Since: TensorFlow 1.0
Sitting: 10a
Side: TensorFlow 0.12, 1.15

Before:

    x = tf.mul(tf.pack([a, b]), 2)
    tf.contrib.signal.stft(x, 4, 2)

After:

    x = tf.multiply(tf.stack([a, b]), 2)
    tf.signal.stft(x, 4, 2)

Report:

    tf.list_diff(a, b)  # gone: tf.compat.v1.setdiff1d
    tf.audio_summary("a", x)  # gone: summary.audio
    tf.nn.deconv2d(x)  # gone: tf.nn.conv2d_transpose
    tf.contrib.tpu.TPUEstimator()  # gone: TPUStrategy
"""

from tf1tools.port.rule import Rule

rule = Rule(__name__, __doc__, __file__)

rule.rows()
