"""`port --try` runs a program of the copy within limits, and says how it ended."""

import socket

import pytest
from ported import written

from tf1tools.port import command as port
from tf1tools.port.outcome import trial

ALONE = any(map(trial._works, trial._WITHOUT_NETWORK))
# A program, what is said of it, and whether it ran.
PROGRAMS = {
    "ends": ("print('step 1\\rstep 9')\nprint('\\x1bdone')\n",
             ["ran, in", "printed last:\n  step 9\n  ?done"], True),
    "fails": ("def f():\n    raise AttributeError('module \\'tensorflow\\' has no "
              "attribute \\'placeholder\\'')\nf()\n",
              ["failed (exit code 1)", "a.py, line 2: raise", "No rule of port has"],
              False),
    "left by a rule": ("print 3\nexecfile('b.py')\n",
                       ["a.py, line 2: execfile", "[py2-builtins]"], False),
    "hangs": ("print('step 7')\nwhile True: pass\n",
              ["still running after 4 seconds", "  step 7"], False),
    "names its file": ("raise RuntimeError('Queue \\'_0_q\\' is closed.')\n",
                       ["`tf1 watch a.py`"], False),
    "downloads": ("import urllib.request\nurllib.request.urlopen('http://a.example')\n",
                  ["a.py, line 2", "download" if ALONE else "failed"], False),
    "writes": ("n = 0\nwhile True:\n    open(str(n), 'w').write('a' * 10 ** 5)\n"
               "    n += 1\n", ["wrote more than 8 MiB"], False),
    "one file": ("open('a', 'w').write('a' * 10 ** 8)\n", ["a.py, line 1"], False),
    "takes memory": ("x = bytearray(10 ** 10)\n", ["MemoryError", "line 1"], False),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_is_run_within_limits(name, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(trial, "DISK", 8 << 20)
    monkeypatch.setattr(trial, "MEMORY", 2 << 30)
    text, words, ran = PROGRAMS[name]
    old, new = written(tmp_path / "old", {"a.py": text}), tmp_path / "new"
    seconds = "4" if name == "hangs" else "100"
    code = port.main(["--write", str(old), str(new), "--try", "python a.py",
                      "--seconds", seconds])
    said = capsys.readouterr().out
    assert [word for word in words if word not in said] == [], said
    assert (code == 0) is ran
    assert (old / "a.py").read_text() == text and "is ready" not in said


@pytest.mark.skipif(not ALONE, reason="the system does not let a program be cut off")
def test_a_program_has_no_network_but_its_own(tmp_path, capsys):
    with socket.create_server(("127.0.0.1", 0)) as ours:
        text = ("import socket\nown = socket.create_server(('127.0.0.1', 0))\n"
                "socket.create_connection(own.getsockname()); print('own')\n"
                f"socket.create_connection(('127.0.0.1', {ours.getsockname()[1]}))\n")
        old = written(tmp_path / "old", {"a.py": text})
        port.main(["--write", str(old), str(tmp_path / "new"), "--try", "python a.py"])
    said = capsys.readouterr().out
    assert "without a network" in said and "a.py, line 4" in said


def test_what_is_no_program_is_refused(tmp_path, capsys):
    old = written(tmp_path / "old", {"a.py": "x = 1\n"})
    assert port.main(["--write", str(old), str(tmp_path / "new"), "--try", "ls"]) == 2
    assert "PROGRAM.py" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        port.main([str(old), "--try", "python a.py"])
