"""The source's regressions in lesson 15b: train, train again, predict, save, agree.

Each class is taken out of the lesson's cells. What it computes is compared with NumPy,
with the functions of lesson 05a, and with the helpers.
"""

import threading

import numpy as np
import pytest
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers import towers, tracing
from helpers.files import ROOT
from tools import exercises as ex
from tools import notebook as nb
from tools.cells import Lesson

DEVICES = towers.cpu_devices(3)
RANDOM = np.random.default_rng(7)
X = RANDOM.normal(1, 1, [97, 2]).astype(np.float32)
Y = (X @ [3, 2] + 1 + RANDOM.normal(0, 1.5, 97)).astype(np.float32)
EXACT = np.linalg.lstsq(np.c_[X, np.ones(97)], Y, rcond=None)[0]


def taught(number, *names):
    """Returns the definitions of a lesson by name."""
    [path] = nb.lessons(ROOT, [number])
    place = {"devices": DEVICES, "CONFIG": towers.session_config(DEVICES)}
    for source in ex.needed(ex.taught(Lesson(path)), " ".join(names)):
        exec(source, place)
    return [place[name] for name in names]


ONE, HALF, THREE, QUEUED, average, squared_error = taught(
    "15b", "TF_GD_LinearRegression", "Multi_LR_V1", "TF_Multi_GD_LinearRegression",
    "Coord_LinearRegression", "process_gradient_list", "squared_error")
FED = [ONE, THREE]


def new(kind):
    return kind(X, Y) if kind is QUEUED else kind()


def train_dict(model, rate=0.1, x=X, y=Y):
    fed = {} if isinstance(model, QUEUED) else {
        model.x_placeholder: x, model.y_placeholder: y}
    return {**fed, model.learning_rate: rate}


def predict(model, x):
    place = model.x_test if isinstance(model, QUEUED) else model.x_placeholder
    return model.predict({place: x})


def weights(model):
    return np.concatenate([v.ravel() for v in model.run([model.w, model.b])])


def begin_at(model, values):
    with model.session.graph.as_default():
        model.w.load(np.reshape(values[:2], [2, 1]), model.session)
        model.b.load(values[2:], model.session)


@pytest.mark.parametrize("kind", [ONE, THREE, QUEUED])
def test_a_class_trains_trains_again_predicts_and_saves(kind, tmp_path):
    near = 0.4 if kind is QUEUED else 1e-3
    before = set(threading.enumerate())
    with new(kind) as model:
        model.fit(train_dict(model), 200)
        model.fit(train_dict(model, 0.01 if kind is QUEUED else 0.1), 200)
        found = weights(model)
        np.testing.assert_allclose(found, EXACT, atol=near)
        answers = predict(model, X[:5])
        np.testing.assert_allclose(answers, X[:5] @ found[:2] + found[2], rtol=1e-5)
        model.save(tmp_path)
        with new(kind) as other:  # the first one still works
            assert other.restore(tmp_path) == 400
            np.testing.assert_array_equal(predict(other, X[:5]), answers)
            other.fit(train_dict(other), 3)
            assert other.session.run(other.step) == 403
        np.testing.assert_array_equal(weights(model), found)
    assert set(threading.enumerate()) <= before


@pytest.mark.parametrize("kind", FED)
def test_fed_classes_take_the_steps_of_lesson_05a(kind):
    regression, squared_loss, fit = taught("05a", "regression", "squared_loss", "fit")
    with tf.Graph().as_default():
        features = tf1.placeholder(tf.float32, [None, 2])
        targets = tf1.placeholder(tf.float32, [None, 1])
        loss = squared_loss(regression(features), targets)
        train = tf1.train.GradientDescentOptimizer(0.1).minimize(loss)
        last, w, b = fit(loss, train, {features: X, targets: Y[:, None]}, steps=20)
    with new(kind) as model:
        begin_at(model, [0, 0, 0])
        model.fit(train_dict(model), 20)
        np.testing.assert_allclose(weights(model), [*w.ravel(), *b], rtol=1e-5)
        fetched = model.run(model.loss, train_dict(model))
        np.testing.assert_allclose(fetched, last, rtol=1e-5)


def test_one_device_returns_the_loss_before_and_the_weights_after_the_step():
    with ONE() as model:
        begin_at(model, [0, 0, 0])
        loss, w, b = model.fit(train_dict(model))
        np.testing.assert_allclose(loss, np.mean(Y**2), rtol=1e-5)
        np.testing.assert_allclose(w.ravel(), 0.2 * X.T @ Y / len(X), rtol=1e-4)
        np.testing.assert_allclose(b, [0.2 * Y.mean()], rtol=1e-5)


