"""One round of each kind of work that the soak repeats; each checks what it promises.

    python -m tools.soak_rounds write|save FOLDER

is the child that a round kills: it says "ready", then writes shards or checkpoints
into FOLDER, again and again, until it is killed.
"""

import contextlib
import subprocess
import sys
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers import lesson, records
from helpers.checkpoints import restore_latest, save_numbered
from helpers.cluster import Cluster, WorkerDied
from helpers.errors import DataError
from helpers.files import ROOT, fresh_folder
from helpers.queues import feed_queue, running_queues
from helpers.shapes import write_tiny_shapes
from helpers.tiny_layout import FOLDER

CLASSES, PER_CLASS, SIZE = 3, 8, 16
LABELS = Counter(dict.fromkeys(range(CLASSES), PER_CLASS))  # of one epoch
FEED_ROWS = 40  # before the source fails
ANSWER = 120  # seconds that a child has for its first line on a loaded machine


def prepare(folder: Path) -> None:
    """Draws the pictures that the rounds convert, once."""
    write_tiny_shapes(folder, num_classes=CLASSES, train=PER_CLASS, val=2, size=SIZE)


def queue_pass(folder: Path, chance: Random) -> None:
    """Converts anew; the queues then deliver every picture once per epoch."""
    convert(folder, folder / "train", chance)
    options = pipeline_options(chance)
    with tf.Graph().as_default(), tf1.Session() as session:
        _, labels = records.image_label_queue(folder / "train", **options)
        session.run(tf1.local_variables_initializer())
        with running_queues(session, stall=ANSWER) as runner:
            check_labels(runner.steps(labels), options["num_epochs"])


def dataset_pass(folder: Path, chance: Random) -> None:
    """Converts anew; `tf.data` then delivers every picture once per epoch."""
    convert(folder, folder / "train", chance)
    options = pipeline_options(chance)
    dataset = records.image_label_dataset(folder / "train", **options)
    check_labels((labels.numpy() for _, labels in dataset), options["num_epochs"])


def failing_feed(folder: Path, chance: Random) -> None:
    """A feed whose source fails: the error comes out of the block, unchanged."""
    good = chance.randrange(FEED_ROWS)

    def source():
        for row in range(FEED_ROWS):
            if row == good:
                raise LookupError(f"row {row} is lost")
            yield np.float32(row)

    with tf.Graph().as_default(), tf1.Session() as session:
        queue = tf.queue.FIFOQueue(chance.randint(1, FEED_ROWS), [tf.float32], [[]])
        feed_queue(queue, source)
        row = queue.dequeue()
        with (
            must_fail(LookupError, f"row {good} is lost"),
            running_queues(session, stall=ANSWER) as runner,
        ):
            for _ in runner.steps(row):
                pass


def save_and_restore(folder: Path, chance: Random) -> None:
    """Goes on from the newest checkpoint that is whole; sometimes it is cut."""
    runs = folder / "checkpoints"
    with warnings.catch_warnings(), tf.Graph().as_default(), tf1.Session() as session:
        warnings.simplefilter("ignore")  # a damaged one is passed over, and said so
        weights, load, saver = small_model()
        session.run(weights.initializer)
        newest = last = (restored(saver, session, runs, weights) or 0) + 3
        for step in range(last - 2, last + 1):
            load(step, session)
            save_numbered(saver, session, runs, step)
        if chance.random() < 0.5:
            [data] = runs.glob(f"*-{last}.data-*")
            data.write_bytes(data.read_bytes()[:chance.randrange(1, 100)])
            newest = last - 1
        load(0, session)
        assert restored(saver, session, runs, weights) == newest


def killed_while_writing(folder: Path, chance: Random) -> None:
    """The shards of a killed writer are whole, or refused; then written anew."""
    target = fresh_folder(folder / "killed")
    (target / FOLDER).symlink_to(folder / FOLDER)
    kill_a_child("write", target, chance)
    with contextlib.suppress(DataError):
        assert records.check_shards(target / "train") == LABELS.total()
    convert(target, target / "train", chance)
    assert records.check_shards(target / "train") == LABELS.total()
    fresh_folder(target)


def killed_while_saving(folder: Path, chance: Random) -> None:
    """Of a killed run the newest whole checkpoint holds one step, and no mixture."""
    target = fresh_folder(folder / "killed")
    kill_a_child("save", target, chance)
    with tf.Graph().as_default(), tf1.Session() as session:
        weights, _, saver = small_model()
        session.run(weights.initializer)
        step = restored(saver, session, target, weights)
        assert step is None or step >= 1
    fresh_folder(target)


