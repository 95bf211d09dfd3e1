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
from helpers.inherited import open_model, read_weights
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
    for text, words in [("a/w\n", "Expected two names"),
                        ("a/x,y", "Unknown weight a/x in line 1 of "),
                        ("a/w,c", "Two arrays would be named c")]:
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
    (KERNEL, "", "arrays, but no graph"), (KERNEL, "b relu", "'b' in --chain"),
    ({**KERNEL, "b/w": np.zeros([4, 2])}, "a relu", "does not include b/w"),
    (KERNEL, "a:0", "Invalid option '0' in a:0"),
    ({"a/kernel": np.zeros([3, 3, 4])}, "a", "3 axes, so it is neither"),
    (KERNEL, "a flatten", "requires an input size")])
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
    with pytest.raises(DataError, match=f"package {form}. .*pip install {form}"):
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
    assert "checkpoint: nothing-here" in said and said.count("\n") == 1


# A kind of layer, and the shapes of its kernel in TensorFlow and in PyTorch.
TURNED = [
    ("dense/kernel", (3, 5), (5, 3)), ("conv1d/kernel", (3, 4, 5), (5, 4, 3)),
    ("conv/kernel", (3, 3, 4, 5), (5, 4, 3, 3)),
    ("conv3d/kernel", (1, 2, 3, 4, 5), (5, 4, 1, 2, 3)),
    ("dw/depthwise_kernel", (3, 3, 4, 2), (8, 1, 3, 3)),
    ("sep/pointwise_kernel", (1, 1, 8, 5), (5, 8, 1, 1)),
    ("words/embeddings", (9, 4), (9, 4)), ("dense/bias", (5,), (5,)),
]
UNKNOWN = [("alpha", (3, 5)), ("lstm_cell/kernel", (7, 16)), ("conv/kernel", (2,) * 6),
           ("rnn/gru_cell/gates/kernel", (7, 8)), ("conv2d_transpose/kernel", (3,) * 4)]


@pytest.mark.parametrize("name, before, after", TURNED)
def test_a_kernel_is_turned_by_the_kind_of_its_layer(name, before, after):
    arrays = {name: np.arange(np.prod(before), dtype=np.float32).reshape(before)}
    [turned] = weights.as_torch(arrays).values()
    assert turned.shape == after
    assert sorted(turned.flat) == sorted(arrays[name].flat)


@pytest.mark.parametrize("name, shape", UNKNOWN)
def test_an_array_of_an_unknown_kind_is_refused_by_its_name(name, shape):
    with pytest.raises(DataError, match=f"Cannot convert {name} for PyTorch"):
        weights.as_torch({name: np.zeros(shape, np.float32)})


def test_two_averages_of_one_weight_are_refused():
    arrays = {name: np.ones(3, np.float32) for name in (
        "w", "w/ExponentialMovingAverage", "tower/w/ExponentialMovingAverage")}
    with pytest.raises(DataError, match="w has two averages"):
        weights.chosen(arrays, averages=True)


@pytest.fixture
def checkpoint(tmp_path):
    """A checkpoint of one weight, and its files as they were."""
    prefix = tmp_path / "model.ckpt"
    tf.raw_ops.SaveV2(prefix=str(prefix), tensor_names=["w"], shape_and_slices=[""],
                      tensors=[tf.ones(3)])
    return prefix, {path: path.read_bytes() for path in tmp_path.iterdir()}


@pytest.mark.parametrize("out", [
    "model.ckpt", "model.ckpt.index", "model.ckpt.meta", "notes.txt", "link", "names",
    "model.ckpt.data-00000-of-00001", "./x/../model.ckpt.index"])
