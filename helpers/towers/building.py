"""Builds one copy of a model per device, all with the same variables."""

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.arguments import numbers, whole
from helpers.graph import VARIABLE_TYPES


@numbers(n=whole())
def cpu_devices(n: int) -> list[str]:
    """Returns the names of `n` logical CPU devices.

    A session has so many only if you ask:
    `tf1.Session(config=tf1.ConfigProto(device_count={"CPU": n}))`.

    Args:
      n: how many, at least 1. They share the machine's cores.

    Returns:
      `["/cpu:0", ..., "/cpu:<n - 1>"]`.
    """
    return [f"/cpu:{index}" for index in range(n)]


def devices(wanted: str | int | Sequence[str] = "auto") -> list[str]:
    """Returns the devices that a lesson's setting `DEVICES` selects, and prints them.

    Let a session on GPUs grow its memory as it needs it, and place on the CPU what
    has no kernel for a GPU: `tf1.ConfigProto(allow_soft_placement=True,
    gpu_options=tf1.GPUOptions(allow_growth=True), device_count={"CPU": n})`.

    Args:
      wanted: `"auto"` for all GPUs where there are some, else four logical CPUs; how
        many, fewer where there are GPUs, but not so many; or a list of names.

    Returns:
      `["/gpu:0", ...]`, what `cpu_devices` returns, or the names as given.

    Taught in lesson 02a, "Settings in one place".
    """
    gpus = len(tf.config.list_physical_devices("GPU"))
    if not isinstance(wanted, (str, int)):
        names = list(wanted)
    elif gpus:
        names = [f"/gpu:{index}" for index in range(gpus)]
        names = names if isinstance(wanted, str) else names[:max(wanted, 0)]
    else:
        names = cpu_devices(4 if isinstance(wanted, str) else wanted)
    print("devices:", *names, *([] if gpus else ["(there is no GPU here)"]))
    return names


def variables_on(device: str) -> Callable[[tf.Operation], str]:
    """Returns a device function that places all variables on one device.

        with tf.device("/cpu:2"), tf1.device(variables_on("/cpu:0")):
            kernel = tf1.get_variable("kernel", [3, 5])    # on /cpu:0
            outgoing = tf.matmul(incoming, kernel)         # on /cpu:2

    Args:
      device: where the ops that hold a variable go (`VarHandleOp`, and `VariableV2`
        of old graphs). TensorFlow puts what reads or assigns it on the same device.

    Returns:
      A function for `tf1.device`. Other ops stay where the devices around say.
    """

    def place(op: tf.Operation) -> str:
        return device if op.type in VARIABLE_TYPES else op.device

    return place


@numbers(num_towers=whole())
def split_batch(tensors: Any, num_towers: int) -> list:
    """Splits a batch into equal slices, one per tower.

    Args:
      tensors: a tensor `[batch, ...]`, or a tuple, list or dictionary of them.
      num_towers: how many slices; it must divide the batch.

    Returns:
      A list of `num_towers` slices, each built like `tensors`, with tensors
      `[batch / num_towers, ...]`.

    Raises:
      ValueError: a tensor without a batch axis, known batches
        that differ, or one that does not divide. (Unknown: TensorFlow's error.)

    Taught in lesson 05a, "One update".
    """
    flat = [tf.convert_to_tensor(tensor) for tensor in tf.nest.flatten(tensors)]
    known: set[int] = set()
    for tensor in flat:
        if tensor.shape.rank == 0:
            raise ValueError(f"split_batch: {tensor.name} has no batch axis to split")
        batch = tensor.shape[0] if tensor.shape.rank else None
        known |= set() if batch is None else {batch}
        if len(known) > 1:
            raise ValueError(f"split_batch: batches of {sorted(known)} rows, where all "
                             "tensors must have the same")
        if batch is not None and batch % num_towers:
            raise ValueError(
                f"split_batch: {tensor.name} has a batch of {batch}, which "
                f"{num_towers} towers cannot share equally; slice it by tf.split and "
                "give process_gradient_list the sizes as weights"
            )
    parts = [tf.split(tensor, num_towers, name="slices") for tensor in flat]
    return [
        tf.nest.pack_sequence_as(tensors, of_one) for of_one in zip(*parts, strict=True)
    ]


def build_towers(
    tower_fn: Callable,
    devices: Sequence[str],
    slices: Sequence,
    *,
    variables_device: str = "/cpu:0",
) -> list:
    """Builds the same model on each device, with shared variables.

    The first tower creates the variables, the later ones find them: those scopes are
    set to reuse, never the scope around, so an optimizer can still create its slots.
    Variables keep the names that a single model gives them. They must come from
    `get_variable`; a `tf.Variable` is never shared.

    Args:
      tower_fn: called as `tower_fn(*slice)` if a slice is a tuple or a list, else as
        `tower_fn(slice)`. It builds the model, its loss and, so that they run on the
        same device, its gradients, and returns whatever you want of a tower.
      devices: one per tower.
      slices: one per tower: from `split_batch`, or one dequeue each.
      variables_device: where all variables live.

    Returns:
      What `tower_fn` returned, one entry per tower.

    Raises:
      ValueError: not one slice per device, or (from TensorFlow) a later tower asks
        for a variable that the first has not created.

    Taught in lesson 05a, "A tower on each device".
    """
    results = []
    for index, (device, of_one) in enumerate(zip(devices, slices, strict=True)):
        arguments = of_one if isinstance(of_one, (tuple, list)) else (of_one,)
        with (
            tf1.name_scope(f"tower_{index}"),
            tf1.variable_scope(tf1.get_variable_scope(), reuse=index > 0 or None),
            tf.device(device),
            tf1.device(variables_on(variables_device)),
        ):
            results.append(tower_fn(*arguments))
    return results
