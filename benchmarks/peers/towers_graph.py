"""Contestants `towers`, `kept` and `stack`: the same towers, averaged in three ways."""

import json
import sys

import tensorflow as tf
import tensorflow.compat.v1 as tf1

from benchmarks.peers.towers_common import LEARNING_RATE, MOMENTUM, measure, pictures
from helpers.towers import (
    build_towers,
    cpu_devices,
    process_gradient_list,
    split_batch,
)
from helpers.tracing import intervals, run_traced
from helpers.vgg import vgg_net


def stack_and_mean(gradient_list, losses):
    """The source's average: `None` becomes zero, then stack, then mean."""
    averages = []
    for pairs in zip(*gradient_list, strict=True):
        gradients = [tf.zeros_like(v) if g is None else g for g, v in pairs]
        averages.append((tf.reduce_mean(tf.stack(gradients), axis=0), pairs[0][1]))
    return averages


def build(task, average):
    """Returns the placeholders, the mean loss and the training op."""
    size, batch = task["image_size"], task["batch"]
    images = tf1.placeholder(tf.float32, [batch, size, size, 3])
    labels = tf1.placeholder(tf.int32, [batch])
    optimizer = tf1.train.MomentumOptimizer(LEARNING_RATE, MOMENTUM)

    def tower(images, labels):
        logits = vgg_net(images, num_classes=task["classes"],
                         base_width=task["base_width"])
        loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
        )
        return loss, optimizer.compute_gradients(loss)

    slices = split_batch((images, labels), task["towers"])
    towers = build_towers(tower, cpu_devices(task["towers"]), slices)
    losses, gradients = zip(*towers, strict=True)
    train = optimizer.apply_gradients(average(gradients, losses=losses))
    return (images, labels), tf.add_n(losses) / len(losses), train


def convolution_share(metadata):
    """Returns the share of a step's work that is convolution, forward and backward."""
    ran = intervals(metadata)
    spent = sum(one.duration for one in ran if "Conv2D" in one.type)
    return spent / sum(one.duration for one in ran)


def run(name, task):
    """Trains one contestant, and prints its figures."""
    average = stack_and_mean if name == "stack" else process_gradient_list
    config = tf1.ConfigProto(device_count={"CPU": task["towers"]})
    if name == "kept":
        options = config.graph_options.rewrite_options
        options.memory_optimization = options.NO_MEM_OPT
    with tf.Graph().as_default(), tf1.Session(config=config) as session:
        inputs, loss, train = build(task, average)
        session.run(tf1.global_variables_initializer())
        feed = dict(zip(inputs, pictures(task), strict=True))
        watch = measure(lambda: session.run([loss, train], feed)[0], task["steps"])
        if name != "towers":
            return watch.say()
        _, metadata = run_traced(session, [loss, train], feed)
        return watch.say(convolution_share=convolution_share(metadata))


def main(arguments):
    task = json.loads(arguments[0])
    for name in task["names"]:
        run(name, task)


if __name__ == "__main__":
    main(sys.argv[1:])
