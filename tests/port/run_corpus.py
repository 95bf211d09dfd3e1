"""Runs many old programs in one process, each in a graph of its own.

    python run_corpus.py FOLDER PROGRAM...

Prints a JSON object: of each program "" or the error that ended it, and what it said.
"""

import contextlib
import io
import json
import os
import runpy
import sys
import traceback


def run(folder, program):
    """Returns "", or how a program ended."""
    import tensorflow.compat.v1 as tf

    tf.keras.backend.clear_session()  # a new default graph
    opened, session = [], tf.InteractiveSession

    def interactive(*args, **options):
        opened.append(session(*args, **options))
        return opened[-1]

    tf.InteractiveSession = interactive
    path = os.path.join(folder, program)
    before, flags = set(sys.modules), set(tf.flags.FLAGS)
    os.chdir(os.path.dirname(path))
    sys.path.insert(0, os.path.dirname(path))
    try:
        runpy.run_path(path, run_name="__main__")
    except SystemExit as end:
        return "" if not end.code else f"exit {end.code}"
    except BaseException as error:
        return "".join(traceback.format_exception(error)[-3:])
    finally:
        tf.InteractiveSession = session
        for one in opened:  # its graph would stay the default one
            one.close()
        sys.path.pop(0)
        for name in set(sys.modules) - before:
            if getattr(sys.modules[name], "__file__", None) and \
                    sys.modules[name].__file__.startswith(folder):
                del sys.modules[name]
        for name in set(tf.flags.FLAGS) - flags:
            delattr(tf.flags.FLAGS, name)
    return ""


os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
folder, programs = os.path.realpath(sys.argv[1]), sys.argv[2:]
sys.argv = ["program"]
ended = {}
for program in programs:
    with contextlib.redirect_stdout(io.StringIO()) as said:
        error = run(folder, program)
    ended[program] = error, said.getvalue()
print(json.dumps(ended))
