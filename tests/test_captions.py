"""Captions against Keras, exhaustive search, a second BLEU and plain NumPy."""

import dataclasses
import itertools
import math
import re
import time

import keras
import numpy as np
import pytest
import tensorflow as tf
import tensorflow.compat.v1 as tf1
from nltk.translate.bleu_score import corpus_bleu

from helpers import captions as cap
from helpers import records
from helpers.datasets import grab_captions
from helpers.errors import DataError
from helpers.shapes import write_scenes

WORDS, TIME, BATCH = 13, 7, 5
TINY = cap.Sizes(
    words=WORDS, image_size=32, base_width=2, embedding=11, units=17, cell="gru"
)
SENTENCES = [
    "A red circle, above it a star!", "a red  star", "the circle's edge", "a a",
]


@pytest.fixture(scope="module")
def scenes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scenes") / "world"
    return grab_captions(write_scenes(folder, train=41, val=11, unseen=7, size=37))


@pytest.fixture(scope="module")
def vocabulary(scenes):
    texts = [text for picture in scenes["train"] for text in picture.captions]
    return cap.Vocabulary.build(texts, min_count=1)


def fill(session, scale=0.5, seed=3):
    """Gives every trainable variable values large enough that words differ."""
    rng = np.random.default_rng(seed)
    for variable in tf1.trainable_variables():
        shape = variable.shape.as_list()
        variable.load(rng.normal(0, scale, shape).astype(np.float32), session)


def toy(words=4, seed=0, batch=3):
    """A language whose next word depends on the last word, the place and the picture.

    Returns its step, its first state and the NumPy table of log-probabilities
    [batch, place, last word, next word].
    """
    rng = np.random.default_rng(seed)
    table = rng.normal(0, 1.5, [batch, 6, words, words]).astype(np.float32)
    logp = table - np.log(np.exp(table).sum(-1, keepdims=True))

    def step(last, state):
        picture, place = state
        index = tf.stack([picture[:, 0], place[:, 0], last], 1)
        return tf.gather_nd(table, index), (picture, place + 1)

    state = (tf.range(batch)[:, None], tf.zeros([batch, 1], tf.int32))
    return step, state, logp


def enumerate_captions(logp, max_length, start, end, power):
    """Scores every complete caption of one picture; best first."""
    others = [word for word in range(logp.shape[-1]) if word != end]
    found = []
    for length in range(1, max_length + 1):
        for middle in itertools.product(others, repeat=length - 1):
            ids = (*middle, end)
            steps = zip((start, *middle), ids, strict=True)
            score = sum(logp[t, a, b] for t, (a, b) in enumerate(steps))
            padded = ids + (end,) * (max_length - length)
            found.append((score / length**power, padded))
    return sorted(found, reverse=True)


# Vocabulary -----------------------------------------------------------------------


def test_words_are_counted_sorted_and_cut():
    vocabulary = cap.Vocabulary.build(SENTENCES, min_count=2)
    assert vocabulary.words == ("a", "</S>", "<S>", "red", "star", "<UNK>")
    assert vocabulary.counts == (5, 4, 4, 2, 2, 0)
    ids = vocabulary.encode("A red edge.")
    assert [vocabulary.words[k] for k in ids] == ["<S>", "a", "red", "<UNK>", "</S>"]
    assert vocabulary.decode([*ids, 0, 0]) == "a red <UNK>"
    assert vocabulary == cap.Vocabulary.build(reversed(SENTENCES), min_count=2)


def test_a_vocabulary_is_the_same_after_saving(tmp_path):
    vocabulary = cap.Vocabulary.build(SENTENCES, min_count=1)
    vocabulary.save(tmp_path / "words.txt")
    lines = (tmp_path / "words.txt").read_text().splitlines()
    assert lines[0] == "a 5" and len(lines) == len(vocabulary)
    again = cap.Vocabulary.load(tmp_path / "words.txt")
    assert again == vocabulary and again.counts == vocabulary.counts
    assert again.digest() == vocabulary.digest()


@pytest.mark.parametrize("text", ["a\n", "a 1\n", "a 1\na 2\n<S> 1\n</S> 1\n<UNK> 0\n"])
def test_a_damaged_vocabulary_is_one_line(tmp_path, text):
    (tmp_path / "words.txt").write_text(text)
    with pytest.raises(DataError, match=r"words\.txt"):
        cap.Vocabulary.load(tmp_path / "words.txt")
    with pytest.raises(DataError, match=r"other\.txt"):
        cap.Vocabulary.load(tmp_path / "other.txt")
    with pytest.raises(ValueError, match="no captions"):
        cap.Vocabulary.build([])


