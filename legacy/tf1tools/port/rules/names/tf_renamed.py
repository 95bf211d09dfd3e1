"""Replaces names that TensorFlow moved or renamed before version 2.

These are names from before TensorFlow 1.0, and names from inside the package. Each row
has the old name and the name in `tensorflow.compat.v1`. A row also applies to all names
that begin with its old name, and the longest old name takes precedence. The rows are in
`tf_renamed.txt`.

Since: TensorFlow 1.0
Lesson: 10a
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
