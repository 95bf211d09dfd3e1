"""Words and ids: counted, sorted, cut, saved and read again."""

import unicodedata

import pytest

from helpers import captions as cap
from helpers.errors import DataError

SENTENCES = [
    "A red circle, above it a star!", "a red  star", "the circle's edge", "a a",
]


def test_words_are_counted_sorted_and_cut():
    vocabulary = cap.Vocabulary.build(SENTENCES, min_count=2)
    assert vocabulary.words == ("a", "</S>", "<S>", "red", "star", "<UNK>")
    assert vocabulary.counts == (5, 4, 4, 2, 2, 0)
    ids = vocabulary.encode("A red edge.")
    assert [vocabulary.words[k] for k in ids] == ["<S>", "a", "red", "<UNK>", "</S>"]
    assert vocabulary.decode([*ids, 0, 0]) == "a red <UNK>"
    assert vocabulary == cap.Vocabulary.build(reversed(SENTENCES), min_count=2)


@pytest.mark.parametrize("text", ["a\n", "a 1\n", "a 1\na 2\n<S> 1\n</S> 1\n<UNK> 0\n"])
def test_a_damaged_vocabulary_is_one_line(tmp_path, text):
    (tmp_path / "words.txt").write_text(text)
    with pytest.raises(DataError, match=r"words\.txt"):
        cap.Vocabulary.load(tmp_path / "words.txt")
    with pytest.raises(DataError, match=r"other\.txt"):
        cap.Vocabulary.load(tmp_path / "other.txt")
    with pytest.raises(ValueError, match="without captions"):
        cap.Vocabulary.build([])


@pytest.mark.parametrize("number", [-1, 5])
def test_a_number_that_is_no_id_is_no_word(number):
    vocabulary = cap.Vocabulary.build(["red star"], min_count=1)
    with pytest.raises(ValueError, match=f"Id {number} is out of range .*0 to 4"):
        vocabulary.decode([number])


# A pattern of letters alone would cut these words.
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
