"""Ten questions that only looking answers, and the check of the answers.

`course.py tensorboard` prints them beside its address, and its *Text* page shows them;
`course.py tensorboard 2=14 10=tower_1` checks answers.
The answers are read from the files of this folder.
"""

import functools
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import tensorflow.compat.v1 as tf1

from helpers.files import whole_file
from prebuilt import build, runs

COMMAND = "python3 course.py tensorboard"
Answer = Callable[[], str]


@functools.cache
def graph(name: str) -> dict[str, tf1.NodeDef]:
    """Returns the nodes of a stored graph by name."""
    path = build.FOLDER / name / build.EVENT_FILE
    _, event = tf1.train.summary_iterator(str(path))
    return {node.name: node for node in tf1.GraphDef.FromString(event.graph_def).node}


@functools.cache
def scalars(name: str, tag: str) -> list[float]:
    """Returns what a run logged under a tag, by step."""
    path = build.FOLDER / name / runs.RUN_FILE
    return [value.simple_value for event in tf1.train.summary_iterator(str(path))
            for value in event.summary.value if value.tag == tag]


def box(name: str) -> str:
    """Returns the box in which one sees an op when no box is open."""
    return name.split("/")[0]


def boxes(name: str, start: str) -> set[str]:
    """Returns the boxes of a graph whose names begin so."""
    return {box(node) for node in graph(name) if node.startswith(start)}


def _half_connected() -> str:
    nodes = graph("vgg19").values()
    users: dict[str, set] = {}
    for node in nodes:
        for source in node.input:
            users.setdefault(source.split(":")[0], set()).add(box(node.name))
    [name] = [node.name for node in nodes if node.op.startswith("Placeholder")
              and users[node.name] == {"fc6", "fc7"}]
    return name


def _device_of_weights() -> str:
    nodes = graph("multi_tower_vgg").values()
    [device] = {node.device for node in nodes if node.op == "VarHandleOp"
                and node.name.startswith("vgg/")}
    return next(box(node.name) for node in nodes if node.device == device
                and node.name.startswith("tower_"))


def _waiting_tower() -> str:
    for node in graph("faulty_towers").values():
        for source in node.input:
            if source.startswith("^tower") and box(source[1:]) != box(node.name):
                return box(node.name)
    raise LookupError("no tower waits for another")


def _tower_of_two_devices() -> str:
    found: dict[str, set] = {}
    for node in graph("faulty_towers").values():
        if node.name.startswith("tower_"):
            found.setdefault(box(node.name), set()).add(node.device)
    [name] = [name for name, devices in found.items() if len(devices) > 1]
    return name


def _tower_left_out() -> str:
    added = map(box, graph("faulty_towers")["average/first"].input)
    [name] = boxes("faulty_towers", "tower_") - set(added)
    return name


class Task(NamedTuple):
    """Question that only looking answers.

    Attributes:
      page: Page of TensorBoard, in its bar at the top.
      run: What to choose on the left of this page.
      question: The question.
      again: Where to look after a wrong answer.
      answer: What the files say.
    """

    page: str
    run: str
    question: str
    again: str
    answer: Answer

    @property
    def where(self) -> str:
        """The page and the run of the question."""
        return f"{self.page}, {self.run}"


