"""The film of values: what it keeps, and how it reads."""

import numpy as np
import pytest
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers import tracing


@pytest.fixture
def counting():
    """A session whose `add` moves `count` by one, and whose `root` is fed."""
    with tf.Graph().as_default() as graph:
        x = tf1.placeholder_with_default(4.0, [], name="x")
        tf.sqrt(x, name="root")
        count = tf1.get_variable("count", [], initializer=tf1.zeros_initializer())
        add = tf.identity(count.assign_add(1.0))
        tf.stack([add, 2.0 * add, 3.0 * add], name="row")
        tf.fill([7], add, name="many")
        tf.strings.as_string(add, precision=0, name="word")
        init = tf1.global_variables_initializer()
    with tf1.Session(graph=graph) as session:
        session.run(init)
        yield session


def test_each_step_is_one_run(counting):
    film = tracing.record(counting, ["row:0", "root:0"], 3)
    assert film.names == ["row", "root"] and len(film) == 3
    np.testing.assert_array_equal(film["row"], np.outer([1, 2, 3], [1, 2, 3]))
    assert film["root"].tolist() == [2, 2, 2]
    assert counting.run("count/Read/ReadVariableOp:0") == 3


def test_a_feed_is_that_of_every_step(counting):
    film = tracing.record(counting, "root:0", 2, {"x:0": 9.0})
    assert film["root"].tolist() == [3, 3]


def test_the_table_is_aligned_and_sums_up_what_is_long(counting):
    lines = tracing.record(
        counting, ["root:0", "row:0", "many:0", "word:0"], 2).table().splitlines()
    assert lines[0].split() == ["step", "root", "row", "many", "word"]
    assert len({len(line) for line in lines}) == 1
    assert "[1 2 3]" in lines[1] and "[7] from 1 to 1" in lines[1]
    assert "[2 4 6]" in lines[2] and lines[2].endswith("2")
