"""Captions: words that a pattern would cut, and logits that give no word."""

import unicodedata

import numpy as np
import pytest

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


OPTIONS = {"max_length": 4, "start": 0, "end": 1}


@pytest.mark.parametrize("power", [-1, 1000, np.nan, np.inf])
def test_a_length_power_that_ranks_nothing_is_refused(power):
    with pytest.raises(ValueError, match="length_power"):
        cap.beam_search(None, None, width=1, **OPTIONS, length_power=power)


@pytest.mark.parametrize("number", [-1, 5])
def test_a_number_that_is_no_id_is_no_word(number):
    vocabulary = cap.Vocabulary.build(["red star"], min_count=1)
    with pytest.raises(ValueError, match=f"{number} is no id of 5 words"):
        vocabulary.decode([number])
