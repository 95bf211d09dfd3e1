"""What TensorFlow does on a GPU: memory, placement, precision, XLA, and towers.

    .venv/bin/python -m benchmarks.gpu

docs/gpu.md quotes what it printed once. Each fact comes from a process of its own,
because the first session of a process decides how much memory all of them take.
"""

import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np

from helpers import lesson
from helpers.errors import first_line

lesson.quiet_tensorflow()  # not `begin`, which changes the defaults

import tensorflow as tf  # noqa: E402
import tensorflow.compat.v1 as tf1  # noqa: E402

from helpers import towers as ours  # noqa: E402
from helpers.vgg import vgg_net  # noqa: E402

MEMORY = {"default": {}, "growth": {"allow_growth": True},
          "fraction": {"per_process_gpu_memory_fraction": 0.2}}


def used() -> str:
    """Returns how much memory of the GPUs all programs use together."""
    return subprocess.run(
        ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader"],
        capture_output=True, text=True).stdout.strip()


def memory(mode: str) -> str:
    """Opens a small session and returns the use of the memory before and after."""
    before = used()
    config = tf1.ConfigProto(gpu_options=tf1.GPUOptions(**MEMORY[mode]))
    with tf.Graph().as_default(), tf1.Session(config=config) as session:
        session.run(tf.random.normal([1024]))
        return f"before {before}, with a session {used()}"


def _queue() -> tf.Tensor:
    queue = tf.queue.FIFOQueue(3, [tf.float32], [[]])
    with tf.control_dependencies([queue.enqueue(1.0)]):
        return queue.dequeue() * 2


BUILT: dict[str, Callable] = {
    "float32 variable": lambda: tf1.get_variable("v", [3]) + 1.0,
    "int32 constants": lambda: tf.range(5) * tf.constant(3),
    "int32 variable": lambda: tf1.get_variable(
        "n", [3], tf.int32, tf1.zeros_initializer()) + 1,
    "uint8 sum": lambda: tf.reduce_sum(tf.ones([4], tf.uint8)),
    "queue": _queue,
    "strings": lambda: tf.strings.length(tf.constant(["a"])),
}


def placement(name: str, device: str, soft: str = "") -> str:
    """Pins one of `BUILT` to a device, and returns where its ops ran, or the error.

    Args:
      name: A key of `BUILT`.
      device: The device, or "" for none.
      soft: "soft" for soft placement.
    """
    config = ours.session_config(allow_soft_placement=bool(soft))
    with tf.Graph().as_default(), tf1.Session(config=config) as session:
        with tf.device(device or None):
            fetched = BUILT[name]()
        options = tf1.RunOptions(output_partition_graphs=True)
        metadata = tf1.RunMetadata()
        try:
            session.run(tf1.global_variables_initializer())
            session.run(fetched, options=options, run_metadata=metadata)
        except tf.errors.OpError as error:
            return f"{type(error).__name__}: {first_line(error)}"
    return ", ".join(sorted(
        f"{node.name} {node.op} {node.device[-5:]}"
        for piece in metadata.partition_graphs for node in piece.node
        if not node.name.startswith("_")))


def precision(tf32: str) -> str:
    """Returns by how much a float32 product differs from the product in float64."""
    tf.config.experimental.enable_tensor_float_32_execution(tf32 == "TF32")
    left, right = np.random.default_rng(7).normal(size=[2, 1000, 1000])
    product = tf.matmul(np.float32(left), np.float32(right))
    return f"off by {np.abs(product - left @ right).max():.6f}"


def xla(jit: str) -> str:
    """Returns the time of a chain of 30 element-wise ops, with XLA or without."""
    config = ours.session_config()
    if jit == "XLA":
        config.graph_options.optimizer_options.global_jit_level = (
            tf1.OptimizerOptions.ON_1)
    with tf.Graph().as_default(), tf1.Session(config=config) as session:
        x = tf.random.normal([4096, 1024])
        for _ in range(30):
            x = tf.tanh(x * 1.01 + 0.1) * tf.sigmoid(x) - x * 0.5
        return f"{1000 * seconds(session, tf.reduce_sum(x), 100):.2f} ms a run"


def towers(kind: str, count: str, configuration: str, width: str, batch: str) -> str:
    """Returns the pictures per second of a VGG on towers; each picture is 64 x 64."""
    names, rows = [f"/{kind}:{k}" for k in range(int(count))], int(batch)
    optimizer = tf1.train.AdamOptimizer(1e-4)

    def tower(images, labels):
        logits = vgg_net(images, 0.5, configuration=configuration, num_classes=200,
                         base_width=int(width))
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=labels, logits=logits))
        return loss, optimizer.compute_gradients(loss)

    with tf.Graph().as_default(), tf1.Session(config=ours.session_config(
            names)) as session:
        batch_of_noise = (tf.random.uniform([rows, 64, 64, 3]),
                          tf.random.uniform([rows], 0, 200, tf.int32))
        losses, gradients = zip(*ours.build_towers(
            tower, names, ours.split_batch(batch_of_noise, len(names)),
            variables_device=names[0] if len(names) == 1 else "/cpu:0"), strict=True)
        train = optimizer.apply_gradients(
            ours.process_gradient_list(gradients, losses=losses))
        session.run(tf1.global_variables_initializer())
        took = seconds(session, train, 30)
    return f"{rows / took:,.0f} pictures per second, {1000 * took:.1f} ms a step"


def seconds(session: tf1.Session, fetch: tf.Tensor | tf.Operation, times: int) -> float:
    """Returns the mean time of a run, after three runs to warm up."""
    run = session.make_callable(fetch)
    for _ in range(3):
        run()
    begun = time.perf_counter()
    for _ in range(times):
        run()
    return (time.perf_counter() - begun) / times


FACTS: list[tuple[Callable, tuple[str, ...]]] = [
    *((memory, (mode,)) for mode in MEMORY),
    (placement, ("float32 variable", "")),
    *((placement, (name, "/gpu:0", *soft))
      for name in BUILT for soft in ((), ("soft",))),
    (precision, ("TF32",)), (precision, ("float32",)),
    (xla, ("plain",)), (xla, ("XLA",)),
    (towers, ("gpu", "1", "A", "8", "256")), (towers, ("gpu", "4", "A", "8", "256")),
    (towers, ("cpu", "4", "A", "8", "64")), (towers, ("gpu", "1", "E", "64", "256")),
]


def main(arguments: list[str]) -> int:
    """Prints one fact, or starts a process for each fact."""
    if arguments:
        fact = {function.__name__: function for function, _ in FACTS}[arguments[0]]
        print(" ".join(arguments) + ":", fact(*arguments[1:]), flush=True)
        return 0
    found = tf.config.list_physical_devices("GPU")
    if not found:
        print("benchmarks.gpu: TensorFlow sees no GPU here. To find out why, run: "
              "python3 course.py doctor", file=sys.stderr)
        return 1
    print(f"TensorFlow {tf.__version__},", *map(
        tf.config.experimental.get_device_details, found), flush=True)
    command = [sys.executable, "-m", "benchmarks.gpu"]
    return max(subprocess.call([*command, one.__name__, *of]) for one, of in FACTS)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
