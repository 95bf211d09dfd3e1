"""Makes the TensorBoard graphs and runs of this folder.

    .venv/bin/python -m prebuilt.build [NAME ...]    # default: all of them

A graph here is an event file that holds nothing but the graph: no weights, no times,
no name of a machine. A run is a short training with all that TensorBoard shows; see
`prebuilt/runs.py`. `tests/test_prebuilt.py` makes each again and compares.
"""

import re
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1
from google.protobuf import text_format

from helpers import captions
from helpers.files import whole_file
from helpers.queues import feed_queue
from helpers.towers import build_towers, cpu_devices, process_gradient_list, split_batch
from helpers.vgg import vgg_net
from prebuilt import runs

FOLDER = Path(__file__).resolve().parent
# TensorBoard looks for "tfevents" in the name; tf.summary would add host and time.
EVENT_FILE = "events.out.tfevents.graph"
NUM_TOWERS, BATCH = 4, 20


def vgg19() -> None:
    """VGG-19 from pictures to the probabilities of 1000 classes."""
    images = tf1.placeholder(tf.float32, [None, 224, 224, 3], "images")
    keep_prob = tf1.placeholder_with_default(1.0, [], "keep_prob")
    tf.nn.softmax(vgg_net(images, keep_prob), name="softmax")


def multi_tower_vgg() -> None:
    """One queue, four towers of VGG-19 with a slice of the batch each, one update."""
    global_step = tf1.train.get_or_create_global_step()
    with tf1.name_scope("input_queue"):
        queue = tf.queue.RandomShuffleQueue(
            200, 100, [tf.uint8, tf.int32], [[224, 224, 3], []], name="pictures"
        )
        queue.enqueue_many([
            tf1.placeholder(tf.uint8, [None, 224, 224, 3], "image"),
            tf1.placeholder(tf.int32, [None], "label"),
        ], name="enqueue")
        pictures, labels = queue.dequeue_many(BATCH)
        slices = split_batch(
            (tf.cast(pictures, tf.float32) / 127.5 - 1.0, labels), NUM_TOWERS
        )
    optimizer = tf1.train.MomentumOptimizer(0.01, 0.9)

    def tower(images, labels):
        with tf1.variable_scope("vgg"):  # so that TensorBoard has one box of weights
            logits = vgg_net(images, 0.5, num_classes=200)
        with tf1.name_scope("loss"):
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(
                    labels=labels, logits=logits
                )
            )
        return loss, optimizer.compute_gradients(loss)

    towers = build_towers(tower, cpu_devices(NUM_TOWERS), slices)
    losses, gradients = zip(*towers, strict=True)
    averages = process_gradient_list(gradients, losses=losses)
    with tf1.name_scope("update"):
        optimizer.apply_gradients(averages, global_step)


def queue_regression() -> None:
    """Linear regression that takes its batches from a queue."""
    queue = tf.queue.RandomShuffleQueue(
        100, 15, [tf.float32] * 2, [[2], [1]], name="examples"
    )
    feed_queue(queue, (np.zeros([1, 2], np.float32), np.zeros([1, 1], np.float32)))
    x, y = queue.dequeue_many(15, name="batch")
    with tf1.variable_scope("model"):
        weights = tf1.get_variable("w", [2, 1])
        bias = tf1.get_variable("b", [1], initializer=tf1.zeros_initializer())
        y_hat = tf.add(x @ weights, bias, name="y_hat")
    with tf1.name_scope("loss"):
        loss = tf.reduce_mean(tf.square(y_hat - y), name="mean_squared_error")
    with tf1.name_scope("train"):
        global_step = tf1.train.get_or_create_global_step()
        tf1.train.GradientDescentOptimizer(0.1).minimize(loss, global_step)


def show_and_tell() -> None:
    """VGG-19, four GRU layers of 1,000 units, 10,000 words: the loss of a caption."""
    sizes = captions.Sizes(
        words=10_000, image_size=224, configuration="E", base_width=64,
        embedding=512, units=1000, layers=4, cell="gru",
    )
    model = captions.ShowAndTell(sizes)
    images = tf1.placeholder(tf.float32, [None, 224, 224, 3], "images")
    inputs, targets = (
        tf1.placeholder(tf.int32, [None, None], name) for name in ("inputs", "targets")
    )
    mask = tf1.placeholder(tf.float32, [None, None], "mask")
    keep_prob = tf1.placeholder_with_default(1.0, [], "keep_prob")
    logits = model.teach(model.encode(images), inputs, keep_prob)
    with tf1.name_scope("loss"):
        loss_sum, words = captions.masked_loss(logits, targets, mask)
        tf.divide(loss_sum, words, name="loss_per_word")


