"""Security, read off the code: who can reach the servers, and what can run code."""

import ast
import json
import re
import sys
from pathlib import Path

import pytest
from jupyter_server.auth.identity import PasswordIdentityProvider

from tools import environment, lab, serve_graphs

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted(ROOT.glob("notebooks/**/[0-9]*.ipynb"))
PROGRAMS = [
    ROOT / "course.py",
    *(path for folder in ("helpers", "tools", "benchmarks", "prebuilt")
      for path in sorted((ROOT / folder).rglob("*.py"))),
]
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("prebuilt/*.md")]


# Servers --------------------------------------------------------------------------



OPEN = r"0\.0\.0\.0|--bind_all|allow_remote_access|allow_origin"
NO_TOKEN = r"token=['\"]*(\s|$)|password=|disable_check_xsrf|allow_unauthenticated"


def test_jupyterlab_is_started_for_this_machine_with_a_token(monkeypatch):
    started = []
    monkeypatch.setattr(lab, "jupyterlab", lambda: started.append(list(sys.argv)))
    monkeypatch.setattr(sys, "argv", [])
    lab.main([])
    [words] = started
    assert [w for w in words if ".ip=" in w] == ["--ServerApp.ip=127.0.0.1"]
    assert not re.search(f"{OPEN}|{NO_TOKEN}", "\n".join(words), re.M)


def test_an_address_that_the_reader_gives_is_the_only_one(monkeypatch):
    """JupyterLab refuses two; in a container the server has to hear all addresses."""
    started = []
    monkeypatch.setattr(lab, "jupyterlab", lambda: started.append(list(sys.argv)))
    monkeypatch.setattr(sys, "argv", [])
    lab.main(["--ServerApp.ip=192.0.2.7"])
    assert [w for w in started[0] if ".ip=" in w] == ["--ServerApp.ip=192.0.2.7"]


def test_jupyterlab_makes_a_token_of_its_own(monkeypatch):
    monkeypatch.delenv("JUPYTER_TOKEN", raising=False)
    tokens = {PasswordIdentityProvider().token for _ in range(3)}
    assert len(tokens) == 3 and all(len(token) >= 40 for token in tokens)


def test_the_set_up_hands_no_token_on_and_takes_none_away():
    for program in ("course.py", "tools/environment.py"):
        assert "JUPYTER_TOKEN" not in (ROOT / program).read_text("utf-8")
    settings = json.dumps(environment.LAB_SETTINGS)
    assert not re.search(r"token|password|xsrf", settings, re.I)


def test_tensorboard_is_started_for_this_machine(monkeypatch, tmp_path):
    monkeypatch.setattr(serve_graphs, "ROOT", tmp_path)
    monkeypatch.setattr(serve_graphs.subprocess, "call", lambda words, cwd: words)
    words = serve_graphs.main([])
    assert words[1:3] == ["-m", "tools.board_program"]
    assert [w for w in words if w.startswith("--host")] == ["--host=127.0.0.1"]
    assert not re.search(OPEN, "\n".join(words))


def test_no_page_and_no_lesson_tells_anybody_to_open_a_server():
    for path in [*PAGES, *NOTEBOOKS, *PROGRAMS]:
        found = re.search(rf"{OPEN}|--\S*{NO_TOKEN}", path.read_text("utf-8"), re.M)
        assert not found, f"{path.relative_to(ROOT)}: {found[0]}"


# What can run code ----------------------------------------------------------------

UNPICKLERS = {"pickle", "cPickle", "_pickle", "dill", "cloudpickle", "joblib",
              "shelve", "marshal"}
CALLS = {
    "os.system": "a shell string", "os.popen": "a shell string",
    "subprocess.getoutput": "a shell string",
    "subprocess.getstatusoutput": "a shell string",
    "asyncio.create_subprocess_shell": "a shell string",
    "torch.load": "a pickle", "pd.read_pickle": "a pickle",
    "pandas.read_pickle": "a pickle",
    "yaml.load": "objects from YAML", "yaml.unsafe_load": "objects from YAML",
    "eval": "text as code", "exec": "text as code",
    "tf.keras.config.enable_unsafe_deserialization": "code in a saved model",
    "ssl._create_unverified_context": "any server as the right one",
}

