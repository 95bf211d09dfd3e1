"""The page of the run on a GPU, what lessons quote of it, and how to repeat it."""

import re

import nbformat
import pytest
import tensorflow as tf

from benchmarks import gpu
from helpers.files import ROOT
from tools import notebook as nb

PAGE = (ROOT / "docs" / "gpu.md").read_text("utf-8")
RECORD = (ROOT / "docs" / "gpu_run.json").read_text("utf-8")


def figures(text):
    """Returns the numbers of a text that have at least three digits."""
    found = re.findall(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?!\w)", text)
    plain = [number.rstrip(",").replace(",", "") for number in found]
    return [number for number in plain if len(number.replace(".", "")) > 2]


def quotations():
    """Yields each paragraph of a lesson that quotes the run, and where it is."""
    for path in nb.lessons(ROOT):
        for cell in nbformat.read(path, as_version=4).cells:
            if cell.cell_type == "markdown" and "docs/gpu.md" in cell.source:
                for paragraph in re.split(r"\n\n", cell.source):
                    if "recorded run" in paragraph or "in that run" in paragraph:
                        yield pytest.param(paragraph, id=cell.id)


def test_every_figure_of_the_page_is_in_the_record():
    recorded = re.findall(r"\d+(?:\.\d+)?", re.sub(r"(?<=\d),(?=\d)", "", RECORD))
    facts = PAGE.split("## Memory")[1]
    missing = [number for number in figures(facts) if not any(
        one.startswith(number) for one in recorded)]
    assert len(figures(facts)) > 20 and not missing


@pytest.mark.parametrize("paragraph", [*quotations()])
def test_a_lesson_quotes_what_the_page_says(paragraph):
    told = figures(re.sub(r"lessons? \w+|\d+\.\d+ times", "", paragraph))
    assert set(told) <= set(figures(PAGE))


def test_without_a_gpu_the_program_says_what_to_do(capsys):
    if tf.config.list_physical_devices("GPU"):
        pytest.skip("there is a GPU here")
    assert gpu.main([]) == 1
    assert "sees no GPU here. To find out why, run" in capsys.readouterr().err


def test_the_facts_can_be_asked_for_one_by_one(capsys):
    """On a CPU, as far as it goes: the queue, a pin that fails, XLA, and towers."""
    assert gpu.main(["placement", "queue", "/cpu:0"]) == 0
    assert "fifo_queue FIFOQueueV2 CPU:0" in capsys.readouterr().out
    assert "InvalidArgumentError" in gpu.placement("strings", "/gpu:99")
    assert "CPU:0" in gpu.placement("strings", "/gpu:99", "soft")
    assert re.fullmatch(r"off by 0\.000\d+", gpu.precision("float32"))
    assert re.fullmatch(r"[\d,]+ pictures per second, [\d.]+ ms a step",
                        gpu.towers("cpu", "2", "A", "8", "4"))
    asked = {function.__name__ for function, _ in gpu.FACTS}
    assert asked == {"memory", "placement", "precision", "xla", "towers"}


@pytest.mark.gpu
def test_every_fact_is_printed(capfd):
    assert gpu.main([]) == 0
    assert len(capfd.readouterr().out.splitlines()) == 1 + len(gpu.FACTS)