def faulty_towers() -> None:
    """Three towers, one fault in each: where it is, only the drawing tells."""
    images = tf1.placeholder(tf.float32, [None, 8], "images")
    with tf1.variable_scope("weights"), tf.device("/CPU:0"):
        first, second = (tf.identity(tf1.get_variable(name, shape)) for name, shape in
                         [("first", [8, 16]), ("second", [16, 1])])
    losses, gradients = [], []
    for tower, device in enumerate(cpu_devices(3)):
        with tf.device(device), tf1.name_scope(f"tower_{tower}"):
            hidden = tf.nn.relu(images @ first, name="hidden")
            if tower == 0:
                hidden = tf.stop_gradient(hidden, "as_it_is")
            with tf.control_dependencies(losses[:1] if tower == 1 else []):
                out = tf.matmul(hidden, second, name="out")
            with tf.device(cpu_devices(3)[0] if tower == 2 else device):
                losses.append(tf.reduce_mean(tf.square(out), name="loss"))
            gradients.append(tf.gradients(losses[-1], [first, second]))
    with tf1.name_scope("average"):
        for name, column in zip(["first", "second"], zip(*gradients, strict=True),
                                strict=True):
            tf.add_n([one for one in column if one is not None], name=name)


# Folder of each graph and the function that adds its ops to the default graph.
BUILDERS: dict[str, Callable[[], None]] = {
    "vgg19": vgg19,
    "multi_tower_vgg": multi_tower_vgg,
    "queue_regression": queue_regression,
    "show_and_tell": show_and_tell,
    "faulty_towers": faulty_towers,
}


def build(name: str) -> tf1.GraphDef:
    """Builds one graph from nothing.

    Args:
      name: a key of `BUILDERS`.

    Returns:
      The graph, with the shape of every output, which TensorBoard writes on edges.
    """
    # Branches and loops as ops: TensorBoard shows functions apart, in a list.
    tf1.disable_control_flow_v2()
    try:
        with tf.Graph().as_default() as graph:
            tf1.set_random_seed(7)
            BUILDERS[name]()
    finally:
        tf1.enable_control_flow_v2()
    return graph.as_graph_def(add_shapes=True)


def steady_functions(graph_def: tf1.GraphDef) -> tf1.GraphDef:
    """Renumbers and sorts the bodies of loops and branches.

    Their names count all that this process built, and their order follows the names.
    """
    functions = graph_def.library.function
    functions.sort(key=lambda body: int(re.search(r"\d+$", body.signature.name)[0]))
    names = [function.signature.name for function in functions]
    text = text_format.MessageToString(graph_def) if names else ""
    for k, name in enumerate(names):
        text = re.sub(rf"\b{name}(?!\d)", re.sub(r"\d+$", str(k), name), text)
    return text_format.Parse(text, tf1.GraphDef()) if names else graph_def


def write(name: str, folder: Path = FOLDER) -> Path:
    """Writes one graph as an event file, always the same bytes.

    Args:
      name: a key of `BUILDERS`.
      folder: gets the folder `name`.

    Returns:
      The event file.
    """
    events = [
        tf1.Event(file_version="brain.Event:2"),
        tf1.Event(graph_def=build(name).SerializeToString(deterministic=True)),
    ]
    return write_events(folder / name / EVENT_FILE, events)


def write_events(path: Path, events: list[tf1.Event]) -> Path:
    """Writes an event file, always the same bytes for the same events."""
    with whole_file(path) as temporary, tf.io.TFRecordWriter(str(temporary)) as file:
        for event in events:
            file.write(event.SerializeToString(deterministic=True))
    return path


def main(names: list[str]) -> None:
    known = [*BUILDERS, *runs.RUNS]
    unknown = [name for name in names if name not in known]
    if unknown:
        sys.exit(f"There is no graph or run {unknown[0]}. Choose from: "
                 f"{' '.join(known)}")
    for name in names or known:
        path = write(name) if name in BUILDERS else write_events(
            FOLDER / name / runs.RUN_FILE, runs.RUNS[name]())
        size = path.stat().st_size / 1024
        print(f"{path.relative_to(FOLDER.parent)}: {size:.0f} KiB")


if __name__ == "__main__":
    main(sys.argv[1:])