# Runs what learners hand in: that is its work, which it says and fences in.
GRADE = ROOT / "tools" / "grade" / "trial.py"
MUTANTS = ROOT / "tools" / "mutants.py"  # runs the course's own solutions, changed
# The keyword, and the only value that is safe.
KEYWORDS = {"allow_pickle": False, "shell": False, "safe_mode": True, "verify": True}


def unsafe(text: str):
    """Yields what a program, or a program that it holds as a string, does unsafely."""
    text = re.sub(r"^\?\??[\w.]+$", "", text, flags=re.M)  # IPython shows a source
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Call):
            names = [ast.unparse(node.func)]
            for word in node.keywords:
                value = getattr(word.value, "value", "not a constant")
                if word.arg in KEYWORDS and value is not KEYWORDS[word.arg]:
                    yield f"line {node.lineno}: {word.arg}={ast.unparse(word.value)}"
        else:
            names = []
            if isinstance(node, ast.Constant) and "\n" in str(node.value):
                yield from unsafe_inside(node.value)
        for name in names:
            if name in CALLS or name.split(".")[0] in UNPICKLERS:
                yield f"line {node.lineno}: {name} takes {CALLS.get(name, 'a pickle')}"


def unsafe_inside(value):
    try:
        ast.parse(value)
    except (SyntaxError, ValueError):
        return  # prose, or the half of a program
    yield from unsafe(value)


@pytest.mark.parametrize("naive", [
    "import pickle",
    "from joblib import load",
    "import numpy as np\nnp.load(path, allow_pickle=True)",
    "np.load(path, allow_pickle=chosen)",
    "torch.load(path)",
    "import os\nos.system('rm ' + name)",
    "from os import system",
    "subprocess.run(f'ls {name}', shell=True)",
    "subprocess.Popen(command, shell=flag)",
    "tf.keras.models.load_model(path, safe_mode=False)",
    "requests.get(url, verify=False)",
    "exec(text)",
    "program = '''\nimport pickle\npickle.load(file)\n'''",
])
@pytest.mark.naive
def test_the_search_finds_naive_code(naive):
    assert list(unsafe(naive))


@pytest.mark.naive
@pytest.mark.parametrize("safe", [
    "np.load(path)", "np.load(path, allow_pickle=False)", "json.load(file)",
    "subprocess.run(['ls', name], shell=False)", "session.run(evaluate)",
    "text = 'a pickle is\\nnever loaded'",
])
def test_the_search_lets_naive_looking_code_pass(safe):
    assert not list(unsafe(safe))


def test_no_program_loads_a_pickle_or_builds_a_shell_string(tried):
    tried(len(PROGRAMS))
    assert len(PROGRAMS) > 30
    found = [f"{path.relative_to(ROOT)}: {what}" for path in PROGRAMS
             for what in unsafe(path.read_text("utf-8"))
             if not (path in (GRADE, MUTANTS)
                     and what.endswith("exec takes text as code"))]
    assert not found, "\n".join(found)


def test_no_lesson_loads_a_pickle_or_builds_a_shell_string(tried):
    """A cell with `!command` or `%%bash` is no Python, and fails here too."""
    tried(len(NOTEBOOKS))
    assert len(NOTEBOOKS) >= 18
    found = []
    for path in NOTEBOOKS:
        for number, cell in enumerate(json.loads(path.read_text("utf-8"))["cells"]):
            if cell["cell_type"] == "code":
                found += [f"{path.name}, cell {number}: {what}"
                          for what in unsafe("".join(cell["source"]))]
    assert not found, "\n".join(found)


def test_numpy_files_come_from_checked_bytes_only():
    """The hash of a download is compared before NumPy opens it."""
    users = {path.name: path.read_text("utf-8") for path in PROGRAMS
             if "np.load(" in path.read_text("utf-8")}
    assert sorted(users) == ["digits.py"]
    text = users["digits.py"]
    assert text.index(".fetch()") < text.index("np.load(")
