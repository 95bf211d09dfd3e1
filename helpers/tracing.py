"""What ran where and when: placement, transfers, a timeline, the C++ log.

Facts come from `RunMetadata`, not from parsing logs, so they are the same on every
operating system.
"""

import contextlib
import io
import re
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
import tensorflow.compat.v1 as tf1
from matplotlib.figure import Figure
from tensorflow.core.protobuf import rewriter_config_pb2

# Ops that hand over or wait for others: to count them as work would make an idle
# device look busy.
WAITING = re.compile(
    r"_?(Host)?(Recv|Send)|_Arg|_Retval|NoOp|Queue|Barrier|Reader|Stage|Unstage"
)


class Placed(NamedTuple):
    """One op of your graph and the device that it ran on, such as `CPU:0`."""

    op: str
    type: str
    device: str


class Transfer(NamedTuple):
    """One tensor that TensorFlow moved by a `_Send` and `_Recv` pair of its own."""

    tensor: str
    source: str
    target: str


class Interval(NamedTuple):
    """One op's run: `start` counts from the first op's, both in microseconds."""

    device: str
    op: str
    type: str
    start: int
    duration: int


def as_written(config: tf1.ConfigProto | None = None, **options) -> tf1.ConfigProto:
    """Returns a configuration whose sessions run the graph that you wrote.

    By default TensorFlow rewrites a graph before it runs it: it computes constant
    parts once, joins equal ops and removes those that do nothing. The answers are
    the same, but ops are missing from `placement` and `timeline`.

    Args:
      config: a configuration to copy and change; a new one if `None`.
      **options: fields of a new `ConfigProto`, such as `device_count={"CPU": 4}`.

    Returns:
      A configuration with graph rewriting turned off.
    """
    written = tf1.ConfigProto(**options)
    if config is not None:
        written.MergeFrom(config)
    rewriter = rewriter_config_pb2.RewriterConfig(disable_meta_optimizer=True)
    written.graph_options.rewrite_options.CopyFrom(rewriter)
    written.graph_options.optimizer_options.opt_level = tf1.OptimizerOptions.L0
    return written


def run_traced(session: tf1.Session, fetches: Any, feed_dict: dict | None = None):
    """Runs once with everything recorded.

    Args:
      session: the session; a step with side effects has them.
      fetches: as for `session.run`.
      feed_dict: as for `session.run`.

    Returns:
      What `session.run` returns, and the `RunMetadata` with step statistics and
      partition graphs.
    """
    options = tf1.RunOptions(
        trace_level=tf1.RunOptions.FULL_TRACE, output_partition_graphs=True
    )
    metadata = tf1.RunMetadata()
    values = session.run(fetches, feed_dict, options=options, run_metadata=metadata)
    return values, metadata


def placement(
    session: tf1.Session, fetches: Any, feed_dict: dict | None = None
) -> list[Placed]:
    """Runs once and says which device each op of your graph ran on.

    Ops that TensorFlow put in itself are left out (see `transfers`), and so are
    ops that rewriting took away: open the session with `as_written()` to see all.

    Args:
      session: the session; a step with side effects has them.
      fetches: as for `session.run`.
      feed_dict: as for `session.run`.

    Returns:
      Rows `(op, type, device)`, sorted by op. The type is the one you wrote, also
      where the machine runs a variant of its own (`_MklMatMul` for `MatMul`).

    Source: `RunMetadata.partition_graphs`.
    """
    _, metadata = run_traced(session, fetches, feed_dict)
    written = {op.name: op.type for op in session.graph.get_operations()}
    return sorted(
        Placed(op.name, written[op.name], short_device(op.device))
        for op in _partitioned(metadata)
        if op.name in written
    )


def transfers(
    session: tf1.Session, fetches: Any, feed_dict: dict | None = None
) -> list[Transfer]:
    """Runs once and says which tensors went from one device to another.

    Args:
      session: the session; a step with side effects has them.
      fetches: as for `session.run`.
      feed_dict: as for `session.run`; what you feed arrives on `CPU:0`.

    Returns:
      Rows `(tensor, source, target)`, sorted; one for each `_Send` and `_Recv`
      pair. Edges that carry only order (control edges) have `^` before the name.
    """
    _, metadata = run_traced(session, fetches, feed_dict)
    ops = {op.name: op for op in _partitioned(metadata)}
    sends = {_key(op) for op in ops.values() if op.op in ("_Send", "_HostSend")}
    return sorted(
        Transfer(
            _sent_tensor(op), short_device(op.attr["send_device"].s.decode()),
            short_device(op.attr["recv_device"].s.decode()),
        )
        for op in ops.values()
        if op.op in ("_Recv", "_HostRecv") and _key(op) in sends
    )


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


