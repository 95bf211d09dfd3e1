"""The film of a pipeline: what it counts, how it ends, and its page in a browser."""

import contextlib
import random
import re
import threading
import time
from dataclasses import replace

import numpy as np
import pytest
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers.errors import PipelineStalled
from helpers.queues import feed_queue, film, filming, running_queues
from helpers.queues.film_frames import Frame, Wait
from helpers.queues.film_page import in_notebook

pytestmark = pytest.mark.usefixtures("no_thread_left")


def hanging():
    """A queue without a runner, and one behind it that waits for it."""
    with tf.Graph().as_default() as graph:
        first = tf1.FIFOQueue(8, [tf.int32], shapes=[[]], name="first")
        first.enqueue(1)
        return graph, tf1.train.batch([first.dequeue()], 5, name="batches")


@pytest.fixture(scope="module")
def hang():
    """The film of the classic hang."""
    graph, batch = hanging()
    with (
        tf1.Session(graph=graph) as session,
        pytest.raises(PipelineStalled, match="'first' starves"),
        film(session, batch) as movie,
        running_queues(session, stall=0.5) as runner,
    ):
        runner.run(batch)
    return movie


def one_queue(capacity=20, kind=tf1.FIFOQueue, **options):
    with tf.Graph().as_default() as graph:
        queue = kind(capacity, dtypes=[tf.int32], shapes=[[]], name="q", **options)
    return graph, queue


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
    assert (last.moved, last.sizes, last.steps) == (((17, 10),), (7,), 2)
    times, sizes = movie.level("q")
    assert sizes[0] == 0 and sizes[-1] == 7 and (np.diff(times) > 0).all()


def test_rows_of_a_feed_are_counted_by_those_who_take_them():
    graph, queue = one_queue()
    with graph.as_default():
        take = queue.dequeue_many(3)
        feed_queue(queue, np.arange(9, dtype=np.int32))
    with (
        tf1.Session(graph=graph) as session, film(session, take) as movie,
        running_queues(session) as runner,
    ):
        list(runner.steps(take, n=7))
    [(into, out)] = movie.frames[-1].moved
    assert out == 21 and into == 21 + movie.frames[-1].sizes[0]
    assert movie.frames[-1].alive == (1,)


def test_names_that_a_reader_takes_are_counted_by_what_is_left(tmp_path):
    paths = [tmp_path / f"{k}.txt" for k in range(5)]
    for path in paths:
        path.write_text("a\nb\n")
    with tf.Graph().as_default() as graph:
        names = tf1.train.string_input_producer(
            [*map(str, paths)], 1, shuffle=False, name="names")
        take = tf1.train.batch([tf1.TextLineReader().read(names)[1]], 2, capacity=4)
        init = tf1.local_variables_initializer()
    with tf1.Session(graph=graph) as session, film(session, take) as movie:
        session.run(init)
        with running_queues(session) as runner:
            assert len(list(runner.steps(take))) == 5
    assert movie.frames[-1].moved == ((5, 5), (10, 10))


def test_a_step_that_is_fed_takes_nothing():
    graph, queue = one_queue()
    with graph.as_default():
        take = queue.dequeue()
        double = 2 * take
    with tf1.Session(graph=graph) as session, film(session, double) as movie:
        assert session.run(double, {take: 4}) == 8
    assert movie.steps == 0 and movie.frames[-1].moved == ((0, 0),)


def test_only_the_queues_behind_the_fetches_count():
    graph, queue = one_queue()
    with graph.as_default():
        other = tf1.FIFOQueue(5, [tf.int32], [[]], name="other")
        ops = [other.enqueue(1), other.dequeue(), queue.enqueue(1), queue.dequeue()]
    with tf1.Session(graph=graph) as session, film(session, ops[-1]) as movie:
        for op in ops:
            session.run(op)
    assert [state.name for state in movie.queues] == ["q"]
    assert movie.steps == 1 and movie.frames[-1].moved == ((1, 1),)


def test_a_full_queue_makes_its_thread_wait_for_room():
    graph, queue = one_queue(capacity=3)
    with graph.as_default():
        tf1.train.add_queue_runner(tf1.train.QueueRunner(queue, [queue.enqueue(1)]))
    with (
        tf1.Session(graph=graph) as session, film(session) as movie,
        running_queues(session),
    ):
        while not movie.frames[-1].waits:
            time.sleep(0.01)
    [wait] = movie.frames[-1].waits
    assert (wait.who, wait.wants) == ("thread 1 of 'q'", "room")
    assert movie.frames[-1].words == ("full",)
    assert movie.starving is None and "no queue starves" in movie.summary()


