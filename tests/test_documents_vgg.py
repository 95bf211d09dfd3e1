"""The programs of lesson 15c: the source's VGG on towers, and its captioner."""

import importlib
import inspect

import numpy as np
import pytest
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers import captions, records, towers, vgg
from helpers.datasets import grab_tin_records

multi_vgg = importlib.import_module("notebooks.15c_multi_vgg")
tell = importlib.import_module("notebooks.15c_show_and_tell")
pytestmark = pytest.mark.usefixtures("no_thread_left")
WORDS = 12


@pytest.fixture(scope="module")
def folder():
    return grab_tin_records("drawn")


@pytest.fixture
def model(folder, tmp_path):
    devices = towers.cpu_devices(2)
    with multi_vgg.Multi_VGG_Model(
            2, towers.session_config(devices), devices=devices, folder=folder,
            status=tmp_path / "status") as model:
        yield model


@pytest.fixture
def batch(folder):
    return next(records.image_label_dataset(
        folder / "val", 2 * multi_vgg.BATCH_SIZE, image_size=64, shuffle_buffer=0,
    ).as_numpy_iterator())


def test_vgg_has_the_names_of_the_source():
    assert list(inspect.signature(multi_vgg.Multi_VGG_Model.fit).parameters) == [
        "s", "steps", "summary_step", "checkpoint_step"]
    names = ("fit", "write_summaries", "save_checkpoint", "_build_tower")
    assert all(name in vars(multi_vgg.Multi_VGG_Model) for name in names)


def test_vgg_fits_fits_again_logs_and_saves_under_the_global_step(model):
    losses = model.fit(3, summary_step=2, checkpoint_step=2)
    losses += model.fit(2, summary_step=2, checkpoint_step=2)
    assert len(losses) == 5 and np.isfinite(losses).all()
    assert abs(losses[0] - np.log(model.num_classes)) < 1.5
    assert model.run(model.global_step) == 5
    assert sorted(path.stem for path in model.status.glob("*.index")) == [
        "model.ckpt-2", "model.ckpt-4"]
    [events] = model.status.glob("events*")
    steps = [event.step for event in tf1.train.summary_iterator(str(events))
             if event.summary.value]
    assert steps == [2, 4]


def test_vgg_restores_what_it_saved(model, batch, folder, tmp_path):
    model.fit(1)
    model.save_checkpoint()
    devices = towers.cpu_devices(2)
    with multi_vgg.Multi_VGG_Model(
            2, towers.session_config(devices), devices=devices, folder=folder,
            status=tmp_path / "other") as other:
        assert not np.allclose(other.predict(batch[0]), model.predict(batch[0]))
        assert other.restore(model.status) == 1
        np.testing.assert_allclose(
            other.predict(batch[0]), model.predict(batch[0]), rtol=1e-5, atol=1e-5)


def test_vgg_predicts_without_dropout_what_the_lesson_s_network_predicts(model, batch):
    with model.graph.as_default(), tf1.variable_scope("", reuse=True):
        logits = vgg.vgg_net(tf.constant(batch[0]), configuration="A", num_classes=20,
                             base_width=8)
    np.testing.assert_allclose(
        model.predict(batch[0]), model.session.run(logits), rtol=1e-4, atol=1e-4)


def test_the_averaged_gradients_of_vgg_are_those_of_one_network(model, batch):
    fed = dict(zip((model.image_batch, model.label_batch), batch, strict=True))
    variables = [var for _, var in model.avg_gradients]
    values, found, losses = (model.session.run(fetches, fed) for fetches in (
        {var.op.name: var for var in variables},
        [grad for grad, _ in model.avg_gradients], model.tower_losses))
    assert losses[0] != losses[1]  # each tower has pictures of its own
    with tf.Graph().as_default(), tf1.Session() as session:
        logits = vgg.vgg_net(tf.constant(batch[0]), configuration="A", num_classes=20,
                             base_width=8)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=batch[1], logits=logits))
        own = tf1.trainable_variables()
        wanted = tf1.gradients(loss, own)
        session.run([var.assign(values[var.op.name]) for var in own])
        wanted = session.run(wanted)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-4)


def show_graph(end_point="last_conv", teacher=False):
    return tell.ShowGraph(end_point, WORDS, steps=20, teacher=teacher)