def test_words_of_any_script_are_whole():
    text = "Un e\u0301lan d\u2019\u00e9t\u00e9; \u041a\u043e\u0442 2 a_b!"
    wanted = "un \u00e9lan d'\u00e9t\u00e9 \u043a\u043e\u0442 2 a b"
    assert cap.tokenize(text) == wanted.split()


def test_a_caption_without_a_word_is_refused_by_name(scenes, vocabulary):
    with pytest.raises(ValueError, match=r"'\?!' has no word"):
        cap.Vocabulary.build(["a star", "?!"])
    odd = scenes["val"][0]._replace(captions=("?!",))
    with pytest.raises(DataError, match=rf"{odd.path.name}: its caption '\?!'"):
        list(cap.make_pairs([odd], vocabulary))


# Records and batches --------------------------------------------------------------


def read_all(dataset):
    return [{k: v.numpy() for k, v in batch.items()} for batch in dataset]


def test_pairs_come_back_as_they_went(scenes, vocabulary, tmp_path):
    pairs = list(cap.make_pairs(scenes["val"], vocabulary))
    assert len(pairs) == sum(len(p.captions) for p in scenes["val"])
    records.write_shards(pairs, tmp_path / "val", 2, seed=1)
    by_id = {p.id: p for p in scenes["val"]}
    seen = set()
    batches = read_all(
        cap.caption_batches(tmp_path / "val", 3, image_size=37, num_objects=3)
    )
    for batch in batches:
        assert batch["images"].dtype == np.float32
        assert batch["images"].shape[1:] == (37, 37, 3)
        assert batch["images"].min() >= -1 and batch["images"].max() <= 1
        for row, number in enumerate(batch["picture"]):
            length = int(batch["mask"][row].sum())
            assert set(batch["mask"][row][length:]) <= {0.0}
            inputs, targets = batch["inputs"][row], batch["targets"][row]
            assert inputs[0] == vocabulary.start
            assert targets[length - 1] == vocabulary.end
            assert list(inputs[1:length]) == list(targets[: length - 1])
            text = vocabulary.decode(targets)
            assert text in by_id[number].captions
            seen.add((number, text))
            wanted = [one.category for one in by_id[number].objects]
            assert list(batch["objects"][row]) == [*wanted, -1]
            image = tf.io.decode_jpeg(by_id[number].path.read_bytes()).numpy()
            np.testing.assert_allclose(
                batch["images"][row], image / 127.5 - 1.0, atol=1e-6
            )
    assert seen == {(p.id, text) for p in scenes["val"] for text in p.captions}


def test_training_batches_are_shuffled_shifted_and_repeatable(
    scenes, vocabulary, tmp_path
):
    pairs = cap.make_pairs(scenes["train"], vocabulary, captions_each=1)
    records.write_shards(pairs, tmp_path / "train", 2, seed=1, compression="GZIP")

    def take(seed, shift):
        dataset = cap.caption_batches(
            tmp_path / "train", 41, image_size=37, seed=seed, shift=shift
        )
        return read_all(dataset.take(2))

    still, moved = take(5, 0), take(5, 3)
    again, other = take(5, 3), take(6, 3)
    np.testing.assert_array_equal(moved[1]["images"], again[1]["images"])
    assert (moved[0]["picture"] != other[0]["picture"]).any()
    assert sorted(moved[0]["picture"]) == sorted(moved[1]["picture"])  # an epoch each
    assert set(moved[0]) == set(still[0])
    offsets = set()
    for before, after in zip(still[0]["images"], moved[0]["images"], strict=True):
        for y, x in itertools.product(range(-3, 4), repeat=2):
            inner = np.s_[5:-5, 5:-5]
            if np.array_equal(np.roll(before, (y, x), (0, 1))[inner], after[inner]):
                offsets.add((y, x))
    assert len(offsets) > 10