def test_a_wait_begins_when_the_queue_is_short_not_when_the_call_began():
    """A call that works first, then waits, waits from the look that saw it."""
    graph, queue = one_queue(capacity=1)
    working, go = threading.Event(), threading.Event()

    def work():
        working.set()
        go.wait(60)
        return np.int32(1)

    with graph.as_default():
        item = tf.reshape(tf.numpy_function(work, [], tf.int32), [])
        put, first = queue.enqueue(item), queue.enqueue(0)
        take = queue.dequeue()
    # A thread for `work`, and others for the rest: of its own, however few cores.
    threads = tf1.ConfigProto(use_per_session_threads=True,
                              inter_op_parallelism_threads=4)
    with tf1.Session(graph=graph, config=threads) as session, film(session) as movie:
        thread = threading.Thread(target=session.run, args=(put,))
        thread.start()
        assert working.wait(60)
        while len(movie.frames) < 8:
            time.sleep(0.01)
        released = movie.frames[-1].seconds
        assert not movie.frames[-1].waits  # it works
        session.run(first)
        go.set()
        while not movie.frames[-1].waits:
            time.sleep(0.01)
        assert movie.frames[-1].waits[0].since >= released
        session.run(take)
        thread.join()


def test_min_after_dequeue_is_kept_back():
    graph, queue = one_queue(kind=tf1.RandomShuffleQueue, min_after_dequeue=10)
    with graph.as_default():
        fill, take = queue.enqueue_many([tf.range(10)]), queue.dequeue()
    options = tf1.RunOptions(timeout_in_ms=300)
    with tf1.Session(graph=graph) as session, film(session, take) as movie:
        session.run(fill)
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(take, options=options)
    assert movie.frames[-1].sizes == (10,) and movie.frames[-1].words == ("starves",)
    assert any(frame.waits for frame in movie.frames)
    assert 'class="kept"' in in_notebook(movie.queues, movie.frames, "s").replace(
        "&quot;", '"')


def test_it_may_end_before_the_threads_do():
    """As with `training.Model`, whose queues run until it is closed."""
    graph, queue = one_queue()
    with graph.as_default():
        tf1.train.add_queue_runner(tf1.train.QueueRunner(queue, [queue.enqueue(1)]))
        take = queue.dequeue_many(2)
    with tf1.Session(graph=graph) as session, contextlib.ExitStack() as later:
        with film(session, take) as movie:
            runner = later.enter_context(running_queues(session))
            list(runner.steps(take, n=3))
        assert list(runner.steps(take, n=2)) and movie.steps == 3
        later.close()
        with film(session, take) as again:
            pass
        assert again.steps == 0


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


def test_a_session_that_is_closed_inside_ends_the_film_too():
    graph, _ = one_queue()
    session = tf1.Session(graph=graph)
    with film(session) as movie:
        session.close()
    assert movie.frames and movie.starving is None
    assert "no queue starves" not in movie.summary()


def test_an_error_of_tensorflow_comes_as_it_is():
    graph, _ = one_queue()
    with tf1.Session(graph=graph) as session, film(session):
        for wrong in (7, None, "nobody:0"):
            with pytest.raises((TypeError, ValueError)) as plain:
                tf1.Session.run(session, wrong)
            with pytest.raises(type(plain.value)) as filmed:
                session.run(wrong)
            assert str(filmed.value) == str(plain.value)


def test_what_cannot_be_filmed_is_refused():
    graph, queue = one_queue()
    with graph.as_default():
        tf1.train.add_queue_runner(tf1.train.QueueRunner(queue, [queue.enqueue(1)]))
        other = tf.constant(1)
        with (
            tf1.train.MonitoredSession() as session,
            pytest.raises(RuntimeError, match="MonitoredSession"), film(session),
        ):
            pass
    with tf1.Session(graph=graph) as session:
        with pytest.raises(ValueError, match="from no queue"), film(session, other):
            pass
        with (
            film(session), pytest.raises(RuntimeError, match="another film"),
            film(session),
        ):
            pass
        with (
            running_queues(session),
            pytest.raises(RuntimeError, match="'q' run already: write .* first"),
            film(session),
        ):
            pass
    with (
        tf1.Session(graph=graph) as session, film(session) as movie,
        pytest.raises(KeyError, match="no queue 'r'; it has q"),
    ):
        movie.level("r")


def test_a_long_film_is_thinned_out(monkeypatch):
    monkeypatch.setattr(filming, "_FRAMES", 10)
    monkeypatch.setattr(filming, "_BETWEEN", 0.001)
    graph, _ = one_queue()
    with tf1.Session(graph=graph) as session, film(session) as movie:
        while not movie.frames[-1].seconds > 0.2:
            time.sleep(0.01)
    times = [frame.seconds for frame in movie.frames]
    assert len(times) <= 10 and times == sorted(times)
    assert times[0] < 0.15 and times[-1] > 0.2


