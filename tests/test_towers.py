"""Towers against the one big batch, on four logical devices, and what each refuses."""

import numpy as np
import pytest
import tensorflow as tf
import tensorflow.compat.v1 as tf1
from pipelines import started

from helpers.layers import fully_connected_layer
from helpers.towers import (
    build_towers,
    cpu_devices,
    devices,
    process_gradient_list,
    session_config,
    split_batch,
)
from helpers.towers.hardware import MEMORY_LIMIT

TOWERS = 4
BATCH = 4 * 7
CONFIG = tf1.ConfigProto(device_count={"CPU": TOWERS})


def net(features):
    """float32 `[batch, 5]` -> `[batch, 3]`."""
    hidden = fully_connected_layer(features, 11, activation_fn=tf.tanh, name="hidden")
    return fully_connected_layer(hidden, 3, name="output")


def data(rows=BATCH, seed=3):
    random = np.random.default_rng(seed)
    features = random.normal(size=[rows, 5]).astype(np.float32)
    targets = random.normal(size=[rows, 1]).astype(np.float32)
    return features, targets


def loss_of(features, targets):
    return tf.reduce_mean(tf.square(net(features) - targets))


def tower_graph(optimizer, slices_of, weights=None):
    """Returns losses, tower gradients, their average, and the big batch's gradient."""
    features, targets = data()

    def tower(features, targets):
        loss = loss_of(features, targets)
        return loss, optimizer.compute_gradients(loss)

    slices = slices_of(tf.constant(features), tf.constant(targets))
    towers = build_towers(tower, cpu_devices(TOWERS), slices)
    losses, gradients = zip(*towers, strict=True)
    average = process_gradient_list(gradients, weights, losses=losses)
    with tf1.variable_scope(tf1.get_variable_scope(), reuse=True):
        big = loss_of(tf.constant(features), tf.constant(targets))
    return losses, gradients, average, optimizer.compute_gradients(big)


def equally(*tensors):
    return split_batch(tensors, TOWERS)


def unequally(*tensors):
    return list(zip(*[tf.split(t, [2, 5, 8, 13]) for t in tensors], strict=True))


def test_average_is_the_gradient_of_the_big_batch():
    with tf.Graph().as_default() as graph:
        tf1.set_random_seed(11)
        optimizer = tf1.train.GradientDescentOptimizer(0.1)
        _, towers, average, big = tower_graph(optimizer, equally)
        with started(graph, CONFIG) as session:
            towers, average, big = session.run([towers, average, big])
    for (ours, _), (theirs, _) in zip(average, big, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5)
    pairs_by_variable = zip(*towers, strict=True)
    spread = max(
        np.ptp([g for g, _ in pairs], axis=0).max() for pairs in pairs_by_variable
    )
    assert spread > 0.01


@pytest.mark.parametrize("as_tensors", [False, True])
def test_unequal_slices_count_by_their_size(as_tensors):
    with tf.Graph().as_default() as graph:
        tf1.set_random_seed(11)
        optimizer = tf1.train.GradientDescentOptimizer(0.1)
        sizes = [2, 5, 8, 13]
        weights = [tf.constant(size) for size in sizes] if as_tensors else sizes
        _, towers, average, big = tower_graph(optimizer, unequally, weights)
        plain = process_gradient_list(towers)
        with started(graph, CONFIG) as session:
            average, plain, big = session.run([average, plain, big])
    for (ours, _), (theirs, _) in zip(average, big, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5)
    wrong = [np.abs(p - b).max() for (p, _), (b, _) in zip(plain, big, strict=True)]
    assert max(wrong) > 1e-3, "the plain mean is not the big batch's gradient"


def test_four_devices_work_and_one_holds_the_variables():
    with tf.Graph().as_default() as graph:
        optimizer = tf1.train.MomentumOptimizer(0.05, 0.9)
        _, _, average, _ = tower_graph(optimizer, equally)
        train = optimizer.apply_gradients(average)
        with started(graph, CONFIG) as session:
            trace = tf1.RunMetadata()
            options = tf1.RunOptions(trace_level=tf1.RunOptions.FULL_TRACE)
            session.run(train, options=options, run_metadata=trace)
    ran = {d.device[-5:]: [n.node_name for n in d.node_stats]
           for d in trace.step_stats.dev_stats}
    for index in range(TOWERS):
        mine = {name for name in ran[f"CPU:{index}"] if name.endswith("MatMul")}
        assert mine, f"no product ran on /cpu:{index}"
        assert all(name.startswith(f"tower_{index}/") for name in mine)
    holders = [op for op in graph.get_operations() if op.type == "VarHandleOp"]
    assert len(holders) == 8, "four weights and their four momenta"
    assert {op.device for op in holders} == {"/device:CPU:0"}


def embedding_gradients(towers_rows, dense=()):
    """Gradients of one embedding `[13, 3]`: sparse from each tower, with those rows."""
    table = tf1.get_variable("table", [13, 3], initializer=tf1.ones_initializer())
    gradients = []
    for k, rows in enumerate(towers_rows):
        if k in dense:
            loss = tf.reduce_sum(table * float(k + 1))
        else:
            loss = tf.reduce_sum(tf.gather(table, rows)) * (k + 1)
        gradients.append([(tf.gradients(loss, [table])[0], table)])
    return table, gradients


def as_dense(towers_rows, dense=()):
    """The same gradients, averaged by hand."""
    total = np.zeros([13, 3], np.float32)
    for k, rows in enumerate(towers_rows):
        one = np.zeros_like(total)
        np.add.at(one, slice(None) if k in dense else rows, k + 1.0)
        total += one / len(towers_rows)
    return total