def timeline(
    source: tf1.Session | tf1.RunMetadata,
    fetches: Any = None,
    feed_dict: dict | None = None,
    *,
    labels: int = 12,
) -> Figure:
    """Draws which op ran where and when: one lane per device.

    Ops that ran at once on one device are stacked inside its lane.

    Args:
      source: a session, which is run once, or the metadata of a traced run.
      fetches: as for `session.run`; only with a session.
      feed_dict: as for `session.run`; only with a session.
      labels: how many of the longest ops carry their name.

    Returns:
      The figure, for `plots.show`.
    """
    if not isinstance(source, tf1.RunMetadata):
        source = run_traced(source, fetches, feed_dict)[1]
    rows = intervals(source)
    lanes, heights = _lanes(rows)
    # One size for one set of devices, whatever ran at once: tests compare sizes.
    fig, ax = plt.subplots(figsize=(8, 0.7 + 0.6 * len(heights)))
    _draw_lanes(ax, lanes, heights, labels)
    ax.set_xlabel("milliseconds since the first op")
    fig.tight_layout()
    return fig


@contextlib.contextmanager
def captured_log() -> Iterator[io.StringIO]:
    """Catches all output inside the block, that of C++ too.

    `log_device_placement=True` writes there, past Python's `sys.stdout`. Read the
    result after the block with `getvalue()`. On Windows C++ output cannot be
    redirected this way: there the result says so in one line, and `placement`
    gives the same facts.

    Yields:
      The text buffer, filled when the block ends.
    """
    text = io.StringIO()
    if sys.platform == "win32":
        text.write("captured_log: not possible on Windows; use tracing.placement\n")
        yield text
        return
    from wurlitzer import pipes

    with contextlib.redirect_stdout(text), pipes(stdout=text, stderr=text):
        yield text


def short_device(name: str) -> str:
    """Returns `CPU:0` for this process's device, `worker:1/CPU:0` for another's.

    Args:
      name: a full name such as `/job:localhost/replica:0/task:0/device:CPU:0`.
    """
    job = re.search(r"/job:(\w+)", name)
    task = re.search(r"/task:(\d+)", name)
    place = re.search(r"(?:/device:|/)(\w+:\d+(?:/stream.*)?)$", name)
    device = re.sub("^[a-z]+", lambda kind: kind[0].upper(), place[1] if place else "")
    if job is None or job[1] == "localhost":
        return device
    return f"{job[1]}:{task[1] if task else 0}/{device}"


def _partitioned(metadata: tf1.RunMetadata) -> list:
    return [op for graph in metadata.partition_graphs for op in graph.node]


def _key(op) -> tuple[bytes, bytes, bytes]:
    """What a `_Send` and its `_Recv` have in common."""
    return tuple(
        op.attr[name].s for name in ("tensor_name", "send_device", "recv_device")
    )


def _sent_tensor(op) -> str:
    """`edge_20_t1/Sum` is the op `t1/Sum`; order alone travels as `^name`."""
    name = re.sub(r"^edge_\d+_", "", op.attr["tensor_name"].s.decode())
    return re.sub(r"^_arg_(.*)_\d+_\d+$", r"\1", name)


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


def _lanes(rows: list[Interval]):
    """Gives each interval a row of its device's lane, the first that is free."""
    lanes, ends = [], {}
    for row in rows:
        free = ends.setdefault(row.device, [])
        place = next((i for i, end in enumerate(free) if end <= row.start), len(free))
        free[place:place + 1] = [row.start + row.duration]
        lanes.append((row, place))
    return lanes, {device: len(free) for device, free in ends.items()}


def _draw_lanes(ax, lanes, heights, labels) -> None:
    base, total = {}, 0
    for device in sorted(heights, reverse=True):
        base[device], total = total, total + heights[device]
        ax.axhline(total, color="0.8", linewidth=0.8)
    colours = dict(zip(sorted(heights), plt.cm.Set2.colors * 9, strict=False))
    span = max(row.start + row.duration for row, _ in lanes) / 1000
    longest = sorted(lanes, key=lambda lane: -lane[0].duration)[:labels]
    for row, place in lanes:
        ax.barh(base[row.device] + place + 0.5, max(row.duration / 1000, span / 800),
                left=row.start / 1000, height=0.8,
                color=colours[row.device], edgecolor="0.3", linewidth=0.4)
    for row, place in longest:
        width = row.duration / 1000
        if width > span * 0.011 * len(row.op):
            ax.text(row.start / 1000 + width / 2, base[row.device] + place + 0.5,
                    row.op, ha="center", va="center", fontsize=8)
    ax.set_yticks([base[d] + heights[d] / 2 for d in base], list(base))
    ax.set_ylim(0, total)
    ax.set_xlim(0, span * 1.01)
    ax.tick_params(axis="y", length=0)
