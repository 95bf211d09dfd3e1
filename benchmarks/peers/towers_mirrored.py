"""Contestant `mirrored`: MirroredStrategy with Keras's VGG-19."""

import json
import sys

from towers_common import LEARNING_RATE, MOMENTUM, measure, pictures

from helpers import lesson

lesson.begin("benchmarks")

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402


def logical_cpus(count):
    """Splits the CPU; only possible before TensorFlow's runtime starts."""
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(
        cpu, [tf.config.LogicalDeviceConfiguration()] * count
    )
    return [f"CPU:{index}" for index in range(count)]


def build(strategy, task):
    """Returns a training step on distributed images and labels."""
    size = task["image_size"]
    with strategy.scope():
        model = tf.keras.applications.VGG19(
            weights=None, input_shape=(size, size, 3), classes=task["classes"],
            classifier_activation=None,
        )
        optimizer = tf.keras.optimizers.SGD(LEARNING_RATE, MOMENTUM)
        optimizer.build(model.trainable_variables)

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


def main(task):
    strategy = tf.distribute.MirroredStrategy(logical_cpus(task["towers"]))
    step = build(strategy, task)

    def distributed(array):
        parts = np.split(array, task["towers"])
        return strategy.experimental_distribute_values_from_function(
            lambda context: tf.constant(parts[context.replica_id_in_sync_group])
        )

    inputs = [distributed(array) for array in pictures(task)]
    measure(lambda: step(*inputs), task["steps"])


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
