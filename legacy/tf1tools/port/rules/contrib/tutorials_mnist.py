"""Replaces the MNIST reader of the tutorials with the module `tutorials_mnist`.

`tensorflow.examples.tutorials.mnist.input_data` downloaded four files and returned
batches. TensorFlow 2 no longer has it. The module `tutorials_mnist.py` reads the same
files, or those of Keras. Because it is imported by its bare name, it is put into the
folder in which the program starts.

Since: TensorFlow 2.0
Lesson: 10a
Side: TensorFlow 1.15

Before:

    # file: train.py
    from lib import digits
    # file: lib/__init__.py
    # file: lib/digits.py
    from tensorflow.examples.tutorials.mnist import input_data
    mnist = input_data.read_data_sets("MNIST_data", one_hot=True)

After:

    # file: tutorials_mnist.py
    # file: lib/digits.py
    import tensorflow.compat.v1 as tf
    tf.disable_v2_behavior()
    import tutorials_mnist as input_data
    mnist = input_data.read_data_sets("MNIST_data", one_hot=True)

A package that is imported by a name made at run time is reached from the folder above:

Before:

    # file: main.py
    import importlib
    print(importlib.import_module("digits").read)
    # file: digits/__init__.py
    from tensorflow.examples.tutorials.mnist import input_data
    read = input_data.read_data_sets

After:

    # file: tutorials_mnist.py
    # file: digits/__init__.py
    import tensorflow.compat.v1 as tf
    tf.disable_v2_behavior()
    import tutorials_mnist as input_data
    read = input_data.read_data_sets
"""

from tf1tools.port.rule import Need, Rule

rule = Rule(__name__, __doc__, __file__)

rule.rows({
    "tf.examples.tutorials.mnist.input_data": "tutorials_mnist",
    "tf.contrib.learn.datasets.mnist": "tutorials_mnist",
    "tf.contrib.learn.python.learn.datasets.mnist": "tutorials_mnist",
    "input_data": "tutorials_mnist",  # a copy of the tutorials' file
})


@rule.writes("tutorials_mnist")
def stand_in(new, part):
    """Requires the module `tutorials_mnist` next to the program."""
    yield Need(part, "beside tutorials_mnist.py")