@pytest.mark.parametrize("rows", [3, 10, 97])
def test_three_towers_compute_the_gradient_of_the_batch_from_other_rows(rows):
    x, y = X[:rows], Y[:rows]
    with THREE() as model:
        of_towers = model.get_gradients(train_dict(model, x=x, y=y))
        averages = model.run([g for g, _ in model.avg_gradients],
                             train_dict(model, x=x, y=y))
        found = weights(model)
    away = x @ found[:2] + found[2] - y
    np.testing.assert_allclose(averages[0].ravel(), 2 * x.T @ away / rows, rtol=1e-4)
    np.testing.assert_allclose(averages[1], [2 * away.mean()], rtol=1e-4)
    first = [pairs[0][0].ravel() for pairs in of_towers]
    assert np.ptp(first, axis=0).max() > 0.01


def test_half_a_program_gives_the_gradient_of_its_first_slice():
    model = HALF()
    with model.session:
        pairs = model.get_one_gradient(
            {model.x_placeholder: X[:10], model.y_placeholder: Y[:10]})
    (of_w, w), (of_b, b) = pairs
    x, away = X[:3], X[:3] @ w.ravel() + b - Y[:3]
    np.testing.assert_allclose(of_w.ravel(), 2 * x.T @ away / 3, rtol=1e-4)
    np.testing.assert_allclose(of_b, [2 * away.mean()], rtol=1e-4)


def test_each_tower_computes_on_its_own_device():
    model = HALF()
    with model.session as session:
        ran = tracing.placement(session, model.tower_grads, {
            model.x_placeholder: X, model.y_placeholder: Y})
    for k, device in enumerate(DEVICES):
        products = {row.device for row in ran if row.type == "MatMul"
                    and f"tower_{k}/" in row.op}
        assert {name.lower() for name in products} == {device.lstrip("/")}


def lists_of(values, variables):
    return [[(None if value is None else tf.constant(value), variable)
             for value, variable in zip(tower, variables, strict=True)]
            for tower in values]


def test_the_average_is_that_of_the_helper():
    with tf.Graph().as_default(), tf1.Session() as session:
        variables = [tf1.get_variable(name, [3]) for name in "abc"]
        values = [[*RANDOM.normal(size=[2, 3]).astype(np.float32), None]
                  for _ in range(3)]
        gradients = lists_of(values, variables)
        for rows in (None, [4, 3, 3]):
            ours = average(gradients, rows)
            theirs = towers.process_gradient_list(gradients, rows)
            assert [v for _, v in ours] == variables and ours[2][0] is None
            for (found, _), (due, _) in zip(ours[:2], theirs, strict=False):
                np.testing.assert_allclose(*session.run([found, due]), rtol=1e-6)


@pytest.mark.parametrize("change", [
    lambda pairs: pairs[::-1],
    lambda pairs: pairs[:1],
    lambda pairs: [(None, pairs[0][1]), pairs[1]],
], ids=["another order", "a variable is missing", "None in one tower"])
def test_the_average_refuses_lists_that_do_not_match(change):
    with tf.Graph().as_default():
        variables = [tf1.get_variable(name, [3]) for name in "ab"]
        [pairs] = lists_of([np.ones([2, 3], np.float32)], variables)
        with pytest.raises(ValueError):
            average([pairs, change(pairs)])


def test_the_loss_refuses_a_column():
    with tf.Graph().as_default(), pytest.raises(ValueError, match="rank"):
        squared_error(tf.zeros([10, 1]), tf.zeros([10]))


def test_the_queue_delivers_rows_of_the_whole_data_each_once_an_epoch():
    x = np.arange(2 * 1500, dtype=np.float32).reshape(-1, 2)
    with QUEUED(x, x[:, 0]) as model:
        batches = [model.run([model.x_train, model.y_train]) for _ in range(90)]
        constants = [op.outputs[0].shape.num_elements()
                     for op in model.graph.get_operations() if op.type == "Const"]
    rows = np.concatenate([features[:, 0] for features, _ in batches])
    assert all((features[:, 0] == targets).all() for features, targets in batches)
    assert len(set(rows)) == len(rows) == 1350  # of an epoch of 1,500
    assert max(batches[0][0][:, 0]) > 1000 and max(constants) < 100