def test_no_output_takes_the_place_of_an_input_or_of_another_kind(
        out, checkpoint, tmp_path, capsys):
    prefix, before = checkpoint
    (tmp_path / "x").mkdir()
    others = {tmp_path / "notes.txt": b"mine", tmp_path / "names": b"w,v"}
    for path, content in others.items():
        path.write_bytes(content)
    (tmp_path / "link").symlink_to("model.ckpt.index")
    assert weights.main([str(prefix), "--to", "npz", "--names", str(tmp_path / "names"),
                         "--out", str(tmp_path / out)]) == 1
    assert "Refusing to overwrite" in capsys.readouterr().err
    for path, content in (before | others).items():
        assert path.read_bytes() == content


def test_nothing_to_write_is_an_error(tmp_path, capsys):
    prefix = str(tmp_path / "c")
    tf.raw_ops.SaveV2(prefix=prefix, tensor_names=["global_step"],
                      shape_and_slices=[""], tensors=[tf.ones((), tf.int64)])
    assert weights.main([prefix, "--to", "npz", "--out", str(tmp_path / "o.npz")]) == 1
    assert "contains no weights" in capsys.readouterr().err


@pytest.mark.parametrize("more", [
    ["--averages"], ["--chain", "nothing", "--to", "onnx"], ["--names", "none"],
    ["--chain", "w:0", "--to", "keras"], ["--input", "1", "--to", "onnx"]])
def test_each_refusal_names_the_file(more, checkpoint, tmp_path, capsys):
    prefix, _ = checkpoint
    out = str(tmp_path / "o.npz")
    assert weights.main([str(prefix), "--to", "npz", "--out", out, *more]) == 1
    [line] = capsys.readouterr().err.splitlines()[-1:]
    assert line.startswith("tf1 weights: ") and ("model.ckpt" in line or "none" in line)


@pytest.mark.parametrize("odd", ["\x1b[2J", "\n", "\r", "\x07", "\u202e", "\x85"])
def test_a_strangers_name_is_printed_escaped(odd, tmp_path, capsys):
    prefix = str(tmp_path / "c")
    tf.raw_ops.SaveV2(prefix=prefix, tensor_names=[f"w{odd}forged"],
                      shape_and_slices=[""], tensors=[tf.ones(3)])
    assert weights.main([prefix]) == 0
    assert odd not in capsys.readouterr().out.removesuffix("\n").split("\n")[0]


def test_a_keras_file_with_its_layers_becomes_a_whole_model(tmp_path, capsys):
    """Keras 2 writes it, and Keras 3 opens what the command writes."""
    import tf_keras

    build = tf_keras.layers
    image = tf_keras.Input([8, 8, 3])
    h = build.BatchNormalization()(build.Conv2D(4, 3, activation="relu")(image))
    both = build.Concatenate()([h, build.Dropout(0.5)(h)])
    old = tf_keras.Model(image, build.Dense(2)(build.Flatten()(both)))
    old.save(str(tmp_path / "old.h5"))
    out = tmp_path / "new.keras"
    words = [str(tmp_path / "old.h5"), "--to", "keras", "--out", str(out)]
    assert weights.main(words) == 0, capsys.readouterr().err
    pictures = np.random.default_rng(0).normal(size=[3, 8, 8, 3]).astype(np.float32)
    new = tf.keras.models.load_model(out)
    np.testing.assert_allclose(new.predict(pictures, verbose=0),
                               old.predict(pictures, verbose=0), atol=1e-5)
    museum = ROOT / "data" / "museum" / "keras_model.h5"
    assert weights.main([str(museum), *words[1:]]) == 0  # Keras 2.2 wrote this one
    with open_model(museum) as opened:
        [[name, spec]] = opened.inputs.items()
        fed = np.ones([2, *spec.shape[1:]], np.float32)
        np.testing.assert_allclose(
            tf.keras.models.load_model(out).predict(fed, verbose=0),
            opened({name: fed}), atol=1e-5)
    assert weights.main([*words, "--averages"]) == 1
    assert "are not supported when" in capsys.readouterr().err
    old.save_weights(str(tmp_path / "weights.h5"))
    assert weights.main([str(tmp_path / "weights.h5"), *words[1:]]) == 1
    assert "--chain" in capsys.readouterr().err
