"""Pictures a second of a narrow VGG on so many towers and threads, for lesson 07b.

python 07b_measure.py TOWERS THREADS
"""

import sys
import time

from helpers import lesson

lesson.begin("07b_speed_and_state", seed=7)

import tensorflow as tf  # noqa: E402
import tensorflow.compat.v1 as tf1  # noqa: E402

from helpers import towers, vgg  # noqa: E402


def measured_graph(number: int) -> tf.Operation:
    """Builds towers on 64 pictures of noise, new in each step; returns the update."""
    optimizer = tf1.train.GradientDescentOptimizer(1e-3)

    def tower(images, labels):
        logits = vgg.vgg_net(images, configuration="A", num_classes=20, base_width=8)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=labels, logits=logits))
        return loss, optimizer.compute_gradients(loss)

    images = tf.random.uniform([64, 64, 64, 3], -1, 1, seed=7)
    slices = towers.split_batch((images, tf.range(64) % 20), number)
    losses, gradients = zip(*towers.build_towers(
        tower, towers.cpu_devices(number), slices), strict=True)
    return optimizer.apply_gradients(
        towers.process_gradient_list(gradients, losses=losses))


def main(number: int, threads: int):
    """Prints the speed of the best of thirty steps."""
    with tf.Graph().as_default(), tf.device("/cpu:0"):
        train = measured_graph(number)
        session = tf1.Session(config=tf1.ConfigProto(
            device_count={"CPU": number}, intra_op_parallelism_threads=1,
            inter_op_parallelism_threads=threads))
        session.run(tf1.global_variables_initializer())
    best = float("inf")
    for _ in range(30):
        begun = time.perf_counter()
        session.run(train)
        best = min(best, time.perf_counter() - begun)
    print(64 / best)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