@pytest.mark.parametrize("dense", [(), (1,)])
def test_sparse_stays_sparse_unless_mixed(dense):
    rows = [[0, 5], [5, 5], [12]]
    with tf.Graph().as_default() as graph:
        _, gradients = embedding_gradients(rows, dense)
        (average, _), = process_gradient_list(gradients)
        assert isinstance(average, tf.IndexedSlices) == (not dense)
        with started(graph, CONFIG) as session:
            value = session.run(tf.convert_to_tensor(average))
    np.testing.assert_allclose(value, as_dense(rows, dense), rtol=1e-6)


def test_split_batch_keeps_structure_and_order():
    with tf.Graph().as_default(), tf1.Session() as session:
        pair = (tf.range(6), tf.reshape(tf.range(12), [6, 2]))
        values = session.run(split_batch(pair, 3))
        assert [v[0].tolist() for v in values] == [[0, 1], [2, 3], [4, 5]]
        assert values[2][1].tolist() == [[8, 9], [10, 11]]
        alone = split_batch(tf.range(6), 2)
        assert [s.shape.as_list() for s in alone] == [[3], [3]]
        named = split_batch({"x": tf.range(6)}, 2)
        assert session.run(named[1]["x"]).tolist() == [3, 4, 5]


def test_split_batch_refuses_what_does_not_divide():
    with tf.Graph().as_default(), tf1.Session() as session:
        with pytest.raises(ValueError, match="7 rows .*2 towers.*weights"):
            split_batch(tf.range(7), 2)
        with pytest.raises(ValueError, match=r"same batch size, but got \[4, 8\]"):
            split_batch((tf.range(8), tf.range(4)), 4)
        with pytest.raises(ValueError, match="no batch axis"):
            split_batch(tf.constant(1.0), 2)
        unknown = tf1.placeholder(tf.float32, [None, 2])
        slices = split_batch(unknown, 2)
        with pytest.raises(tf.errors.InvalidArgumentError, match="evenly divide"):
            session.run(slices, {unknown: np.zeros([7, 2])})


GPUS = [f"/gpu:{k}" for k in range(8)]
CPUS = [f"/cpu:{k}" for k in range(8)]


@pytest.fixture
def machine(monkeypatch):
    """Lets this machine have so many GPUs, and notes how they are divided."""
    divided = {}

    def with_gpus(count):
        monkeypatch.setattr(tf.config, "list_physical_devices",
                            lambda kind: [f"{kind}:{k}" for k in range(count)])
        monkeypatch.setattr(
            tf.config, "set_logical_device_configuration",
            lambda gpu, parts: divided.update({gpu: [p.memory_limit for p in parts]}))
        return divided

    return with_gpus


@pytest.mark.parametrize(("wanted", "gpus", "names", "shares"), [
    ("auto", 0, CPUS[:4], []),
    ("auto", 1, GPUS[:4], [4]),
    ("auto", 2, GPUS[:2], []),
    ("auto", 8, GPUS, []),
    (3, 0, CPUS[:3], []),
    (8, 0, CPUS, []),
    (1, 1, GPUS[:1], []),
    (3, 1, GPUS[:3], [3]),
    (3, 2, GPUS[:3], [2, 1]),
    (3, 8, GPUS[:3], []),
    (["/gpu:1", "/cpu:5"], 0, ["/gpu:1", "/cpu:5"], []),
    (["/gpu:1", "/cpu:5"], 1, ["/gpu:1", "/cpu:5"], [2]),
    (["/gpu:1", "/cpu:5"], 2, ["/gpu:1", "/cpu:5"], []),
])
def test_devices_of_every_machine(machine, capsys, wanted, gpus, names, shares):
    divided = machine(gpus)
    assert devices(wanted) == names
    said = capsys.readouterr().out
    assert " ".join(names) in said and ("no GPU" in said) == (not gpus)
    assert said.endswith(f"(logical GPUs; this machine has {gpus})\n") == bool(shares)
    config = session_config(names)
    limits = [list(one.memory_limit_mb)
              for one in config.gpu_options.experimental.virtual_devices]
    assert [*divided.values()] == limits == [[MEMORY_LIMIT] * n for n in shares]
    assert config.gpu_options.allow_growth and config.allow_soft_placement
    cpus = {8 if wanted == 8 else 6 if "/cpu:5" in names else 4}
    assert {config.device_count["CPU"]} == cpus


@pytest.mark.parametrize("wanted, least, words", [
    (1, 2, r"At least 2 devices are required, but DEVICES=1 names 1"),
    (["/cpu:0"], 4, r"At least 4 devices"),
    (0, 1, "DEVICES must be at least 1, but got 0"),
    ("/gpu:0", 1, "must be \"auto\", a number, or a list"),
])
def test_devices_that_are_too_few_or_no_setting(wanted, least, words):
    with pytest.raises(ValueError, match=words):
        devices(wanted, least=least)


def test_options_replace_those_of_the_helper():
    strict = session_config(CPUS[:2], cpus=1, allow_soft_placement=False)
    assert not strict.allow_soft_placement and strict.device_count["CPU"] == 2
    assert session_config(device_count={"GPU": 0}).device_count == {"GPU": 0}


@pytest.mark.gpu
def test_one_gpu_is_four_for_a_session():
    with tf.Graph().as_default(), tf1.Session(config=session_config(GPUS[:4])) as four:
        found = [one.name[-5:] for one in four.list_devices() if "GPU" in one.name]
    assert found[:4] == ["GPU:0", "GPU:1", "GPU:2", "GPU:3"]