@pytest.mark.parametrize(("damage", "cause"), [
    (lambda jpeg: jpeg[:300], "not a whole JPEG"),
    (lambda jpeg: re.sub(rb"(\xff\xc0\0.\x08)....", b"\\1" + b"\xff\xdc" * 2, jpeg,
                         flags=re.S), "pixels"),
    (None, "No such file"),
])
def test_a_bad_picture_is_refused_at_conversion(
    scenes, vocabulary, tmp_path, damage, cause
):
    whole = scenes["val"][0]
    bad = whole._replace(path=tmp_path / "bad.jpg")
    if damage:
        bad.path.write_bytes(damage(whole.path.read_bytes()))
    with pytest.raises(DataError, match=rf"bad\.jpg: .*{cause}") as caught:
        list(cap.make_pairs([whole, bad], vocabulary))
    assert "\n" not in str(caught.value)


def test_a_record_that_cannot_be_read_is_named(scenes, vocabulary, tmp_path):
    pairs = list(cap.make_pairs(scenes["val"], vocabulary))
    feature = pairs[5].context.feature["image/data"].bytes_list
    feature.value[0] = feature.value[0][:300]
    records.write_shards(pairs, tmp_path / "val", 1, seed=1)
    path = tmp_path / "val-00000-of-00001"

    def read():
        with records.naming_bad_records(tmp_path / "val", cap.caption_parser(37)):
            read_all(cap.caption_batches(tmp_path / "val", 3, image_size=37))

    with pytest.raises(DataError, match=rf"{path.name}: record \d+: .*JPEG"):
        read()
    flipped = bytearray(path.read_bytes())
    flipped[100] ^= 1
    path.write_bytes(flipped)
    with pytest.raises(DataError, match=f"{path.name}: record 0: .*checksum"):
        read()


def test_a_plain_shard_may_begin_like_gzip(scenes, vocabulary, tmp_path):
    [pair] = cap.make_pairs(scenes["val"][:1], vocabulary, captions_each=1)
    pair.context.feature["filler"].bytes_list.value.append(b"")
    while missing := 0x8B1F - pair.ByteSize():  # the length stands first, as 1f 8b
        filler = pair.context.feature["filler"].bytes_list
        filler.value[0] = bytes(len(filler.value[0]) + missing)
    records.write_shards([pair], tmp_path / "one", 1, seed=1)
    assert (tmp_path / "one-00000-of-00001").read_bytes()[:2] == b"\x1f\x8b"
    [batch] = read_all(cap.caption_batches(tmp_path / "one", 1, image_size=37))
    assert batch["picture"] == [scenes["val"][0].id]


# The model ------------------------------------------------------------------------


def built(sizes=TINY, keep_prob=1.0):
    """Images and inputs to logits, in the graph that is open."""
    model = cap.ShowAndTell(sizes)
    size = sizes.image_size
    images = tf1.placeholder(tf.float32, [None, size, size, 3], "images")
    inputs = tf1.placeholder(tf.int32, [None, None], "inputs")
    features = model.encode(images)
    return model, images, inputs, features, model.teach(features, inputs, keep_prob)


def example(sizes=TINY, batch=BATCH, seed=0):
    rng = np.random.default_rng(seed)
    size = sizes.image_size
    images = rng.uniform(-1, 1, [batch, size, size, 3]).astype(np.float32)
    ids = rng.integers(0, sizes.words, [batch, TIME + 1])
    return images, ids[:, :-1], ids[:, 1:]


@pytest.mark.parametrize("cell", ["gru", "lstm"])
@pytest.mark.timeout(60)
def test_the_decoder_equals_keras(cell):
    sizes = dataclasses.replace(TINY, cell=cell, layers=2)
    features = np.random.default_rng(0).normal(size=[BATCH, 19]).astype(np.float32)
    _, ids, _ = example()
    with tf.Graph().as_default(), tf1.Session() as session:
        logits = cap.ShowAndTell(sizes).teach(tf.constant(features), tf.constant(ids))
        session.run(tf1.global_variables_initializer())
        fill(session)
        ours = session.run(logits)
        weights = {
            v.op.name.removeprefix("decoder/"): session.run(v)
            for v in cap.variables_of("decoder")
        }
    np.testing.assert_allclose(ours, keras_decoder(sizes, weights)(features, ids),
                               rtol=1e-4, atol=1e-4)


def keras_decoder(sizes, weights):
    """The same decoder of Keras layers, with the same weights."""
    layer = keras.layers.LSTM if sizes.cell == "lstm" else keras.layers.GRU
    options = {"return_sequences": True}
    if sizes.cell == "gru":
        options["reset_after"] = False
    layers = [layer(sizes.units, **options) for _ in range(sizes.layers)]

    def decode(features, ids):
        shown = features @ weights["project/kernel"] + weights["project/bias"]
        outputs = tf.concat([shown[:, None], weights["embedding"][ids]], 1)
        for k, one in enumerate(layers):
            one.build(outputs.shape)
            one.set_weights(keras_weights(sizes, weights, k, outputs.shape[-1]))
            outputs = one(outputs)
        return outputs[:, 1:] @ weights["logits/kernel"] + weights["logits/bias"]

    return decode


