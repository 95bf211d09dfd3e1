"""Contestants `mirrored` and `fit`: MirroredStrategy with Keras's VGG-19."""

import json
import sys

import numpy as np
import tensorflow as tf

from benchmarks.peers.towers_common import (
    LEARNING_RATE,
    MOMENTUM,
    Stopwatch,
    measure,
    pictures,
)


def logical_cpus(count):
    """Splits the CPU; only possible before TensorFlow's runtime starts."""
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(
        cpu, [tf.config.LogicalDeviceConfiguration()] * count
    )
    return [f"CPU:{index}" for index in range(count)]


def vgg19(task):
    """Returns Keras's VGG-19 with logits, and momentum SGD for it."""
    size, classes = task["image_size"], task["classes"]
    shape = size, size, 3
    if task["base_width"] < 64:  # --quick: at least without the two layers of 4096
        model = tf.keras.Sequential([
            tf.keras.applications.VGG19(
                include_top=False, weights=None, input_shape=shape, pooling="avg"),
            tf.keras.layers.Dense(classes),
        ])
    else:
        model = tf.keras.applications.VGG19(
            weights=None, input_shape=shape, classes=classes,
            classifier_activation=None,
        )
    optimizer = tf.keras.optimizers.SGD(LEARNING_RATE, MOMENTUM)
    optimizer.build(model.trainable_variables)
    return model, optimizer


def build(strategy, task):
    """Returns a training step on distributed images and labels."""
    with strategy.scope():
        model, optimizer = vgg19(task)

    def on_one_device(images, labels):
        with tf.GradientTape() as tape:
            logits = model(images, training=True)
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
            )
            share = loss / strategy.num_replicas_in_sync  # Keras adds devices up
        weights = model.trainable_variables
        optimizer.apply_gradients(
            zip(tape.gradient(share, weights), weights, strict=True)
        )
        return loss

    @tf.function
    def step(images, labels):
        losses = strategy.run(on_one_device, args=(images, labels))
        return strategy.reduce("MEAN", losses, axis=None)

    return step


def by_hand(strategy, task):
    """Trains by a step of our own on pictures that are on their devices already."""
    step = build(strategy, task)

    def distributed(array):
        parts = np.split(array, task["towers"])
        return strategy.experimental_distribute_values_from_function(
            lambda context: tf.constant(parts[context.replica_id_in_sync_group])
        )

    inputs = [distributed(array) for array in pictures(task)]
    return measure(lambda: step(*inputs), task["steps"])


class Timed(tf.keras.callbacks.Callback):
    """Times each batch of `fit`."""

    def __init__(self):
        super().__init__()
        self.watch = Stopwatch()

    def on_train_batch_begin(self, batch, logs=None):
        self.model.reset_metrics()  # so that the loss is this batch's, not a mean
        self.watch.start()

    def on_train_batch_end(self, batch, logs=None):
        self.watch.stop(logs["loss"])


def by_fit(strategy, task):
    """Trains by one call of `model.fit`, as Keras's guide does."""
    with strategy.scope():
        model, optimizer = vgg19(task)
        loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        model.compile(optimizer, loss)
    data = tf.data.Dataset.from_tensors(pictures(task)).repeat()
    timed = Timed()
    steps = 1 + task["steps"]
    model.fit(data, steps_per_epoch=steps, verbose=0, callbacks=[timed], shuffle=False)
    return timed.watch


def main(arguments):
    task = json.loads(arguments[0])
    strategy = tf.distribute.MirroredStrategy(logical_cpus(task["towers"]))
    for name in task["names"]:
        train = by_fit if name == "fit" else by_hand
        train(strategy, task).say()


if __name__ == "__main__":
    main(sys.argv[1:])
