"""When each op worked, for how long, and how devices worked side by side."""

import re
from typing import NamedTuple

import tensorflow.compat.v1 as tf1

from helpers.tracing.runs import short_device

# Ops that hand over or wait for others: to count them as work would make an idle
# device look busy.
WAITING = re.compile(
    r"_?(Host)?(Recv|Send)|_Arg|_Retval|NoOp|Queue|Barrier|Reader|Stage|Unstage"
)


class Interval(NamedTuple):
    """One op's run: `start` counts from the first op's, both in microseconds."""

    device: str
    op: str
    type: str
    start: int
    duration: int


def intervals(metadata: tf1.RunMetadata) -> list[Interval]:
    """Returns which op worked where, from when and for how long.

    Ops that wait for others (queues, receives) are left out. On a GPU an op shows
    twice, as the launch and as the kernel on its stream.

    Args:
      metadata: of a run with `trace_level=FULL_TRACE`, see `run_traced`.

    Returns:
      Rows `(device, op, type, start, duration)`, both in microseconds, in order
      of device and start; the earliest start is 0.

    Raises:
      ValueError: nothing was traced.
    """
    found = []
    for device in metadata.step_stats.dev_stats:
        for op in device.node_stats:
            kind = _op_type(op)
            if kind and not WAITING.match(kind):
                begin = op.all_start_micros + op.op_start_rel_micros
                lasted = max(op.op_end_rel_micros - op.op_start_rel_micros, 1)
                name = short_device(device.device)
                found.append(Interval(name, op.node_name, kind, begin, lasted))
    if not found:
        raise ValueError(
            "intervals: this run has no step statistics; run with "
            "trace_level=FULL_TRACE, or use tracing.run_traced"
        )
    first = min(row.start for row in found)
    rows = [row._replace(start=row.start - first) for row in found]
    return sorted(rows, key=lambda row: (row.device, row.start, row.op))


def overlap(metadata: tf1.RunMetadata) -> int:
    """Returns the microseconds during which two or more devices were at work.

    Args:
      metadata: as for `intervals`.
    """
    edges = []
    for device, spans in _busy_spans(intervals(metadata)).items():
        edges += [(start, 1, device) for start, _ in spans]
        edges += [(end, -1, device) for _, end in spans]
    both = running = last = 0
    for when, change, _ in sorted(edges):
        both += (when - last) * (running >= 2)
        running, last = running + change, when
    return both


def busy(metadata: tf1.RunMetadata) -> dict[str, int]:
    """Returns the microseconds of work of each device, ops at once counted once.

    Args:
      metadata: as for `intervals`.
    """
    return {
        device: sum(end - start for start, end in spans)
        for device, spans in _busy_spans(intervals(metadata)).items()
    }


def _op_type(op) -> str:
    """Reads `MatMul` out of `[cpu] product = MatMul(a, b)`; empty for none."""
    match = re.search(r" = (\w+)\(", op.timeline_label)
    found = match[1] if match else ""
    return re.sub(r"^_(Mkl|Fused)", "", found) if found != "_Fused" else found


def _busy_spans(rows: list[Interval]) -> dict[str, list[tuple[int, int]]]:
    """Joins the intervals of each device that touch."""
    spans: dict[str, list[tuple[int, int]]] = {}
    for row in sorted(rows, key=lambda row: (row.device, row.start)):
        mine, end = spans.setdefault(row.device, []), row.start + row.duration
        if mine and row.start <= mine[-1][1]:
            mine[-1] = (mine[-1][0], max(end, mine[-1][1]))
        else:
            mine.append((row.start, end))
    return spans
