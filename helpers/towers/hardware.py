"""Names the devices of towers, and configures sessions that have these devices.

A machine with one GPU, or with none, can still run four towers: TensorFlow treats one
device as several **logical** devices, which share its cores and its memory.
"""

from collections.abc import Sequence
from typing import Any

import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.arguments import numbers, whole, whole_number

MEMORY_LIMIT = 12_000  # MiB that a logical GPU may grow to; nothing is reserved


@numbers(n=whole())
def cpu_devices(n: int) -> list[str]:
    """Returns the names of `n` logical CPU devices.

    A session has that many CPU devices only on request, for example with
    `session_config`.

    Args:
      n: Number of devices, at least 1. They share the machine's cores.

    Returns:
      The list `["/cpu:0", ..., "/cpu:<n - 1>"]`.
    """
    return [f"/cpu:{index}" for index in range(n)]


@numbers(least=whole())
def devices(wanted: str | int | Sequence[str] = "auto", *, least: int = 1) -> list[str]:
    """Returns and prints the devices that the setting `DEVICES` of a lesson names.

    If the names ask for more GPUs than the machine has, its GPUs are divided into
    logical GPUs: here for eager code and strategies, and in `session_config` for a
    session. Therefore call it before the first eager op.

    Args:
      wanted: `"auto"` for all GPUs, where a single GPU becomes four logical GPUs, or
        for four logical CPUs if there is no GPU; a number of devices, which are GPUs
        if there are any; or a list of names.
      least: Number of devices that the caller needs.

    Returns:
      The list `["/gpu:0", ...]`, the result of `cpu_devices`, or the names as given.

    Raises:
      ValueError: If there are fewer devices than `least`, or `wanted` is another text.
      RuntimeError: If a GPU has to be divided, but TensorFlow's runtime has started.

    Taught in lesson 02a, "Settings in one place".
    """
    gpus = tf.config.list_physical_devices("GPU")
    names = _names(wanted, len(gpus))
    if len(names) < least:
        raise ValueError(
            f"At least {least} devices are required, but DEVICES={wanted!r} names "
            f'{len(names)}. Set DEVICES to "auto", or to at least {least}.'
        )
    shares = _shares(names, len(gpus))
    for gpu, count in zip(gpus, shares, strict=False):
        tf.config.set_logical_device_configuration(gpu, [
            tf.config.LogicalDeviceConfiguration(memory_limit=MEMORY_LIMIT)] * count)
    notes = [] if gpus else ["(there is no GPU here)"]
    notes += [f"(logical GPUs; this machine has {len(gpus)})"] if shares else []
    print("devices:", *names, *notes)
    return names


@numbers(cpus=whole())
def session_config(
    names: Sequence[str] = (), *, cpus: int = 4, **options: Any
) -> tf1.ConfigProto:
    """Returns the configuration of a session that has these devices.

    The session takes the memory of a GPU as it needs it, and it places ops without a
    kernel for their device on the CPU.

    Args:
      names: Names of the devices, such as the result of `devices`.
      cpus: Smallest number of logical CPUs.
      **options: Fields of `ConfigProto`, which replace those of the helper.

    Taught in lesson 05a, "A tower on each device".
    """
    gpu_options = tf1.GPUOptions(allow_growth=True)
    for count in _shares(names, len(tf.config.list_physical_devices("GPU"))):
        gpu_options.experimental.virtual_devices.add(
            memory_limit_mb=[MEMORY_LIMIT] * count)
    settings = {
        "device_count": {"CPU": max(cpus, _count(names, "CPU"))},
        "allow_soft_placement": True, "gpu_options": gpu_options}
    return tf1.ConfigProto(**{**settings, **options})


def _names(wanted: str | int | Sequence[str], gpus: int) -> list[str]:
    """Returns the names for a setting, on a machine with so many GPUs."""
    if isinstance(wanted, str):
        if wanted != "auto":
            raise ValueError(
                'DEVICES must be "auto", a number, or a list of names, but got '
                f"{wanted!r}."
            )
        count = gpus if gpus > 1 else 4
    elif isinstance(wanted, Sequence):
        return list(wanted)
    else:
        count = whole_number("DEVICES", wanted)
    return [f"/gpu:{k}" for k in range(count)] if gpus else cpu_devices(count)


def _count(names: Sequence[str], kind: str) -> int:
    """Returns how many devices of a kind a machine needs to have all of the names."""
    specs = map(tf.DeviceSpec.from_string, names)
    return max((1 + (spec.device_index or 0) for spec in specs
                if spec.device_type == kind), default=0)


def _shares(names: Sequence[str], gpus: int) -> list[int]:
    """Returns into how many logical GPUs each GPU is divided; `[]` if none is."""
    count = _count(names, "GPU")
    if not gpus or count <= gpus:
        return []
    return [count // gpus + (k < count % gpus) for k in range(gpus)]