@pytest.fixture
def told():
    """Encoded pictures, labels, and lengths: the first values are the labels."""
    rng = np.random.default_rng(7)
    labels = rng.integers(0, WORDS, [200, tell.MAX_LEN_LABELS]).astype(np.int32)
    labels[:, 2:] = 1
    encoded = np.zeros([200, 256], np.float32)
    encoded[np.arange(200), labels[:, 0]] = 3.0
    encoded[np.arange(200), 100 + labels[:, 1]] = 3.0
    return encoded, labels, np.full(200, 4, np.int32)


@pytest.mark.parametrize("teacher", [False, True])
def test_the_captioner_fits_and_fits_again(told, teacher):
    with show_graph(teacher=teacher) as show:
        before = show.evaluate(*told)
        assert abs(before - np.log(WORDS)) < 0.1
        losses = show.fit(10, *told)
        losses += show.fit(10, *told)
        assert len(losses) == 20 and show.run(show.step) == 20
        assert show.evaluate(*told) < before
        assert show.predict(told[0]).shape == (200, tell.MAX_LEN_LABELS)


def test_the_captioner_restores_what_it_saved(told, tmp_path):
    with show_graph() as show, show_graph() as other:
        show.fit(5, *told)
        show.save(tmp_path)
        assert other.restore(tmp_path) == 5
        assert other.evaluate(*told) == pytest.approx(show.evaluate(*told), rel=1e-5)


def logits_of_the_lesson(show, encoded):
    """Returns what `captions.ShowAndTell` says with the weights of `show`."""
    values = show.run({v.op.name: v for v in captions.variables_of(
        "decoder", show.graph)})
    names = {"decoder/embedding": values["decoder/output_embedding"],
             "decoder/logits/kernel": values["decoder/w"].T,
             "decoder/logits/bias": values["decoder/b"]}
    lesson = captions.ShowAndTell(captions.Sizes(
        words=WORDS, embedding=tell.OUT_EMBED_SIZE, units=tell.RNN_WIDTH,
        layers=tell.RNN_DEPTH, cell="gru"))
    with tf.Graph().as_default() as graph, tf1.Session() as session:
        state = lesson.start(tf.constant(encoded))
        logits = [lesson.logits(state[-1])]
        for _ in range(tell.MAX_LEN_LABELS - 1):
            word = tf.argmax(logits[-1], 1, tf.int32)
            logit, state = lesson.step(word, state)
            logits.append(logit)
        variables = captions.variables_of("decoder", graph)
        session.run([v.assign({**values, **names}[v.op.name]) for v in variables])
        return session.run(tf.stack(logits, 1))


def test_the_decoder_is_that_of_lesson_08a_with_four_layers(told):
    with show_graph() as show:
        show.fit(5, *told)
        logits = logits_of_the_lesson(show, told[0][:6])
        np.testing.assert_array_equal(show.predict(told[0][:6]), logits.argmax(2))
        with tf.Graph().as_default(), tf1.Session() as session:
            loss, words = session.run(captions.masked_loss(
                tf.constant(logits), tf.constant(told[1][:6]),
                tf.sequence_mask(told[2][:6], tell.MAX_LEN_LABELS, tf.float32)))
        assert show.evaluate(*(rows[:6] for rows in told)) == pytest.approx(
            loss / words, rel=1e-4)


def test_only_a_teacher_reads_the_labels_and_never_those_of_the_padding(told):
    encoded, labels, lengths = (rows[:5] for rows in told)
    later, padding = labels.copy(), labels.copy()
    later[:, 0] = (later[:, 0] + 1) % WORDS
    padding[:, 4:] = 7
    for teacher in (False, True):
        with show_graph(teacher=teacher) as show:
            show.fit(5, *told)
            after_first = {}
            for name, rows in (("true", labels), ("later", later)):
                # The loss of the first place is left out: its label has changed.
                mask = np.float32([[0, 1, 1, 1] + [0] * 6] * 5)
                total = show.run(show.loss_sum, {
                    show.encoded_image: encoded, show.labels: rows, show.mask: mask})
                after_first[name] = float(total)
            assert (after_first["true"] != after_first["later"]) == teacher
            assert show.evaluate(encoded, padding, lengths) == pytest.approx(
                show.evaluate(encoded, labels, lengths), rel=1e-6)


def test_both_end_points_have_their_width_and_the_decoder_does_not_care():
    for end_point, width in (("last_conv", 256), ("fc_1", 512)):
        with show_graph(end_point) as show:
            assert show.encoded_image.shape.as_list() == [None, width]
            kernel = next(v for v in captions.variables_of("decoder", show.graph)
                          if v.op.name == "decoder/gru_0/gates/kernel")
            assert kernel.shape[0] == tell.OUT_EMBED_SIZE + tell.RNN_WIDTH