def keras_weights(sizes, weights, layer, values):
    """Our kernels hold inputs and state one above the other; Keras keeps two."""
    name = f"{sizes.cell}_{layer}"
    if sizes.cell == "lstm":
        kernels, biases = [weights[f"{name}/kernel"]], [weights[f"{name}/bias"]]
    else:
        parts = ("gates", "candidate")
        kernels = [weights[f"{name}/{part}/kernel"] for part in parts]
        biases = [weights[f"{name}/{part}/bias"] for part in parts]
    kernel = np.concatenate(kernels, 1)
    return [kernel[:values], kernel[values:], np.concatenate(biases)]


def test_variables_are_shared_and_counted():
    with tf.Graph().as_default():
        model, _, _, features, _ = built()
        before = len(tf1.trainable_variables())
        state = model.start(features)
        model.step(tf.zeros([3], tf.int32), state)
        model.step(tf.zeros([3], tf.int32), state)
        assert len(tf1.trainable_variables()) == before == 16 + 9
        assert sum(v.shape.num_elements() for v in cap.variables_of("decoder")) == (
            (16 * 11 + 11) + WORDS * 11 + 3 * 17 * (11 + 17 + 1) + (17 + 1) * WORDS
        )
        with pytest.raises(ValueError, match="no variables under coder/"):
            cap.variables_of("coder")


def test_the_lstm_has_as_many_values_as_that_of_im2txt():
    sizes = cap.Sizes(words=12000, embedding=512, units=512)
    with tf.Graph().as_default():
        cap.ShowAndTell(sizes).teach(tf.zeros([2, 2048]), tf.zeros([2, 3], tf.int32))
        counts = {v.op.name: v.shape.num_elements() for v in tf1.trainable_variables()}
    assert counts["decoder/lstm_0/kernel"] + counts["decoder/lstm_0/bias"] == 2_099_200
    assert counts["decoder/embedding"] == 6_144_000
    assert counts["decoder/logits/kernel"] + counts["decoder/logits/bias"] == 6_156_000
    assert counts["decoder/project/kernel"] == 1_048_576


def test_the_first_loss_is_that_of_guessing():
    images, inputs, targets = example()
    with tf.Graph().as_default(), tf1.Session() as session:
        _, image_feed, input_feed, _, logits = built()
        total, count = cap.masked_loss(
            logits, tf.constant(targets), tf.ones_like(targets, tf.float32)
        )
        session.run(tf1.global_variables_initializer())
        total, count = session.run(
            [total, count], {image_feed: images, input_feed: inputs}
        )
    assert count == BATCH * TIME
    assert total / count == pytest.approx(math.log(WORDS), rel=0.05)


def test_padding_changes_nothing():
    images, inputs, targets = example()
    lengths = np.array([7, 3, 1, 5, 2])
    mask = (np.arange(TIME) < lengths[:, None]).astype(np.float32)
    with tf.Graph().as_default(), tf1.Session() as session:
        _, image_feed, input_feed, _, logits = built()
        target_feed = tf1.placeholder(tf.int32, [None, None])
        mask_feed = tf1.placeholder(tf.float32, [None, None])
        sums = cap.masked_loss(logits, target_feed, mask_feed)
        gradients = tf1.gradients(sums[0], cap.variables_of("decoder"))
        gradients = [tf.convert_to_tensor(g) for g in gradients]
        session.run(tf1.global_variables_initializer())
        fill(session)

        def run(inputs, targets):
            feeds = {image_feed: images, input_feed: inputs, target_feed: targets,
                     mask_feed: mask}
            return session.run([*sums, *gradients], feeds)

        plain = run(inputs, targets)
        padded = mask == 0
        other = run(np.where(padded, 1, inputs), np.where(padded, 2, targets))
        values = session.run(logits, {image_feed: images, input_feed: inputs})
    for one, two in zip(plain, other, strict=True):
        np.testing.assert_array_equal(one, two)
    logp = values - np.log(np.exp(values).sum(-1, keepdims=True))
    picked = np.take_along_axis(logp, targets[..., None], 2)[..., 0]
    assert plain[0] == pytest.approx(-(picked * mask).sum(), rel=1e-5)
    assert plain[1] == lengths.sum()


