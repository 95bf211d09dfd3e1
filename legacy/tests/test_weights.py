"""`tf1 weights`: what an old file holds, told apart, in forms of others."""

import sys

import numpy as np
import onnxruntime
import pytest
import tensorflow as tf
import tensorflow.compat.v1 as tf1
from safetensors.numpy import load_file

from helpers.errors import DataError
from helpers.files import ROOT
from helpers.inherited import read_weights
from helpers.vgg import vgg_net
from tf1tools.weights import command as weights

CHAIN = "net/conv1:2 net/norm1 relu net/conv2:valid relu pool dropout flatten scores"


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Returns the checkpoint of a trained network, pictures, and what it says."""
    folder = tmp_path_factory.mktemp("old")
    random = np.random.default_rng(3)
    pictures = random.normal(size=[5, 11, 13, 3]).astype(np.float32)
    with tf.Graph().as_default(), tf1.Session() as sess:
        tf1.set_random_seed(3)
        x = tf1.placeholder(tf.float32, [None, 11, 13, 3])

        def conv(x, name, shape, stride, padding):
            kernel = tf1.get_variable(f"{name}/weights", shape)
            bias = tf1.get_variable(f"{name}/biases", shape[-1:],
                                    initializer=tf1.random_normal_initializer())
            return tf.nn.conv2d(x, kernel, stride, padding) + bias

        h = conv(x, "net/conv1", [3, 3, 3, 5], 2, "SAME")
        mean, variance = (
            tf1.get_variable(f"net/norm1/moving_{kind}", [5], trainable=False,
                             initializer=tf1.random_uniform_initializer(0.5, 2, seed=4))
            for kind in ("mean", "variance"))
        beta = tf1.get_variable("net/norm1/beta", [5],
                                initializer=tf1.random_normal_initializer(seed=5))
        h = tf.nn.relu(tf.nn.batch_normalization(h, mean, variance, beta, None, 1e-3))
        h = tf.nn.relu(conv(h, "net/conv2", [2, 3, 5, 7], 1, "VALID"))
        h = tf.nn.max_pool2d(h, 2, 2, "VALID")
        h = tf.reshape(h, [-1, 2 * 2 * 7])
        kernel = tf1.get_variable("scores/kernel", [28, 4])
        y = h @ kernel + tf1.get_variable("scores/bias", [4])
        step = tf1.train.get_or_create_global_step()
        loss = tf.reduce_mean(y * y)
        with tf1.variable_scope("train"):
            adam = tf1.train.AdamOptimizer().minimize(loss, step)
            momentum = tf1.train.MomentumOptimizer(0.1, 0.9).minimize(loss)
        with tf.control_dependencies([adam, momentum]):
            average = tf1.train.ExponentialMovingAverage(0.9).apply()
        tf1.get_variable("words", [2], tf.string,
                         tf1.constant_initializer(["a", "b"]), trainable=False)
        tf1.get_variable("Adam/kernel", [2])  # a scope, no slot
        sess.run(tf1.global_variables_initializer())
        for _ in range(3):
            sess.run(average, {x: pictures})
        path = tf1.train.Saver().save(sess, str(folder / "model.ckpt"), 30)
        return path, pictures, sess.run(y, {x: pictures})


def test_slots_averages_and_steps_are_told_apart(trained):
    held = weights.told_apart(read_weights(trained[0]))
    for name, kind, of in [
            ("net/conv1/weights", "weight", ""), ("Adam/kernel", "weight", ""),
            ("net/norm1/moving_mean", "statistic", ""), ("global_step", "step", ""),
            ("train/net/conv1/weights/Adam_1", "slot", "net/conv1/weights"),
            ("train/scores/bias/Momentum", "slot", "scores/bias"),
            ("train/beta1_power", "slot", ""), ("words", "text", ""),
            ("scores/bias/ExponentialMovingAverage", "average", "scores/bias")]:
        assert held[name] == (kind, of), name
    counts = weights.table(read_weights(trained[0])).splitlines()[-1]
    # Seven variables that the loss reaches: Adam has two each, and two powers.
    assert "23 slot" in counts and "1 step" in counts


@pytest.mark.parametrize("piece, counts", [
    ("slim", "8 average, 8 slot, 4 statistic, 1 step, 8 weight"),
    ("slim_frozen.pb", "4 statistic, 8 weight"), ("partitioned", "1 weight"),
    ("estimator", "6 slot, 1 step, 2 weight"), ("keras_model.h5", "8 weight")])
def test_files_that_old_programs_wrote(piece, counts):
    arrays = read_weights(ROOT / "data" / "museum" / piece)
    assert weights.table(arrays).splitlines()[-1] == counts


@pytest.mark.parametrize("form, read", [
    ("npz", lambda path: dict(np.load(path))), ("safetensors", load_file)])
def test_what_is_written_is_what_was_held(form, read, trained, tmp_path):
    arrays = read_weights(trained[0])
    path = tmp_path / "new"
    found = weights.chosen(arrays)
    assert set(found) == {name for name, held in weights.told_apart(arrays).items()
                          if held.kind in ("weight", "statistic")}
    every = weights.chosen(arrays, every=True)
    assert set(every) == set(arrays) - {"words"}
    weights.write(every, form, path)
    for name, array in read(path).items():
        np.testing.assert_array_equal(array, arrays[name], strict=True)
    averages = weights.chosen(arrays, averages=True)
    assert set(averages) == set(found)
    np.testing.assert_array_equal(averages["scores/kernel"],
                                  arrays["scores/kernel/ExponentialMovingAverage"])
    assert (averages["scores/kernel"] != found["scores/kernel"]).any()


def test_names_go_by_a_table_and_a_wrong_table_is_refused(tmp_path):
    arrays = {"a/w": np.ones([2]), "b/w": np.zeros([2]), "c": np.ones([1])}
    table = tmp_path / "names.csv"
    table.write_text("a/w,first\nb/w,second\n")
    assert list(weights.renamed(arrays, table)) == ["first", "second", "c"]
    for text, words in [("a/w\n", "line 1: wants"), ("a/x,y", "a/x is not among"),
                        ("a/w,c", "two arrays would be called c")]:
        table.write_text(text)
        with pytest.raises(DataError, match=words):
            weights.renamed(arrays, table)


def test_torch_has_its_own_names_and_axes():
    arrays = {"a/kernel": np.zeros([3, 5, 7, 11]), "a/biases": np.zeros([11]),
              "n/gamma": np.zeros([11]), "n/moving_variance": np.zeros([11]),
              "fc/weights": np.zeros([13, 17]), "embedding": np.zeros([19, 23])}
    found = {name: array.shape for name, array in weights.as_torch(arrays).items()}
    assert found == {"a.weight": (11, 7, 3, 5), "a.bias": (11,), "n.weight": (11,),
                     "n.running_var": (11,), "fc.weight": (17, 13),
                     "embedding": (19, 23)}


def run_onnx(path, pictures):
    session = onnxruntime.InferenceSession(str(path))
    return session.run(None, {"input": pictures})[0]


def run_keras(path, pictures):
    return tf.keras.models.load_model(path)(pictures).numpy()


each_form = pytest.mark.parametrize("form, run", [("onnx", run_onnx),
                                                  ("keras", run_keras)])


@each_form
def test_a_chain_computes_the_same_elsewhere(form, run, trained, tmp_path):
    path, pictures, said = trained
    arrays = weights.chosen(read_weights(path))
    del arrays["Adam/kernel"]
    out = tmp_path / f"net.{form}"
    weights.write(arrays, form, out, CHAIN, (11, 13, 3))
    np.testing.assert_allclose(run(out, pictures), said, rtol=1e-4, atol=1e-5)


@each_form
def test_a_vgg_needs_no_chain(form, run, tmp_path):
    pictures = np.random.default_rng(7).normal(size=[2, 64, 32, 3]).astype(np.float32)
    with tf.Graph().as_default(), tf1.Session() as sess:
        x = tf1.placeholder(tf.float32, [None, 64, 32, 3])
        y = vgg_net(x, configuration="A", num_classes=5, base_width=2)
        sess.run(tf1.global_variables_initializer())
        saved = tf1.train.Saver().save(sess, str(tmp_path / "vgg"))
        said = sess.run(y, {x: pictures})
    out = tmp_path / f"vgg.{form}"
    weights.write(weights.chosen(read_weights(saved)), form, out, size=(64, 32, 3))
    np.testing.assert_allclose(run(out, pictures), said, rtol=1e-3, atol=1e-4)


KERNEL = {"a/kernel": np.zeros([3, 3, 3, 4], np.float32)}


@pytest.mark.parametrize("arrays, chain, words", [
    (KERNEL, "", "numbers and no graph"), (KERNEL, "b relu", "b is no layer"),
    ({**KERNEL, "b/w": np.zeros([4, 2])}, "a relu", "leaves b/w out"),
    (KERNEL, "a:0", "0 is no stride"),
    ({"a/kernel": np.zeros([3, 3, 4])}, "a", "3 axes is neither"),
    (KERNEL, "a flatten", "--input is needed")])
def test_what_the_chain_does_not_say_is_refused(arrays, chain, words, tmp_path):
    with pytest.raises(DataError, match=words) as caught:
        weights.write(arrays, "keras", tmp_path / "net.keras", chain)
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("form", ["safetensors", "onnx"])
def test_a_missing_package_is_named_and_an_older_file_stays(
    form, tmp_path, monkeypatch
):
    old = tmp_path / "old"
    old.write_bytes(b"whole")
    for name in form, f"{form}.numpy":
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(DataError, match=f"package {form}: pip install {form}"):
        weights.write(KERNEL, form, old, "a")
    assert old.read_bytes() == b"whole" and list(tmp_path.iterdir()) == [old]


def test_the_command_counts_paths_from_where_it_is_called(
    trained, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert weights.main([trained[0], "--to", "npz", "--averages"]) == 0
    assert "left out" in capsys.readouterr().out
    assert (tmp_path / "model.ckpt-30.npz").exists()
    assert weights.main([trained[0]]) == 0
    assert "average   float32  (4,)" in capsys.readouterr().out
    assert weights.main(["nothing-here", "--to", "npz"]) == 1
    said = capsys.readouterr().err
    assert said.startswith("tf1 weights: nothing-here") and said.count("\n") == 1
