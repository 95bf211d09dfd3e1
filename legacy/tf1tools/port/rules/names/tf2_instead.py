"""What TensorFlow 2 has in place of a name that `compat.v1` has.

Nothing is written for it: the old program runs on `compat.v1`, and the report says what
to use when it is written anew. The rows are in `tf2_instead.txt`; "=" is the name
itself. Where no row says anything, the course's table of old names is asked, and then
TensorFlow's own.

Since: TensorFlow 2.0
Sitting: 10a
Side: none: nothing is written

Report:

    tf.train.MomentumOptimizer(0.1, 0.9)  # moved: tf.keras.optimizers.SGD(momentum=...)
    tf.train.RMSPropOptimizer(0.1)  # moved: its average begins at 0
    tf.image.resize_bilinear(x, [2, 2])  # moved: half-pixel centres
    tf.flags.FLAGS.batch_size  # moved: argparse
    tf.python.framework.ops  # moved: tf, tf.compat.v1
    tf.examples.tutorials.mnist.input_data  # gone: tf.keras.datasets.mnist
    x.shape[1].value  # moved: an axis is an int
    tf.Session()  # moved: tf.function
    tf.saved_model.load(session, tags, folder)  # replaced: compat.v1's with a session
    tf.summary.scalar("a", x, collections=[])  # replaced: without collections=
    tf.argmax(x, dimension=1)  # replaced: axis
    tf.argmax(x, **options)  # replaced: see that the dictionary has none of
"""

from tf1tools.port.rule import Rule

rule = Rule(__name__, __doc__, __file__)

rule.rows()
