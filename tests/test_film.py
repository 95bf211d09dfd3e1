"""The film of a pipeline: what it counts, how it ends, and its page in a browser."""

import html
import re
import threading

import numpy as np
import pytest
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.errors import PipelineStalled
from helpers.queues import film, running_queues

pytestmark = pytest.mark.usefixtures("no_thread_left")


@pytest.fixture(scope="module")
def hang():
    """The film of a queue without a runner, and of one that waits for it."""
    with tf.Graph().as_default() as graph:
        first = tf1.FIFOQueue(8, [tf.int32], shapes=[[]], name="first")
        first.enqueue(1)
        batch = tf1.train.batch([first.dequeue()], 5, name="batches")
    with (
        tf1.Session(graph=graph) as session,
        pytest.raises(PipelineStalled, match="'first' starves"),
        film(session, batch) as movie,
        running_queues(session, stall=0.5) as runner,
    ):
        runner.run(batch)
    return movie


def one_queue():
    with tf.Graph().as_default() as graph:
        return graph, tf1.FIFOQueue(20, [tf.int32], shapes=[[]], name="q")


def test_the_hang_names_the_queue_and_who_waits(hang):
    last = hang.frames[-1]
    assert hang.starving == "first" and hang.steps == 0
    assert last.words == ("starves", "starves")  # not "closed", as the stop leaves them
    assert {(w.who, w.queue, w.wants) for w in last.waits} == {
        ("thread 1 of 'batches/fifo_queue'", "first", "items"),
        ("the step", "batches/fifo_queue", "items"),
    }
    assert all(wait.since < last.seconds - 0.2 for wait in last.waits)
    assert "'first' starves: it has no runner" in hang.summary()


def test_items_and_steps_are_counted():
    graph, queue = one_queue()
    with graph.as_default():
        fill, take = queue.enqueue_many([tf.range(17)]), queue.dequeue_many(5)
    with tf1.Session(graph=graph) as session, film(session) as movie:
        session.run(fill)
        for _ in range(2):
            session.run([take])
        session.run(queue.size())
    last = movie.frames[-1]
    assert (last.sizes, last.steps) == ((7,), 2)
    times, sizes = movie.level("q")
    assert sizes[0] == 0 and sizes[-1] == 7 and (np.diff(times) > 0).all()


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_it_ends_with_the_block_on_any_error(error):
    graph, _ = one_queue()
    with tf1.Session(graph=graph) as session:
        with pytest.raises(error), film(session) as movie:
            raise error
        assert not {"run", "make_callable"} & set(vars(session))
        seen = len(movie.frames)
        assert not [t for t in threading.enumerate() if t.name == "film"]
        with film(session) as again:  # a second film is a film of its own
            pass
    assert len(movie.frames) == seen and again.frames is not movie.frames


@pytest.mark.slow
def test_a_control_shows_the_starving_queue_and_its_name(hang, page, tmp_path):
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    path = tmp_path / "film.html"
    hang.save(path)
    assert path.stat().st_size < 100_000
    page.goto(path.as_uri())
    time, said = page.get_by_role("slider", name="time"), page.locator("#says")
    time.press("Home")
    assert time.get_attribute("aria-valuetext").startswith("0.")
    assert "the step waits" not in page.locator("#stage").text_content()
    time.press("End")
    assert "'first' starves" in said.text_content()
    words = page.locator("#stage text").all_text_contents()
    assert words[:3] == ["first", "0 of 8", "starves"]
    assert words[3:6] == ["batches/fifo_queue", "0 of 32", "starves"]
    waits = r"thread 1 of 'batches/fifo_queue' waits for items in 'first' for 0.\d\d s"
    assert any(re.fullmatch(waits, line) for line in words[6:])
    assert any("the step waits for items in 'batches/fifo_queue'" in w for w in words)
    view = page.locator("#stage").evaluate("e => e.viewBox.baseVal.width")
    for text in page.locator("#stage text").all():
        right = text.evaluate("e => e.getBBox().x + e.getBBox().width")
        assert right <= view, text.text_content()
    assert asked == [path.as_uri()]


def test_in_a_notebook_it_is_a_page_that_says_who_starves(hang):
    [alt] = re.findall('alt="(.*?)"', hang._repr_html_())
    assert "'first' starves" in html.unescape(alt)
