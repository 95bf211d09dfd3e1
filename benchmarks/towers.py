"""Our towers and MirroredStrategy train full VGG-19 in one run.

    python3 course.py bench towers            # full size: 20 pictures of 224 x 224
    python3 course.py bench towers --quick    # 2 of 32 x 32, one step

Both train VGG-19 (configuration E, no dropout) from random weights, by momentum SGD, on
the same random pictures and the same number of logical CPUs:

  towers    helpers.towers: one set of variables, add_n, NO_MEM_OPT, all checked
  mirrored  MirroredStrategy with keras.applications.VGG19, which keeps one copy of all
            weights and momenta per device; pictures in place
"""

import statistics
from collections.abc import Iterator
from functools import partial

import numpy as np
import psutil
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from benchmarks import rounds
from helpers import towers as ours
from helpers.vgg import vgg_net
from tools import notebook as nb

LEARNING_RATE, MOMENTUM = 0.001, 0.9
SPEED, MEMORY = 1.15, 0.5  # at least, and at most, of the strategy's
NEEDED = 15e9  # bytes that the strategy takes at full size


def pictures(options) -> tuple[np.ndarray, np.ndarray]:
    """Returns float32 `[batch, size, size, 3]` in [-1, 1] and int32 `[batch]`."""
    random, size = np.random.default_rng(7), options.image_size
    images = random.random([options.batch, size, size, 3], np.float32) * 2 - 1
    return images, random.integers(options.classes, size=options.batch, dtype=np.int32)


def towers(options) -> Iterator[int]:
    """Yields the number of pictures after each step of our towers."""
    optimizer = tf1.train.MomentumOptimizer(LEARNING_RATE, MOMENTUM)

    def tower(images, labels):
        logits = vgg_net(images, num_classes=options.classes,
                         base_width=options.base_width)
        loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
        )
        return loss, optimizer.compute_gradients(loss)

    config = tf1.ConfigProto(device_count={"CPU": options.towers})
    config.graph_options.rewrite_options.memory_optimization = 1  # NO_MEM_OPT
    with tf.Graph().as_default(), tf1.Session(config=config) as session:
        arrays = pictures(options)
        inputs = [tf1.placeholder(array.dtype, array.shape) for array in arrays]
        slices = ours.split_batch(tuple(inputs), options.towers)
        built = ours.build_towers(tower, ours.cpu_devices(options.towers), slices)
        losses, gradients = zip(*built, strict=True)
        averages = ours.process_gradient_list(gradients, losses=losses)
        train = optimizer.apply_gradients(averages)
        session.run(tf1.global_variables_initializer())
        while True:
            session.run([train, losses], dict(zip(inputs, arrays, strict=True)))
            yield options.batch


def mirrored(options) -> Iterator[int]:
    """Yields the number of pictures after each step of the strategy."""
    [cpu] = tf.config.list_physical_devices("CPU")
    logical = [tf.config.LogicalDeviceConfiguration()] * options.towers
    tf.config.set_logical_device_configuration(cpu, logical)
    strategy = tf.distribute.MirroredStrategy(
        [f"CPU:{index}" for index in range(options.towers)]
    )
    size = options.image_size
    with strategy.scope():
        model = tf.keras.applications.VGG19(
            include_top=not options.quick, weights=None, input_shape=(size, size, 3),
            classes=options.classes, classifier_activation=None, pooling="avg",
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
        gradients = tape.gradient(share, weights)
        optimizer.apply_gradients(zip(gradients, weights, strict=True))
        return loss

    @tf.function
    def step(images, labels):
        losses = strategy.run(on_one_device, args=(images, labels))
        return strategy.reduce("MEAN", losses, axis=None)

    def distributed(array):
        parts = np.split(array, options.towers)
        return strategy.experimental_distribute_values_from_function(
            lambda context: tf.constant(parts[context.replica_id_in_sync_group])
        )

    inputs = [distributed(array) for array in pictures(options)]
    while True:
        step(*inputs).numpy()
        yield options.batch


CONTESTANTS = {"towers": towers, "mirrored": mirrored}


def trained(options, name: str) -> rounds.Result:
    """Returns what a contestant does in some steps, after one to warm up."""
    return rounds.timed(CONTESTANTS[name](options), 1, options.steps)


def main(arguments: list[str]) -> rounds.Table:
    """Runs both contestants."""
    parser = rounds.options_of("towers", rounds=1)
    parser.set_defaults(image_size=224, classes=1000, batch=20, towers=4,
                        base_width=64)
    parser.add_argument("--steps", type=nb.count, default=5,
                        help="after one to warm up")
    options = parser.parse_args(arguments)
    if options.quick:
        options.image_size, options.classes, options.batch = 32, 5, 2
        options.towers, options.steps = 2, 1
        options.base_width = 8  # of ours: Keras has its convolutions in full width only
    if not options.quick and psutil.virtual_memory().available < NEEDED:
        raise RuntimeError(f"The benchmark `towers` needs {NEEDED / 1e9:.0f} GB of "
                           "free memory. Close other programs, or pass --quick.")
    # The strategy's devices are set before TensorFlow's runtime starts.
    results = rounds.compete(CONTESTANTS, partial(trained, options), options.rounds,
                             ["towers"] if options.quick else ())
    peaks = [statistics.median(one.peak_mb for one in each)
             for each in results.values()]
    part = peaks[0] / peaks[1]
    met = "met" if part <= MEMORY else "NOT MET"
    notes = [rounds.verdict(results, *CONTESTANTS, SPEED),
             f"memory: {part:.2f}; goal {MEMORY}: {met}"]
    title = (f"VGG-19 on {options.towers} logical CPUs, {options.batch} pictures of "
             f"{options.image_size}, {options.steps} steps")
    return rounds.compared(title, results, notes)