def test_nothing_in_the_padding_reaches_loss_or_gradient():
    rng = np.random.default_rng(0)
    targets = rng.integers(0, WORDS, [2, 3])
    mask = np.array([[1, 1, 0], [1, 0, 0]], np.float32)
    values = rng.normal(size=[2, 3, WORDS]).astype(np.float32)
    padded = mask == 0
    with tf.Graph().as_default(), tf1.Session() as session:
        logits = tf1.placeholder(tf.float32, values.shape)
        ids = tf1.placeholder(tf.int32, targets.shape)
        total, _ = cap.masked_loss(logits, ids, tf.constant(mask))
        fetches = [total, *tf1.gradients(total, logits)]
        plain = session.run(fetches, {logits: values, ids: targets})
        values[padded] = [[np.inf], [np.nan], [-np.inf]]
        other = session.run(
            fetches, {logits: values, ids: np.where(padded, -1, targets)}
        )
    for one, two in zip(plain, other, strict=True):
        np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize(("bad", "named"), [
    ([0.0, 1.0, np.nan], "'w'"),  # a gradient and the loss
    ([0.0, np.inf, 1.0], "'w'"),
    ([np.nan, 1.0, 1.0], "loss"),  # the loss alone
])
def test_one_bad_batch_moves_no_weight(bad, named):
    with tf.Graph().as_default(), tf1.Session() as session:
        batch = tf1.placeholder(tf.float32, [3])
        v, w = (tf1.get_variable(name, [2], initializer=tf1.ones_initializer())
                for name in "vw")
        loss = tf.reduce_sum(v) + tf.reduce_sum(w * batch[1:]) + batch[0]
        step = tf1.train.get_or_create_global_step()
        op = cap.train_op(loss, [v, w], tf1.train.AdamOptimizer(), global_step=step)
        session.run(tf1.global_variables_initializer())
        session.run(op, {batch: [0.0, 1.0, 1.0]})
        before = session.run(tf1.global_variables())
        with pytest.raises(tf.errors.InvalidArgumentError, match=named):
            session.run(op, {batch: bad})
        after = session.run(tf1.global_variables())
        for one, two in zip(before, after, strict=True):
            np.testing.assert_array_equal(one, two)
        session.run(op, {batch: [0.0, 1.0, 1.0]})
        assert session.run(step) == 2


def test_frozen_weights_stay_then_move():
    images, inputs, targets = example()
    with tf.Graph().as_default(), tf1.Session() as session:
        _, image_feed, input_feed, _, logits = built()
        total, count = cap.masked_loss(
            logits, tf.constant(targets), tf.ones_like(targets, tf.float32)
        )
        parts = {name: cap.variables_of(name) for name in ("encoder", "decoder")}
        ops = {}
        for name, variables in (("frozen", parts["decoder"]),
                                ("tuned", [*parts["encoder"], *parts["decoder"]])):
            ops[name] = cap.train_op(
                total / count, variables, tf1.train.AdamOptimizer(1e-2)
            )
        session.run(tf1.global_variables_initializer())
        fill(session, scale=0.2)
        feeds = {image_feed: images, input_feed: inputs}
        start = session.run(parts)
        for _ in range(3):
            session.run(ops["frozen"], feeds)
        middle = session.run(parts)
        session.run(ops["tuned"], feeds)
        end = session.run(parts)
    assert all((a == b).all() for a, b in
               zip(start["encoder"], middle["encoder"], strict=True))
    assert all((a != b).any() for a, b in
               zip(start["decoder"], middle["decoder"], strict=True))
    moved = [(a != b).any() for a, b in
             zip(middle["encoder"], end["encoder"], strict=True)]
    assert all(moved[:4])


def test_the_norm_of_the_gradients_is_limited():
    with tf.Graph().as_default(), tf1.Session() as session:
        w = tf1.get_variable("w", [2], initializer=tf1.zeros_initializer())
        op = cap.train_op(
            tf.reduce_sum(w * [300.0, 400.0]), [w],
            tf1.train.GradientDescentOptimizer(1.0), clip=5.0,
        )
        session.run(tf1.global_variables_initializer())
        session.run(op)
        np.testing.assert_allclose(session.run(w), [-3.0, -4.0], rtol=1e-5)
        other = tf1.get_variable("other", [2])
        with pytest.raises(ValueError, match="other"):
            cap.train_op(
                tf.reduce_sum(w), [w, other], tf1.train.GradientDescentOptimizer(1.0)
            )