def long_film(hang):
    """A minute of four queues and twelve threads, in which nothing stays the same."""
    chance = random.Random(7)
    queues = [replace(hang.queues[0], name=f"queue_{k}", capacity=1000)
              for k in range(4)]
    frames = [
        Frame(
            seconds=k / 20, steps=3 * k,
            sizes=tuple(chance.randrange(1001) for _ in queues),
            words=tuple(chance.choice(["flows", "starves", "full"]) for _ in queues),
            alive=(3,) * 4, moved=((37 * k, 31 * k),) * 4,
            waits=tuple(Wait(f"thread {n}", f"queue_{chance.randrange(4)}", "items",
                             k / 20 - chance.random())
                        for n in range(12) if chance.random() < 0.7),
        )
        for k in range(1201)
    ]
    return queues, frames


def test_a_minute_of_four_queues_is_small(hang):
    assert len(in_notebook(*long_film(hang), "A minute.")) < 300_000


def test_the_page_names_no_other_place(hang):
    text = hang._repr_html_().replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"https?:|//\w|url\((?!#)|@import", text)
    for scheme in ("prefers-color-scheme: dark", "color-scheme: light dark"):
        assert scheme in text


@pytest.fixture
def asked(page):
    """What the page asks for."""
    found = []
    page.on("request", lambda request: found.append(request.url))
    return found


def look(page, k):
    """Goes to a moment by keyboard or by dragging; returns its sentence."""
    slider = page.locator("#moment")
    if k == "drag":
        box = slider.bounding_box()
        middle = box["y"] + box["height"] / 2
        page.mouse.move(box["x"] + 9, middle)
        page.mouse.down()
        page.mouse.move(box["x"] + box["width"] + 40, middle, steps=8)
        page.mouse.up()
    else:
        slider.press(k)
    return slider.get_attribute("aria-valuetext")


@pytest.mark.slow
def test_the_slider_shows_the_starving_queue_and_its_name(hang, page, asked, tmp_path):
    path = tmp_path / "film.html"
    hang.save(path)
    assert path.stat().st_size < 300_000
    page.goto(path.as_uri())
    first = look(page, "Home")
    assert first.startswith("0.") and "waits" not in first
    assert "the step waits" not in page.locator("svg").text_content()
    for key in ("End", "drag"):
        look(page, "Home")
        said = look(page, key)
        assert "'first' starves" in said
        step = r"the step waits for items in 'batches/fifo_queue' since 0\.\d"
        assert re.search(step, said)
    tank = page.locator("g.queue").first
    assert tank.get_attribute("class") == "queue starves"
    assert tank.locator(".word").text_content() == "starves"
    assert "stripes" in tank.locator(".mark").evaluate("e => getComputedStyle(e).fill")
    waits = page.locator("text.wait").all_text_contents()
    assert any(line.startswith("thread 1 of 'batches/fifo_queue'") for line in waits)
    look(page, "ArrowLeft")
    assert page.locator("#moment").input_value() == str(len(hang.frames) - 2)
    assert asked == [path.as_uri()]


@pytest.mark.slow
def test_boxes_fill_and_drain(page, hang, tmp_path):
    queues, frames = long_film(hang)
    movie = filming.Film(tuple(queues))
    movie.frames = frames
    movie.save(tmp_path / "film.html")
    page.goto((tmp_path / "film.html").as_uri())
    for key, k in (("Home", 0), ("ArrowRight", 1), ("ArrowRight", 2), ("End", 1200)):
        said = look(page, key)
        heights = page.locator(".item").evaluate_all(
            "items => items.map(item => item.height.baseVal.value)")
        assert heights == pytest.approx([s * 64 / 1000 for s in frames[k].sizes], 1e-4)
        assert page.locator("g.queue .word").all_text_contents() == [*frames[k].words]
        assert f"steps done: {3 * k}." in said
        assert said.count(" waits for items") == len(frames[k].waits)
        for wait in frames[k].waits:
            assert f"{wait.who} waits for items in '{wait.queue}' since" in said


@pytest.mark.slow
def test_in_a_notebook_it_lives_in_a_frame_and_without_script_it_is_a_picture(
    hang, page, asked, tmp_path
):
    path = tmp_path / "output.html"
    path.write_text(f"<!doctype html><body>{hang._repr_html_()}", "utf-8")
    page.goto(path.as_uri())
    inside = page.frame_locator("iframe")
    inside.locator("#moment").press("Home")
    inside.locator("#moment").press("End")
    assert inside.locator("g.queue.starves .word").first.is_visible()
    assert not page.locator("img").is_visible()
    own = ("file:", "data:", "about:")
    assert not [url for url in asked if not url.startswith(own)]
    # What JupyterLab leaves of it in a notebook that it does not trust.
    bare = re.sub(r"<(style|iframe)\b.*</\1>", "", hang._repr_html_(), flags=re.S)
    path.write_text(f"<!doctype html><body>{bare}", "utf-8")
    page.goto(path.as_uri())
    picture = page.locator("img")
    assert picture.is_visible() and picture.bounding_box()["width"] >= 500
    assert "'first' starves" in picture.get_attribute("alt")
