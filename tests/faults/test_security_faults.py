"""Security, read off the code: who can reach the servers, and what can run code."""

import re
import subprocess
import sys

from jupyter_server.auth.identity import PasswordIdentityProvider

from helpers.files import ROOT
from tools import copies, lab, serve_graphs

NOTEBOOKS = sorted(ROOT.glob("notebooks/**/[0-9]*.ipynb"))
PROGRAMS = [
    ROOT / "course.py",
    *(path for folder in ("helpers", "tools", "benchmarks", "prebuilt", "legacy/makers",
                          "legacy/tf1tools")
      for path in sorted((ROOT / folder).rglob("*.py"))),
]
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("prebuilt/*.md")]


# Servers --------------------------------------------------------------------------


OPEN = (r"0\.0\.0\.0|--bind_all|allow_remote_access|allow_origin"
        r"|(?:\bip|host)\W{1,6}(?:\*|::(?!1))['\"\\]")
NO_TOKEN = r"token=['\"]*(\s|$)|password=|disable_check_xsrf|allow_unauthenticated"


def test_jupyterlab_is_started_for_this_machine_with_a_token(monkeypatch, tmp_path):
    monkeypatch.setattr(copies, "FOLDER", tmp_path)
    started = []
    monkeypatch.setattr(lab, "jupyterlab", lambda: started.append(list(sys.argv)))
    monkeypatch.setattr(sys, "argv", [])
    lab.main([])
    [words] = started
    assert [w for w in words if ".ip=" in w] == ["--ServerApp.ip=127.0.0.1"]
    assert not re.search(f"{OPEN}|{NO_TOKEN}", "\n".join(words), re.M)


def test_jupyterlab_makes_a_token_of_its_own(monkeypatch):
    monkeypatch.delenv("JUPYTER_TOKEN", raising=False)
    tokens = {PasswordIdentityProvider().token for _ in range(3)}
    assert len(tokens) == 3 and all(len(token) >= 40 for token in tokens)


def test_tensorboard_is_started_for_this_machine(monkeypatch, tmp_path):
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(serve_graphs, "ROOT", tmp_path)
    monkeypatch.setattr(sys, "argv", [])
    words = []
    monkeypatch.setattr("tensorboard.main.run_main", lambda: words.extend(sys.argv))
    serve_graphs.main([])
    assert [w for w in words if w.startswith("--host")] == ["--host=127.0.0.1"]
    assert not re.search(OPEN, "\n".join(words))


def test_no_page_and_no_lesson_tells_anybody_to_open_a_server():
    for path in [*PAGES, *NOTEBOOKS, *PROGRAMS]:
        found = re.search(rf"{OPEN}|--\S*{NO_TOKEN}", path.read_text("utf-8"), re.M)
        assert not found, f"{path.relative_to(ROOT)}: {found[0]}"


# What can run code ----------------------------------------------------------------

# Pickles, shells, text as code, YAML objects, certificates: what Bandit looks for.
UNSAFE = "S102,S103,S104,S301,S302,S307,S323,S501,S506,S602,S604,S605,S612"
# And what Bandit does not look for: NumPy's pickles, a shell that is named, IPython's.
SHELLS = re.compile(r"allow_pickle=True[^;]|['\"](?:/bin/)?(?:ba)?sh['\"], *['\"]-l?c"
                    r"|^ *\"(?:\w+ *=)? *(?:!(?!\[)|%%(?:bash|sh|script)|%sx)", re.M)
# It runs the program that somebody names.
RUNS_CODE = ("legacy/tf1tools/watch/command.py",)


def test_no_program_and_no_lesson_loads_a_pickle_or_gives_a_string_to_a_shell(tried):
    tried(len(PROGRAMS) + len(NOTEBOOKS))
    places = ["course.py", "helpers", "tools", "benchmarks", "prebuilt", "notebooks",
              "legacy/makers", "legacy/tf1tools"]
    command = ["ruff", "check", "--isolated", f"--select={UNSAFE}", *places]
    allowed = [f"--per-file-ignores={path}:S102" for path in RUNS_CODE]
    done = subprocess.run([sys.executable, "-m", *command, *allowed], cwd=ROOT,
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    for path in [*PROGRAMS, *NOTEBOOKS]:
        found = SHELLS.search(path.read_text("utf-8"))
        assert not found or "rules" in path.parts, f"{path}: {found[0]}"


def test_numpy_files_come_from_checked_bytes_only():
    """The hash of a download is compared before NumPy opens it."""
    users = {path.name: path.read_text("utf-8") for path in PROGRAMS
             if "np.load(" in path.read_text("utf-8")
             and "rules" not in path.parts}  # whose pages quote old programs
    assert sorted(users) == ["digits.py"]
    text = users["digits.py"]
    assert text.index(".fetch()") < text.index("np.load(")