TASKS = [
    Task("Graphs", "vgg19", "Which placeholder reaches fc6 and fc7 only?",
         "Click the box fc6. The card on the right lists its inputs.",
         _half_connected),
    Task("Graphs", "vgg19", "How many convolutions are in the chain?",
         "Count the boxes from conv1_1 to conv5_4. Each of them is one convolution.",
         lambda: str(len(boxes("vgg19", "conv")))),
    Task("Graphs", "multi_tower_vgg", "How many towers share one batch?",
         "Click the box input_queue. The card on the right lists its outputs.",
         lambda: str(len(boxes("multi_tower_vgg", "tower_")))),
    Task("Graphs", "multi_tower_vgg",
         "Color by: Device. Which tower has the colour of the weights, vgg?",
         "Scroll down on the left to Color by, and choose Device. Compare the box vgg "
         "with the towers.", _device_of_weights),
    Task("Graphs", "queue_regression",
         "Which box fills the queue, and has no edge to batch?",
         "The queue is the oval examples. Follow its arrows: one leads to batch.",
         lambda: next(box(node.name) for node in graph("queue_regression").values()
                      if node.op.startswith("QueueEnqueue"))),
    Task("Scalars", "rate_0.002 and rate_0.05", "train/loss: which rate ends lower?",
         "Tick only these two runs on the left, and point at the end of each curve.",
         lambda: min(("0.002", "0.05"),
                     key=lambda rate: scalars(f"rate_{rate}", "train/loss")[-1])),
    Task("Scalars", "queue_run", "queue/rows: how many rows has the fullest queue?",
         "Set Smoothing to 0 on the left, and point at the highest place of the curve.",
         lambda: f"{max(scalars('queue_run', 'queue/rows')):.0f}"),
    Task("Graphs", "faulty_towers", "Which tower waits for another (a dashed arrow)?",
         "Look for the dashed arrow between two towers. Its end waits for its start.",
         _waiting_tower),
    Task("Graphs", "faulty_towers",
         "Color by: Device. In which tower is an op on a wrong device?",
         "Scroll down on the left to Color by, and choose Device. A box with two "
         "colours has ops on two devices.", _tower_of_two_devices),
    Task("Graphs", "faulty_towers", "Whose gradient never reaches average/first?",
         "Double-click the box average, then click first. The card on the right lists "
         "its inputs.", _tower_left_out),
]
HOW = ("The pages are in the bar at the top. Runs are on the left, and their names "
       "begin with\nprebuilt/. On the page Graphs, choose one of them under Run.")


def sheet() -> str:
    """Returns what to do, and the questions, one a line."""
    return "\n".join([HOW, *(f"{k:2}. {task.where}: {task.question}"
                             for k, task in enumerate(TASKS, 1))])


def tasks() -> list[tf1.Event]:
    """Returns the run that shows the questions on TensorBoard's page *Text*."""
    with tf1.Graph().as_default(), tf1.Session() as session:
        lines = "\n".join(line.replace("_", r"\_") for line in sheet().splitlines())
        shown = session.run(tf1.summary.text("ten questions", tf1.constant(lines)))
    return [tf1.Event(file_version="brain.Event:2"),
            tf1.Event(summary=tf1.Summary.FromString(shown))]


def check(answers: list[str]) -> list[str]:
    """Returns a line for each answer, such as `3=4`, and where to look again.

    Raises:
      ValueError: an answer has no number of a question.
    """
    lines = []
    for answer in answers:
        number, _, said = answer.partition("=")
        if not number.isdigit() or not 1 <= int(number) <= len(TASKS):
            raise ValueError(f"The answer {answer!r} must have the form NUMBER=ANSWER, "
                             f"with a number from 1 to {len(TASKS)}.")
        task = TASKS[int(number) - 1]
        right = said.strip().lower() == task.answer().lower()
        lines.append(f"  {'✓' if right else '✗'} {number}. {task.where}: "
                     f"{task.question}")
        if not right:
            lines += textwrap.wrap(f"Look again. {task.again}", 80,
                                   initial_indent=" " * 4, subsequent_indent=" " * 4)
    return lines


def write(folder: Path = build.FOLDER) -> None:
    """Writes the questions: for TensorBoard, and as text for who starts it."""
    build.write_events(folder / "tasks" / runs.RUN_FILE, tasks())
    with whole_file(folder / "tasks" / "questions.txt") as temporary:
        temporary.write_text(f"{sheet()}\nCheck what you saw: {COMMAND} 1=YOURS\n",
                             "utf-8")