def bad_picture(folder: Path, chance: Random) -> None:
    """A conversion that meets a bad picture names it and leaves the older shards."""
    convert(folder, folder / "kept", chance)
    kept = (folder / "kept.manifest.json").read_bytes()
    pictures = sorted((folder / FOLDER / "train").rglob("*.JPEG"))
    picture = chance.choice(pictures)
    whole = picture.read_bytes()
    picture.write_bytes(whole[:chance.randrange(len(whole) - 2)])
    try:
        with must_fail(DataError, picture.name):
            convert(folder, folder / "kept", chance)
    finally:
        picture.write_bytes(whole)
    assert (folder / "kept.manifest.json").read_bytes() == kept
    assert records.check_shards(folder / "kept") == LABELS.total()


def small_cluster(folder: Path, chance: Random) -> None:
    """Two processes; one of them fails, is killed, or neither."""
    program = folder / "task.py"
    program.write_text("import sys\nprint('here')\nsys.exit(int(sys.argv[1]))\n")
    what = chance.choice(["fail", "be killed", "end"])
    heard = contextlib.nullcontext()
    if what == "fail":
        heard = must_fail(WorkerDied, "worker:1 ended with code 3")
    with heard, Cluster(folder / "cluster", {"worker": 2}, seconds=ANSWER) as cluster:
        tasks = [cluster.start("worker", index, program, index * 3 * (what == "fail"))
                 for index in range(2)]
        if what == "be killed":
            tasks[1].kill()
        cluster.wait(*tasks)


KINDS: dict[str, Callable[[Path, Random], None]] = {
    "queue pass": queue_pass,
    "tf.data pass": dataset_pass,
    "failing feed": failing_feed,
    "save, cut, restore": save_and_restore,
    "killed while writing": killed_while_writing,
    "killed while saving": killed_while_saving,
    "bad picture": bad_picture,
    "small cluster": small_cluster,
}


@contextlib.contextmanager
def must_fail(error_type: type[Exception], words: str):
    """A block that has to raise an error of a type, with some words in it."""
    try:
        yield
    except error_type as error:
        assert words in str(error), error
    else:
        raise AssertionError(f"no {error_type.__name__} that says {words}")


def convert(folder: Path, prefix: Path, chance: Random) -> None:
    """Writes the drawn pictures to 1 to 4 shards, in another order each time."""
    records.write_tiny_imagenet_shards(
        folder, "train", prefix, chance.randint(1, 4), seed=chance.randrange(10**6)
    )


def pipeline_options(chance: Random) -> dict:
    return {
        "batch_size": chance.randint(1, 2 * PER_CLASS), "image_size": SIZE,
        "num_epochs": chance.randint(1, 3), "shuffle_buffer": chance.choice([0, 5, 50]),
        "num_threads": chance.randint(1, 4), "augment": chance.random() < 0.5,
        "seed": chance.randrange(10**6),
    }


def check_labels(batches, epochs: int) -> None:
    found = Counter(int(label) for batch in batches for label in batch)
    assert found == Counter({label: n * epochs for label, n in LABELS.items()}), found


def small_model():
    """Returns a variable, the function that fills it with one value, and a Saver."""
    weights = tf1.get_variable("weights", [200, 100])
    value = tf1.placeholder(tf.float32, [])
    fill = weights.assign(tf.fill(weights.shape, value))
    saver = tf1.train.Saver(max_to_keep=3)
    return weights, lambda step, session: session.run(fill.op, {value: step}), saver


def restored(saver, session, folder: Path, weights) -> int | None:
    """Returns the step that is restored, once every value has been seen to be its."""
    step = restore_latest(saver, session, folder)
    if step is not None:
        assert (session.run(weights) == step).all(), f"step {step} holds a mixture"
    return step


def kill_a_child(work: str, folder: Path, chance: Random) -> None:
    """Starts this module as a child and kills it at a random moment of its work."""
    with subprocess.Popen(
        [sys.executable, "-m", "tools.soak_rounds", work, str(folder)], cwd=ROOT,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    ) as child:
        try:
            assert child.stdout.readline() == "ready\n", "the child failed at its start"
            # A random moment is what is tried; nothing depends on how far it came.
            child.wait(chance.random())
        except subprocess.TimeoutExpired:
            return
        finally:
            child.kill()
    raise AssertionError(f"the child that had to {work} without end has ended")


def child(work: str, folder: Path) -> None:
    """Works until it is killed; what is first written says that it has begun."""
    chance = Random()
    with tf.Graph().as_default(), tf1.Session() as session:
        _, load, saver = small_model()
        print("ready", flush=True)
        for step in range(1, 10**9):
            if work == "write":
                convert(folder, folder / "train", chance)
            else:
                load(step, session)
                save_numbered(saver, session, folder, step)


if __name__ == "__main__":
    lesson.begin("soak")
    child(sys.argv[1], Path(sys.argv[2]))
