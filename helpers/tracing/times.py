"""Start and duration of every op in a traced run."""

import re
from typing import NamedTuple

import tensorflow.compat.v1 as tf1

from helpers.tracing.runs import short_device

# Ops that pass values or wait for others. If they counted as work, an idle device
# would look busy.
_WAITING = re.compile(
    r"_?(Host)?(Recv|Send)|_Arg|_Retval|NoOp|Queue|Barrier|Reader|Stage|Unstage"
)


class Interval(NamedTuple):
    """Run of one op, with its start and its duration in microseconds.

    `start` is relative to the start of the first op in the run.
    """

    device: str
    op: str
    type: str
    start: int
    duration: int


def intervals(metadata: tf1.RunMetadata) -> list[Interval]:
    """Returns the device, start, and duration of every op in a traced run.

    Ops that only wait for others (queues, receives) are left out. On a GPU, an op
    appears twice: as its launch, and as the kernel on its stream.

    Args:
      metadata: Metadata of a run with `trace_level=FULL_TRACE`; see `run_traced`.

    Returns:
      Rows `(device, op, type, start, duration)`, with times in microseconds, sorted by
      device and start. The earliest start is 0.

    Taught in lesson 02b, "When did it run?".
    """
    runs = []
    for device in metadata.step_stats.dev_stats:
        for op in device.node_stats:
            kind = _op_type(op)
            if kind and not _WAITING.match(kind):
                begin = op.all_start_micros + op.op_start_rel_micros
                lasted = max(op.op_end_rel_micros - op.op_start_rel_micros, 1)
                name = short_device(device.device)
                runs.append(Interval(name, op.node_name, kind, begin, lasted))
    first = min(row.start for row in runs)
    rows = [row._replace(start=row.start - first) for row in runs]
    return sorted(rows, key=lambda row: (row.device, row.start, row.op))


def devices_at_once(metadata: tf1.RunMetadata) -> int:
    """Returns the largest number of devices that were busy at the same time.

    Args:
      metadata: Metadata, as for `intervals`.

    Taught in lesson 02b, "When did it run?".
    """
    rows = intervals(metadata)
    return max(
        len({other.device for other in rows
             if other.start <= row.start < other.start + other.duration})
        for row in rows
    )


def _op_type(op) -> str:
    """Extracts the op type from a timeline label, or returns "".

    For example, the type in `[cpu] product = MatMul(a, b)` is `MatMul`.
    """
    match = re.search(r" = (\w+)\(", op.timeline_label)
    kind = match[1] if match else ""
    return re.sub(r"^_(Mkl|Fused)", "", kind) if kind != "_Fused" else kind