def test_dropout_only_when_asked():
    images, inputs, _ = example()
    with tf.Graph().as_default(), tf1.Session() as session:
        keep = tf1.placeholder_with_default(1.0, [])
        _, image_feed, input_feed, _, logits = built(keep_prob=keep)
        session.run(tf1.global_variables_initializer())
        fill(session)
        feeds = {image_feed: images, input_feed: inputs}
        first, second = (session.run(logits, feeds) for _ in range(2))
        np.testing.assert_array_equal(first, second)
        assert (session.run(logits, {**feeds, keep: 0.5}) != first).any()


@pytest.mark.parametrize(
    "wrong", [{"words": 0}, {"cell": "rnn"}, {"configuration": "F"}]
)
def test_impossible_sizes_are_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong)) + r".*|Sizes"):
        dataclasses.replace(TINY, **wrong)


# Searches -------------------------------------------------------------------------


def run_search(search, **options):
    with tf.Graph().as_default(), tf1.Session() as session:
        step, state, logp = toy(**options)
        return session.run(search(step, state)), logp


@pytest.mark.parametrize("seed", range(5))
def test_width_one_is_greedy_is_numpy(seed):
    options = {"max_length": 5, "start": 0, "end": 1}
    greedy, logp = run_search(
        lambda step, state: cap.greedy_search(step, state, **options), seed=seed
    )
    beam, _ = run_search(
        lambda step, state: cap.beam_search(step, state, width=1, **options), seed=seed
    )
    np.testing.assert_array_equal(beam.ids[:, 0], greedy)
    for row, table in zip(greedy, logp, strict=True):
        word, ids = 0, []
        for place in range(5):
            word = 1 if word == 1 else int(table[place, word].argmax())
            ids.append(word)
        assert list(row) == ids


@pytest.mark.parametrize("power", [0.0, 1.0])
@pytest.mark.parametrize("seed", range(3))
def test_a_wide_beam_is_exhaustive(seed, power):
    # 3 words, at most 4 of them: 31 captions and their beginnings fit the beam.
    options = {"max_length": 4, "start": 0, "end": 1, "length_power": power}
    found, logp = run_search(
        lambda step, state: cap.beam_search(step, state, width=81, **options),
        words=3, seed=seed,
    )
    for row in range(3):
        wanted = enumerate_captions(logp[row], 4, 0, 1, power)
        assert len(wanted) == 15
        for k, (score, ids) in enumerate(wanted):
            assert found.scores[row, k] == pytest.approx(score, rel=1e-4)
            assert tuple(found.ids[row, k]) == ids
        assert (found.scores[row, 15:] < -1e8).all()  # there are no others


def test_a_narrow_beam_beats_greedy_on_the_whole():
    options = {"max_length": 5, "start": 0, "end": 1}
    scores = {}
    for width in (1, 3, 9):
        found = [
            run_search(
                lambda step, state, width=width: cap.beam_search(
                    step, state, width=width, **options
                ), seed=seed,
            )[0].scores[:, 0]
            for seed in range(4)
        ]
        scores[width] = np.concatenate(found)
    complete = scores[1] > -1e8
    assert scores[1][complete].mean() < scores[3][complete].mean()
    assert scores[3].mean() <= scores[9].mean()


def test_without_an_end_the_open_captions_are_returned():
    def step(last, state):
        return tf.tile([[0.0, -1e9, 2.0]], [tf.shape(last)[0], 1]), state

    with tf.Graph().as_default(), tf1.Session() as session:
        state = tf.zeros([2, 3])
        found = session.run(cap.beam_search(
            step, state, width=2, max_length=3, start=0, end=1
        ))
        options = {"max_length": 3, "start": 0, "end": 1}
        greedy = session.run(cap.greedy_search(step, state, **options))
    assert found.ids[:, 0].tolist() == greedy.tolist() == [[2, 2, 2]] * 2
    with pytest.raises(ValueError, match="width=0"):
        cap.beam_search(step, None, width=0, max_length=3, start=0, end=1)


