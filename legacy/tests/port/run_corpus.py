"""Runs many old programs, each in a fork of one process that has TensorFlow loaded.

    python run_corpus.py FOLDER "HOME PROGRAM ARGUMENT..."...

HOME is the folder below FOLDER where a program is started; a PROGRAM may be
`-m MODULE`.
Prints a JSON object: of each command "" or the error that ended it, and what it said.
"""

import contextlib
import json
import os
import runpy
import signal
import sys
import tempfile
import traceback

LIMIT = 300  # seconds


def run(folder, command):
    """Runs a command as Python would, and returns "" or how it ended."""
    home, *words = command.split()
    os.chdir(os.path.join(folder, home))
    is_module = words[0] == "-m"
    sys.argv = words[is_module:]
    sys.path[0] = os.path.dirname(os.path.abspath(words[0]))
    try:
        if is_module:
            runpy.run_module(words[1], run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(words[0], run_name="__main__")
    except SystemExit as end:
        return f"exit {end.code}" if end.code else ""
    except BaseException as error:
        return "".join(traceback.format_exception(error)[-3:])
    return ""


def forked(folder, command):
    """Returns how a command ended in a process of its own, and what it said."""
    with tempfile.TemporaryFile("w+") as said, tempfile.TemporaryFile("w+") as how:
        child = os.fork()
        if not child:
            signal.alarm(LIMIT)
            os.dup2(said.fileno(), 1)
            with contextlib.redirect_stdout(os.fdopen(1, "w", closefd=False)):
                how.write(run(folder, command))
                sys.stdout.flush()
            how.flush()
            os._exit(0)
        _, status = os.waitpid(child, 0)
        said.seek(0)
        how.seek(0)
        return how.read() or (f"ended by {status}" if status else ""), said.read()


os.environ |= {"TF_USE_LEGACY_KERAS": "1", "TF_CPP_MIN_LOG_LEVEL": "3"}
import tensorflow.compat.v1 as tf  # noqa: E402

_ = tf.keras.layers, tf.layers  # they load themselves when they are asked for
top = os.path.realpath(sys.argv[1])
print(json.dumps({command: forked(top, command) for command in sys.argv[2:]}))
