"""Traces single session runs: the device of each op, and all transfers."""

import re
from typing import Any, NamedTuple

import tensorflow.compat.v1 as tf1
from tensorflow.core.protobuf import rewriter_config_pb2


class Placed(NamedTuple):
    """Op of a graph with the device on which it ran, such as `CPU:0`."""

    op: str
    type: str
    device: str


class Transfer(NamedTuple):
    """Tensor that TensorFlow moved between devices with a `_Send`/`_Recv` pair."""

    tensor: str
    source: str
    target: str


def as_written(config: tf1.ConfigProto | None = None,
               **options: Any) -> tf1.ConfigProto:
    """Returns a session configuration that turns off graph rewriting.

    By default, TensorFlow rewrites a graph before it runs it: it computes constant
    parts only once, merges equal ops, and removes ops without effect. The results are
    the same, but ops are missing from `placement` and `timeline`.

    Args:
      config: Configuration to copy and change. Default: a new one.
      **options: Fields of a new `ConfigProto`, such as `device_count={"CPU": 4}`.

    Returns:
      A configuration whose sessions run the graph as it was written.

    Taught in lesson 02a, the pitfall "rewriting removes the op that you look for".
    """
    written = tf1.ConfigProto(**options)
    if config is not None:
        written.MergeFrom(config)
    rewriter = rewriter_config_pb2.RewriterConfig(disable_meta_optimizer=True)
    written.graph_options.rewrite_options.CopyFrom(rewriter)
    written.graph_options.optimizer_options.opt_level = tf1.OptimizerOptions.L0
    return written


def run_traced(
    session: tf1.Session, fetches: Any, feed_dict: dict | None = None
) -> tuple[Any, tf1.RunMetadata]:
    """Runs a session once and returns the values and a full trace.

    Args:
      session: The session. The side effects of the step happen.
      fetches: Fetches, as for `session.run`.
      feed_dict: Feeds, as for `session.run`.

    Returns:
      The result of `session.run`, and the `RunMetadata` with step statistics and
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
    """Runs a session once and returns the device of every op in the graph.

    Ops that TensorFlow has inserted are left out (see `transfers`), and so are ops that
    graph rewriting has removed. To see these too, open the session with `as_written()`.

    Args:
      session: The session. The side effects of the step happen.
      fetches: Fetches, as for `session.run`.
      feed_dict: Feeds, as for `session.run`.

    Returns:
      Rows `(op, type, device)`, sorted by op. The type is the one in the graph, even if
      the machine runs its own variant (such as `_MklMatMul` for `MatMul`).

    Taught in lesson 02a, "Pin ops, and prove it".
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
    """Runs a session once and returns the tensors that moved between devices.

    Args:
      session: The session. The side effects of the step happen.
      fetches: Fetches, as for `session.run`.
      feed_dict: Feeds, as for `session.run`. Values that you feed arrive on `CPU:0`.

    Returns:
      Sorted rows `(tensor, source, target)`, one for each `_Send` and `_Recv` pair. The
      names of edges that carry only order (control edges) begin with `^`.

    Taught in lesson 02a, "Pin ops, and prove it".
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


def short_device(name: str) -> str:
    """Shortens a device name to `CPU:0`, or to `worker:1/CPU:0` if it is remote.

    Args:
      name: Full name such as `/job:localhost/replica:0/task:0/device:CPU:0`.
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
    """Returns the attributes that a `_Send` op and its `_Recv` op share."""
    return tuple(
        op.attr[name].s for name in ("tensor_name", "send_device", "recv_device")
    )


def _sent_tensor(op) -> str:
    """Returns the op whose tensor a `_Recv` op receives, or `^name` for order only.

    For example, the tensor name `edge_20_t1/Sum` stands for the op `t1/Sum`.
    """
    name = re.sub(r"^edge_\d+_", "", op.attr["tensor_name"].s.decode())
    return re.sub(r"^_arg_(.*)_\d+_\d+$", r"\1", name)