@pytest.mark.timeout(60)
@pytest.mark.parametrize("cell", ["gru", "lstm"])
def test_searching_a_batch_is_searching_each(cell):
    sizes = dataclasses.replace(TINY, cell=cell)
    images, _, _ = example(sizes)
    with tf.Graph().as_default(), tf1.Session() as session:
        model, image_feed, _, features, _ = built(sizes)
        options = {"max_length": 6, "start": 0, "end": 1}
        found = cap.beam_search(
            model.step, model.start(features), width=3, **options
        )
        session.run(tf1.global_variables_initializer())
        fill(session)
        batch = session.run(found, {image_feed: images})
        for k in range(BATCH):
            one = session.run(found, {image_feed: images[k : k + 1]})
            np.testing.assert_array_equal(one.ids[0], batch.ids[k])
            np.testing.assert_allclose(one.scores[0], batch.scores[k], rtol=1e-4)


@pytest.mark.timeout(120)
def test_batched_in_graph_search_is_far_faster_than_word_by_word():
    """The ratio is taken in one run; the lesson shows more than 20."""
    count, width, length = 100, 3, 9
    images = np.random.default_rng(0).uniform(-1, 1, [count, 32, 32, 3])
    with tf.Graph().as_default(), tf1.Session() as session:
        model, image_feed, _, features, _ = built()
        found = cap.beam_search(
            model.step, model.start(features), width=width, max_length=length,
            start=0, end=1,
        )
        first = model.start(features)
        words = tf1.placeholder(tf.int32, [None])
        old = tf1.placeholder(tf.float32, [None, TINY.units])
        logits, new = model.step(words, (old,))
        session.run(tf1.global_variables_initializer())
        fill(session, scale=0.1)

        def one_by_one(image):
            (state,) = session.run(first, {image_feed: image[None]})
            beams, done = [(0.0, [0], state[0])], []
            for _ in range(length):
                feeds = {words: [b[1][-1] for b in beams], old: [b[2] for b in beams]}
                values, (states,) = session.run([logits, new], feeds)
                logp = values - np.log(np.exp(values).sum(1, keepdims=True))
                rows = [
                    (beam[0] + logp[k, w], [*beam[1], w], states[k])
                    for k, beam in enumerate(beams) for w in range(WORDS)
                ]
                rows = sorted(rows, key=lambda r: -r[0])[:width]
                done += [row for row in rows if row[1][-1] == 1]
                beams = [row for row in rows if row[1][-1] != 1]
                if not beams:
                    break
            return max(done or beams, key=lambda r: r[0])[1][1:]

        session.run(found, {image_feed: images})  # warm
        one_by_one(images[0])
        started = time.perf_counter()
        batched = session.run(found, {image_feed: images}).ids[:, 0]
        fast = (time.perf_counter() - started) / count
        started = time.perf_counter()
        slow_ids = [one_by_one(image) for image in images[:20]]
        slow = (time.perf_counter() - started) / 20
    for ids, row in zip(slow_ids, batched, strict=False):
        assert ids == list(row[: len(ids)])
    assert slow / fast >= 10


# Metrics --------------------------------------------------------------------------


def test_bleu_equals_nltk_and_values_by_hand():
    references = [
        ["a red circle above a blue star", "a blue star below a red circle"],
        ["a cat on the mat", "there is a cat on the mat", "a cat sits"],
        ["two dogs run in the green park"],
    ]
    candidates = [
        "a red circle above a blue square", "a cat on on the mat",
        "two dogs run in a park",
    ]
    split = [[text.split() for text in texts] for texts in references]
    words = [text.split() for text in candidates]
    for order, score in enumerate(cap.bleu(references, candidates), start=1):
        weights = [1 / order] * order
        assert score == pytest.approx(corpus_bleu(split, words, weights), rel=1e-6)
    # Papineni's own example: "the" counts twice at most, 2 of 7.
    clipped = cap.bleu([["the cat is on the mat"]], ["the the the the the the the"])
    assert clipped[0] == pytest.approx(2 / 7)
    # 3 of 3 words, brevity exp(1 - 6/3).
    short = cap.bleu([["the cat is on the mat"]], ["the cat is"])
    assert short[0] == pytest.approx(math.exp(1 - 6 / 3))
    perfect = cap.bleu(references, [texts[0] for texts in references])
    assert perfect == pytest.approx([1.0] * 4)


