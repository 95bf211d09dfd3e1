"""What the tests of queues share: a pipeline that counts, and a session to run it."""

import tensorflow as tf
import tensorflow.compat.v1 as tf1


def numbers(count=20, batch=2, *, epochs=1, threads=1, smaller=True, shuffle=False,
            bad=None):
    """Returns a graph whose batches count to `count`; item `bad` cannot be read."""
    with tf.Graph().as_default() as graph:
        [one] = tf1.train.slice_input_producer(
            [tf.range(count)], num_epochs=epochs, shuffle=shuffle, seed=3
        )
        if bad is not None:
            readable = tf.debugging.Assert(tf.not_equal(one, bad), ["bad item", one])
            with tf.control_dependencies([readable]):
                one = tf.identity(one)
        options = {"num_threads": threads, "allow_smaller_final_batch": smaller}
        if shuffle:
            values = tf1.train.shuffle_batch([one], batch, 53, 17, seed=5, **options)
        else:
            values = tf1.train.batch([one], batch, **options)
    return graph, values


def started(graph, config=None):
    """Returns an open session on a graph, its variables initialised."""
    session = tf1.Session(graph=graph, config=config)
    with graph.as_default():
        session.run(tf1.global_variables_initializer())
        session.run(tf1.local_variables_initializer())
    return session
