"""`course.py doctor`: a line for each thing, the fix where it is bad, an exit code."""

import shutil
import subprocess
import sys
from pathlib import Path
from unittest import mock

import pytest
import tensorflow as tf

from helpers.files import ROOT
from tests.limits import LIMIT
from tools import doctor, environment


def test_it_runs_with_any_python_and_no_set_up(tmp_path, monkeypatch):
    for name in ("course.py", "requirements.txt", "tools/__init__.py",
                 "tools/command.py", "tools/doctor.py", "tools/environment.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    any_python = getattr(sys, "_base_executable", sys.executable)
    done = subprocess.run([any_python, "-I", tmp_path / "course.py", "doctor"],
                          capture_output=True, text=True, timeout=LIMIT)
    lines = done.stdout.splitlines()
    seen = doctor.Finding("TensorFlow", doctor.OK, "")  # its import takes long
    monkeypatch.setattr(doctor, "tensorflow", lambda environment: seen)
    assert len(lines) == len(doctor.examine()), done.stderr
    assert any("does not exist yet" in line for line in lines)
    assert done.returncode == int(any(line.startswith("BAD") for line in lines))


@pytest.mark.parametrize(
    ("name", "sick", "word"),
    [("Python", lambda p: p.setattr(sys, "version_info", (3, 9, 1)), "3.10 to 3.13"),
     ("processor", lambda p: p.setattr(doctor, "CPU_FLAGS", ("no-such-flag",)), "AVX"),
     ("disk", lambda p: (p.setattr(environment, "NEEDED_BYTES", 10**18),
                         p.setattr(environment, "is_set_up", lambda: False)),
      "Free some space"),
     ("data", lambda p: p.setenv("HELPERS_DATA", f"{__file__}/data"),
      "set HELPERS_DATA")],
)
def test_what_stands_in_the_way_is_bad_and_says_the_fix(
    name, sick, word, monkeypatch, capsys
):
    if name == "processor" and not Path("/proc/cpuinfo").exists():
        pytest.skip("this system does not list what its processor can")
    sick(monkeypatch)
    seen = doctor.Finding("TensorFlow", doctor.OK, "")  # its import takes long
    monkeypatch.setattr(doctor, "tensorflow", lambda environment: seen)
    finding = next(f for f in doctor.examine() if f.name == name)
    assert finding.state == doctor.BAD and word in finding.text
    assert doctor.main([]) == 1
    first = capsys.readouterr().out.splitlines()[0]
    assert first.startswith("BAD")


SEES = {"version": "2.21.0", "cuda": "12.5.1", "devices": ["CPU"], "missing": [],
        "capabilities": ["sm_60", "sm_89", "compute_90"]}
H200 = environment.Card("NVIDIA H200", 580, 531, 143_771, 9.0)


@pytest.mark.parametrize("seen, driver, cards, state, word", [
    ({"devices": ["CPU", "GPU", "GPU"]}, True, [], doctor.OK, "sees 2 GPU"),
    ({"devices": ["CPU", "GPU"]}, True, [H200], doctor.OK,
     "sees 1 GPU; NVIDIA H200, compute capability 9.0, driver 580, 531 of 143,771 MiB"),
    ({"devices": ["CPU", "GPU"]}, True, [H200._replace(used=141_359)], doctor.WARN,
     "Another program has taken most of the memory"),
    ({"missing": ["nvidia-a", "nvidia-b"]}, True, [H200], doctor.WARN,
     "missing: nvidia-a, nvidia-b. TensorFlow asks for the libraries of CUDA 12.5.1 by "
     "name, so another version does not replace them. Run: COMMAND"),
    ({"missing": ["nvidia-a"]}, False, [], doctor.OK,
     "driver and the CUDA packages nvidia-a. Install the driver"),
    ({}, True, [], doctor.WARN, "may be too old, because CUDA 12 needs 525"),
    ({}, True, [H200._replace(driver=470)], doctor.WARN,
     "The driver has version 470, but CUDA 12 needs 525 or newer"),
    ({}, True, [H200._replace(capability=5.2)], doctor.WARN,
     "has the compute capability 5.2, and TensorFlow is built for 6.0 and newer"),
    ({"cuda": False}, True, [], doctor.WARN, "built without CUDA"),
])
def test_what_keeps_tensorflow_from_a_gpu(seen, driver, cards, state, word):
    finding = doctor.gpu({**SEES, **seen}, driver, "COMMAND", cards)
    assert finding.state == state and word in finding.text


@pytest.mark.parametrize("line, cards", [
    ("NVIDIA H200, 580.65.06, 531, 143771, 9.0", [H200]),
    ("A, B, 580, 531, 143771, 9.0", [H200._replace(name="A, B")]),
    ("No devices were found", []),
    ("", []),
])
def test_cards_are_those_of_nvidia_smi(monkeypatch, line, cards):
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: mock.Mock(stdout=line))
    assert environment.cards() == cards


def test_it_says_what_tensorflow_sees_here():
    finding = doctor.tensorflow(environment)
    gpus = len(tf.config.list_physical_devices("GPU"))
    assert f"{tf.__version__} sees {gpus or 'no'} GPU" in finding.text


def test_a_proxy_that_would_catch_jupyterlab_is_a_note(monkeypatch):
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example:3128")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    finding = doctor.proxy()
    assert finding.state == doctor.WARN and "NO_PROXY" in finding.text
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    assert doctor.proxy().state == doctor.OK