def test_exact_share_and_perplexity_by_hand():
    assert cap.exact_share([["a b", "c"], ["d"], ["e"]], ["c", "d", "f"]) == 2 / 3
    assert cap.perplexity(10 * math.log(7), 10) == pytest.approx(7)
    assert cap.perplexity(710 * 3, 3) == math.inf
    with pytest.raises(ValueError, match="0 words"):
        cap.perplexity(0, 0)
    with pytest.raises(ValueError, match="0 candidates"):
        cap.bleu([], [])
    with pytest.raises(ValueError, match="candidate 0"):
        cap.exact_share(["a b"], ["a b"])


# Saving ---------------------------------------------------------------------------


def some_words(count=WORDS, last="zebra"):
    words = ["<S>", "</S>", "<UNK>", *(f"w{k}" for k in range(count - 4)), last]
    return cap.Vocabulary(words, [1] * count)


class Training:
    """A session that trains on one batch, and can be killed and built again."""

    def __init__(self, sizes=TINY):
        self.graph = tf.Graph()
        images, inputs, targets = example(sizes)
        with self.graph.as_default():
            tf1.set_random_seed(11)
            _, image_feed, input_feed, _, logits = built(sizes)
            total, count = cap.masked_loss(
                logits, tf.constant(targets), tf.ones_like(targets, tf.float32)
            )
            self.loss = total / count
            self.step = tf1.train.get_or_create_global_step()
            self.op = cap.train_op(
                self.loss, tf1.trainable_variables(), tf1.train.AdamOptimizer(1e-2),
                global_step=self.step,
            )
            self.saver = tf1.train.Saver(max_to_keep=2)
            init = tf1.global_variables_initializer()
        self.feeds = {image_feed: images, input_feed: inputs}
        self.session = tf1.Session(graph=self.graph)
        self.session.run(init)

    def train(self, steps):
        return [
            float(self.session.run([self.loss, self.op], self.feeds)[0])
            for _ in range(steps)
        ]

    def save(self, folder, vocabulary, sizes=TINY):
        step = self.session.run(self.step)
        cap.save_captioner(self.saver, self.session, folder, step,
                           vocabulary=vocabulary, sizes=sizes)

    def restore(self, folder, vocabulary, sizes=TINY):
        return cap.restore_captioner(self.saver, self.session, folder,
                                     vocabulary=vocabulary, sizes=sizes)


@pytest.mark.timeout(120)
def test_a_resumed_training_goes_on_as_if_nothing_happened(tmp_path):
    folder = tmp_path / "model"
    first = Training()
    assert first.restore(folder, some_words()) is None
    first.train(3)
    first.save(folder, some_words())
    wanted = first.train(3)
    second = Training()
    assert second.restore(folder, cap.Vocabulary.load(folder / "vocabulary.txt")) == 3
    np.testing.assert_allclose(second.train(3), wanted, rtol=1e-6)


@pytest.mark.timeout(120)
def test_another_model_is_refused_by_name(tmp_path):
    training = Training()
    training.save(tmp_path, some_words())
    before = training.session.run(training.graph.get_collection("trainable_variables"))
    refused = [
        (some_words(last="zoo"), TINY, "vocabulary.*'zebra'.*'zoo'"),
        (some_words(), dataclasses.replace(TINY, base_width=3), "encoder.*base_width"),
        (some_words(), dataclasses.replace(TINY, configuration="B"), "encoder"),
        (some_words(), dataclasses.replace(TINY, units=19), "size.*units is 17.* 19"),
        (some_words(), dataclasses.replace(TINY, cell="lstm"), "cell is 'gru'"),
        (some_words(WORDS + 2), dataclasses.replace(TINY, words=WORDS + 2), "words is"),
    ]
    for vocabulary, sizes, message in refused:
        for act in (training.restore, training.save):
            with pytest.raises(DataError) as caught:
                act(tmp_path, vocabulary, sizes)
            assert "\n" not in str(caught.value)
            assert re.search(message, str(caught.value)), str(caught.value)
    after = training.session.run(training.graph.get_collection("trainable_variables"))
    assert all((a == b).all() for a, b in zip(before, after, strict=True))


def test_a_damaged_folder_is_refused(tmp_path):
    training = Training()
    training.save(tmp_path, some_words())
    words = (tmp_path / "vocabulary.txt").read_text()
    (tmp_path / "vocabulary.txt").write_text(words.replace("zebra", "zoo"))
    with pytest.raises(DataError, match="vocabulary"):
        training.restore(tmp_path, some_words())
    (tmp_path / "sizes.json").write_text("{}")
    with pytest.raises(DataError, match=r"sizes\.json"):
        training.restore(tmp_path, some_words())
