"""Runs ops one by one on names of files in a watched folder: which touch them?

A process of its own, because an op may end it; the parent goes on behind that op. Each
op runs on constants of a few shapes, every string being the name of a file that lies in
the folder. Linux tells of every file that is opened, made, changed or removed there.
"""

import contextlib
import ctypes
import inspect
import json
import os
import struct
import subprocess
import sys
from pathlib import Path

import tensorflow as tf
from tensorflow.core.framework import op_def_pb2
from tensorflow.python.client import pywrap_tf_session

from tests.limits import LIMIT

SHAPES = ([], [2], [2, 2], [1, 2, 2, 1])
_WATCHED = 0x2 | 0x4 | 0x20 | 0x40 | 0x80 | 0x100 | 0x200  # from <sys/inotify.h>


def registered() -> dict:
    """Returns the definitions of all ops of the installed TensorFlow, by name."""
    message = op_def_pb2.OpList()
    message.ParseFromString(pywrap_tf_session.TF_GetBuffer(
        pywrap_tf_session.TF_GetAllOpList()))
    return {op.name: op for op in message.op}


class Watch:
    """Lists what happened in a folder since it was last asked."""

    def __init__(self, folder: str):
        libc = ctypes.CDLL(None, use_errno=True)
        self.stream = libc.inotify_init1(os.O_NONBLOCK)
        assert libc.inotify_add_watch(self.stream, folder.encode(), _WATCHED) > 0

    def events(self) -> list[str]:
        try:
            data, found = os.read(self.stream, 65536), []
        except BlockingIOError:
            return []
        while data:
            length = struct.unpack_from("iIII", data)[3]
            found.append(data[16 : 16 + length].rstrip(b"\0").decode() or "the folder")
            data = data[16 + length :]
        return sorted(set(found))


def _attribute(attribute, bait: str):
    """Returns a value for an attribute; a string is the file's name wherever it may."""
    allowed = attribute.allowed_values.list
    kind = attribute.type.removeprefix("list(").removesuffix(")")
    one = {
        "type": tf.as_dtype(allowed.type[0]) if allowed.type else tf.float32,
        "int": max(1, attribute.minimum), "float": 1.0, "bool": False, "shape": [2],
        "string": allowed.s[0].decode() if allowed.s else bait,
    }.get(kind)
    return [one] if attribute.type.startswith("list(") else one


def _inputs(op, attributes: dict, shape: list[int], bait: str) -> dict:
    """Returns tensors of one shape for the inputs; numbers are ones."""
    found = {}
    for argument in op.input_arg:
        dtype = tf.as_dtype(argument.type) if argument.type else tf.float32
        dtype = attributes.get(argument.type_attr, dtype)
        if argument.type_list_attr:
            dtype = attributes[argument.type_list_attr][0]
        if dtype == tf.resource:
            value = tf.Variable(tf.ones(shape)).handle
        elif dtype == tf.variant:
            value = tf.raw_ops.EmptyTensorList(
                element_shape=shape, max_num_elements=3, element_dtype=tf.float32)
        else:
            value = tf.fill(shape, bait) if dtype == tf.string else tf.cast(
                tf.ones(shape), dtype)
        listed = argument.number_attr or argument.type_list_attr
        found[argument.name] = [value] if listed else value
    return found


def run(names: list[str], folder: str) -> None:
    """Runs the ops, and prints a line before each and one for what it touched."""
    bait, watch, ops = str(Path(folder) / "bait"), Watch(folder), registered()
    for name in names:
        print(json.dumps([name, None, None]), flush=True)
        call, ran = getattr(tf.raw_ops, name), 0
        taken = inspect.signature(call).parameters
        attributes = {a.name: _attribute(a, bait) for a in ops[name].attr}
        for shape in SHAPES:
            with contextlib.suppress(Exception):
                inputs = _inputs(ops[name], attributes, shape, bait)
                call(**inputs, **{key: value for key, value in attributes.items()
                                  if key in taken and key not in inputs})
                ran += 1
        print(json.dumps([name, ran, watch.events()]), flush=True)


def touched(names: list[str], folder: Path) -> tuple[dict, list[str], int]:
    """Returns what each op touched, which ended the process, and how many ran."""
    for bait in ("bait", "bait.index", "bait.data-00000-of-00001"):
        (folder / bait).write_text("one\ntwo\n")
    found, ended, ran, names = {}, [], 0, list(names)
    while names:
        child = subprocess.run(
            [sys.executable, "-m", "tests.faults.op_by_op", str(folder)], text=True,
            input=json.dumps(names), capture_output=True, timeout=LIMIT,
            env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"})
        lines = [json.loads(line) for line in child.stdout.splitlines()]
        for name, times, events in lines:
            ran += bool(times)
            if events:
                found[name] = events
        if not lines or lines[-1][2] is not None:
            break
        ended.append(lines[-1][0])
        names = names[names.index(lines[-1][0]) + 1:]
    return found, ended, ran


if __name__ == "__main__":
    os.chdir(sys.argv[1])
    run(json.load(sys.stdin), sys.argv[1])
