"""TensorFlow's flags are absl's today, and looked at by another method.

No program is one of Python 2 by these methods alone: what divides stays.

Since: TensorFlow 1.5
Sitting: 10a
Side: TensorFlow 1.15

Before:

    FLAGS = tf.flags.FLAGS
    FLAGS._parse_flags()
    print(FLAGS.__flags, 6 / 2)

After:

    FLAGS = tf.flags.FLAGS
    FLAGS.flag_values_dict()
    print(FLAGS.flag_values_dict(), 6 / 2)

Stays:

    FLAGS = tf.flags.FLAGS
    print(FLAGS.batch_size)
    tf.flags.FLAGS(x)
"""

from tf1tools.port.rule import Rule

rule = Rule(__name__, __doc__, __file__)

rule.rows({"._parse_flags()": (".flag_values_dict", "of flags"),
           ".__flags": (".flag_values_dict()", "of flags")}, of=("absl", "tf"))
