"""Captions: words that a pattern would cut, and logits that give no word."""

import unicodedata

import numpy as np
import pytest
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from helpers import captions as cap

PHRASES = {
    "Hindi": "एक लाल हिंदी सितारा",
    "Thai": "สวัสดี ดาวสีแดง ที่นี่",
    "Khmer": "ផ្កាយ ក្រហម មួយ",
    "Arabic, vocalised": "نَجْمَةٌ حَمْرَاءُ",
    "Vietnamese": "một ngôi sao đỏ",
    "Persian with a joiner": "می\u200cخواهم ستاره",
    "Sinhala with a joiner": "ශ්\u200dරී තරුව",
}


@pytest.mark.parametrize("script", PHRASES)
def test_no_sign_of_a_word_is_lost(script):
    phrase = unicodedata.normalize("NFC", PHRASES[script])
    for form in ("NFC", "NFD"):
        typed = unicodedata.normalize(form, phrase)
        words = cap.tokenize(f"  «{typed.replace(' ', '... ')}»!")
        assert [unicodedata.normalize("NFC", w) for w in words] == phrase.split()


def test_a_capital_with_a_dot_stays_one_word():
    assert cap.tokenize("İstanbul, İZMİR") == ["i\u0307stanbul", "i\u0307zmi\u0307r"]


def test_what_is_no_word_is_none():
    assert cap.tokenize("\u0301 \u200d _ ?! \u0940 ...") == []


BAD = {"NaN": [0.0, np.nan, 1.0], "no word": [-np.inf] * 3}


OPTIONS = {"max_length": 4, "start": 0, "end": 1}
SEARCHES = {
    "greedy": lambda *of: cap.greedy_search(*of, **OPTIONS),
    "beam of 1": lambda *of: cap.beam_search(*of, width=1, **OPTIONS).ids,
    "beam of 2": lambda *of: cap.beam_search(*of, width=2, **OPTIONS).ids,
}


def searched(search, rows, place):
    """Runs a search for two pictures, whose logits become `rows` at a place."""
    def step(last, state):
        count = tf.shape(last)[0]
        good = tf.tile([[0.0, 1.0, 2.0]], [count, 1])
        bad = tf.constant(rows, tf.float32)
        return tf.where(tf.equal(state, place), bad, good), state + 1

    with tf.Graph().as_default(), tf1.Session() as session:
        return session.run(SEARCHES[search](step, tf.zeros([2, 1], tf.int32)))


@pytest.mark.parametrize("kind", BAD)
@pytest.mark.parametrize("search", SEARCHES)
def test_logits_without_a_likeliest_word_are_an_error(search, kind, tried):
    tried(3)
    rows = 2 if search == "beam of 2" else 1
    for place in range(3):
        bad = [[[0.0, 1.0, 2.0], BAD[kind]], [BAD[kind], BAD[kind]]][place % 2]
        bad = bad if rows == 1 else bad * 2
        with pytest.raises(tf.errors.InvalidArgumentError, match="likeliest word"):
            searched(search, bad, place)


@pytest.mark.parametrize("search", SEARCHES)
def test_a_word_may_be_forbidden(search):
    """Minus infinity is no fault: a decoder forbids `<UNK>` that way."""
    rows = [[0.0, 1.0, -np.inf]] * (4 if search == "beam of 2" else 2)
    ids = searched(search, rows, 0)
    assert (np.reshape(ids, [2, -1])[:, 0] == 1).all()


@pytest.mark.parametrize("power", [-1, 1000, np.nan, np.inf])
def test_a_length_power_that_ranks_nothing_is_refused(power):
    with pytest.raises(ValueError, match="length_power"):
        cap.beam_search(None, None, width=1, **OPTIONS, length_power=power)


@pytest.mark.parametrize("number", [-1, 5])
def test_a_number_that_is_no_id_is_no_word(number):
    vocabulary = cap.Vocabulary.build(["red star"], min_count=1)
    with pytest.raises(ValueError, match=f"{number} is no id of 5 words"):
        vocabulary.decode([number])
