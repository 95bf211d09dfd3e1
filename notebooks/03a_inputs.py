"""Measures what four ways to bring in a batch cost a training step, for lesson 03a.

python 03a_inputs.py
"""

import contextlib
import io
import json
import threading
import time
from collections.abc import Callable
from queue import Full, Queue

from helpers import lesson

lesson.begin("03a_queues_and_coordinators", seed=7)

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
import tensorflow.compat.v1 as tf1  # noqa: E402
from PIL import Image  # noqa: E402

from helpers.queues import running_queues  # noqa: E402

SHAPE = [64, 64, 64, 3]
DRAW = np.random.default_rng(7)
JPEGS = [tf.io.encode_jpeg(np.kron(colours, np.ones([8, 8, 1], np.uint8))).numpy()
         for colours in DRAW.integers(0, 256, [128, 8, 8, 3], np.uint8)]


def load() -> np.ndarray:
    """Draws 64 of the pictures and decodes them in Python."""
    return np.stack([np.asarray(Image.open(io.BytesIO(jpeg)))
                     for jpeg in DRAW.choice(JPEGS, 64)])


def train_on(batch: tf.Tensor) -> tf.Operation:
    """Builds two small convolutions and one training step for them."""
    images = tf.cast(tf.ensure_shape(batch, SHAPE), tf.float32) / 255
    for name in ("first", "second"):
        kernel = tf1.get_variable(name, [3, 3, images.shape[-1], 16])
        images = tf.nn.relu(tf.nn.conv2d(images, kernel, 2, "SAME"))
    loss = tf.reduce_mean(images)
    return tf1.train.GradientDescentOptimizer(0.01).minimize(loss)


def held() -> tf.Tensor:
    """Returns a batch in a variable, so that a step needs no input."""
    return tf1.get_variable("held", initializer=load(), trainable=False)


def fed() -> tf.Tensor:
    """Returns a placeholder, which Python feeds."""
    return tf1.placeholder(tf.uint8, SHAPE)


def queued() -> tf.Tensor:
    """Returns a batch of a queue that two threads fill ahead of the training."""
    some = tf.random.uniform([64], 0, len(JPEGS), tf.int32)
    batch = tf.map_fn(tf.io.decode_jpeg, tf.gather(JPEGS, some),
                      fn_output_signature=tf.uint8)
    ahead = tf1.FIFOQueue(4, [tf.uint8], [SHAPE])
    tf1.train.add_queue_runner(
        tf1.train.QueueRunner(ahead, [ahead.enqueue(batch)] * 2))
    return ahead.dequeue()


def dataset() -> tf.Tensor:
    """Returns the same batch from a `tf.data` dataset."""
    data = tf.data.Dataset.from_tensor_slices(JPEGS).repeat().shuffle(128)
    data = data.map(tf.io.decode_jpeg, 2).batch(64).prefetch(2)
    return tf1.data.make_one_shot_iterator(data).get_next()


def seconds(inputs: Callable, feed: Callable | None = None) -> float:
    """Returns the median of twelve steps, after two steps to warm up."""
    took = []
    with tf.Graph().as_default() as graph:
        batch = inputs()
        train = train_on(batch)
        init = tf1.global_variables_initializer()
    with tf1.Session(graph=graph) as session:
        session.run(init)
        with running_queues(session):
            for _ in range(14):
                start = time.perf_counter()
                session.run(train, {batch: feed()} if feed else {})
                took.append(time.perf_counter() - start)
    return float(np.median(took[2:]))


def seconds_with_a_thread() -> float:
    """Measures steps that a thread feeds through a queue of Python."""
    ahead: Queue = Queue(4)
    over = threading.Event()

    def work():
        while not over.is_set():
            with contextlib.suppress(Full):
                ahead.put(load(), timeout=0.1)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        return seconds(fed, ahead.get)
    finally:
        over.set()
        thread.join()


def main():
    """Prints the seconds of a step for each input, the best of four rounds, as JSON."""
    ways = {"training alone": lambda: seconds(held),
            "feed_dict": lambda: seconds(fed, load),
            "Python thread": seconds_with_a_thread,
            "queue": lambda: seconds(queued), "tf.data": lambda: seconds(dataset)}
    rounds = [{name: way() for name, way in ways.items()} for _ in range(4)]
    print(json.dumps({name: min(times[name] for times in rounds) for name in ways}))


if __name__ == "__main__":
    main()
