"""Programs of TensorFlow 2 and Python 3 are left alone: not one byte is another."""

import contextlib
import io
import re
import runpy
from pathlib import Path

import pytest
from ported import copies, written

from tf1tools.port.outcome.work import work
from tf1tools.port.rule import Left, Note

TODAY = dict(re.findall(r"^# === (\w+)\n(.*?)(?=^# ===|\Z)",
                        (Path(__file__).parent / "port" / "today.txt").read_text(),
                        re.M | re.S))


def said(path):
    """Returns what a program prints."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        runpy.run_path(str(path), run_name="__main__")
    return out.getvalue()


@pytest.mark.parametrize("name", TODAY)
def test_a_program_of_today_is_left_alone(name, tmp_path):
    done, new = copies({f"{name}.py": TODAY[name]}, tmp_path)
    assert new[f"{name}.py"] == TODAY[name]
    assert [one.words for one in done.of(Left)] == []
    assert said(tmp_path / "old" / f"{name}.py")


@pytest.mark.parametrize("module, names", [
    ("tensorflow", "ones"), ("tensorflow.keras.layers", "Dense"),
    ("keras.layers", "Dense"), ("tensorflow.nn", "relu"), ("numpy", "ones")])
def test_a_star_that_another_file_uses_is_left_alone(module, names, tmp_path):
    files = {"parts.py": f"from {module} import *\n", "main.py": (
        "import tensorflow as tf\nfrom parts import *\n"
        f"f = tf.function({names})\n")}
    done, new = copies(files, tmp_path)
    assert new == files and [one.words for one in done.of(Left)] == []


# What Python gives each module, used as the text that it is, beside an old program.
TEXTS = [f"{how}print({text}.{method})\n" for module in ("tensorflow", "keras", "numpy")
         for name in ("__version__", "__name__", "__doc__")
         for how, text in ((f"import {module} as m\nv = m.{name}\n", "v"),
                           (f"import {module} as m\n", f"m.{name}"),
                           (f"from {module} import {name}\n", name),
                           (f"from {module} import {name} as v\n", "v"))
         for method in ("startswith('2')", "split('.')[0]")]
# An attribute that the program sets on a module is its own, whatever its name is.
TEXTS += [f"import {module} as m\nm.{name} = [3]\n{use}\n"
          for module in ("tensorflow", "keras", "numpy", "tensorflow.nn")
          for name in ("model", "float", "Session", "contrib") for use in (
              f"print(m.{name}.copy())", f"def f():\n    return m.{name}.index(3)",
              f"m.{name}.append(m.{name}[0])", f"print(m.{name})")]
ASKED = [f"import numpy as np\nprint(np.{name})\n" for name in (
    "testing.assert_allclose", "emath.sqrt", "ma.array", "char.add", "random.Generator",
    "lib.stride_tricks.sliding_window_view", "polynomial.Chebyshev")]
ASKED += [f"import {name.partition('.')[0]}\nif {name.partition('.')[0]}:\n    {name}\n"
          for name in ("os.startfile", "os.O_BINARY", "winreg.OpenKey", "msvcrt.getch",
                       "numpy._core.multiarray._reconstruct", "sys._is_gil_enabled",
                       "subprocess.CREATE_NO_WINDOW", "sys.getwindowsversion",
                       "asyncio.WindowsSelectorEventLoopPolicy")]
ASKED += ["import urllib\nif hasattr(urllib, 'quote'):\n    print(urllib.quote('a'))\n",
          "import numpy as np\nif np.__version__ < '1.2':\n    print(np.float(3))\n"]
ASKED += [f"from keras.src{home} import {name}\nprint({name})\n" for home, name in (
    ("", "layers"), (".layers", "Dense"), (".api_export", "keras_export"))]
# Programs of both versions import private modules that TensorFlow still has.
ASKED += [f"import tensorflow as tf\nfrom tensorflow.python.{home} import {name}\n"
          f"with tf.GradientTape() as tape:\n    print({name}{use})\n"
          for home, name, use in (
              ("ops", "math_ops", ".add(1, 2)"), ("ops", "summary_ops_v2", ""),
              ("framework", "ops", ".convert_to_tensor(3)"),
              ("keras.layers", "Input", "([3])"), ("eager", "context", ""),
              ("data.experimental", "AUTOTUNE", ""))]


def test_new_code_beside_an_old_program_is_left_alone(tmp_path):
    """Both share a module; only the old program, and what is its own, becomes old."""
    old = {"old.py": "import tensorflow as tf\nimport shared, own\ntf.Session\n",
           "own.py": "import tensorflow as tf\ntwice = tf.multiply\n"}
    new = {"shared.py": "import tensorflow as tf\nadd = tf.add\n"} | {
        f"new{number}.py": f"import shared\n{text}" for number, text in enumerate(
            [*TODAY.values(), *TEXTS, *ASKED])}
    done, now = copies(old | new, tmp_path)
    assert {name for name in now if now[name] != (old | new)[name]} == old.keys()
    assert [one.words for one in [*done.of(Left), *done.of(Note)]] == []


def test_all_of_them_together_are_left_alone(tmp_path):
    """In one folder, where a few are imported by one program."""
    written(tmp_path, {f"{name}.py": text for name, text in TODAY.items()})
    written(tmp_path, {"all.py": "".join(f"import {name}\n" for name in TODAY)})
    done = work(tmp_path)
    assert not any(one.is_changed for one in done.outcomes.values())
