"""Vocabulary that maps words to ids, counted on the training captions only.

Taught in lesson 08a, "Words become ids".
"""

import hashlib
import os
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import regex

from helpers.arguments import numbers, whole, whole_number
from helpers.errors import DataError
from helpers.files import whole_file
from helpers.reading import read_text

START, END, UNKNOWN = "<S>", "</S>", "<UNK>"
# Letters or digits with their marks (vowel signs, tones, points). Two invisible
# joiners may occur inside a word of Persian or of an Indic script.
_PART = r"[\p{L}\p{N}](?:[\u200c\u200d]?[\p{L}\p{N}\p{M}])*"
_WORD = regex.compile(rf"{_PART}(?:'{_PART})?")
_LINE = regex.compile(r"(\S+) (\d+)")


def tokenize(caption: str) -> list[str]:
    """Splits a caption into lowercase words without punctuation, in any script.

    Accented letters are composed to a single character where Unicode has one, and curly
    apostrophes become straight ones, so that a word has one spelling. In scripts
    without spaces, such as Thai, a whole phrase counts as one word.

    Args:
      caption: Any text.
    """
    caption = unicodedata.normalize("NFC", caption.lower()).replace("\u2019", "'")
    return _WORD.findall(caption)


class Vocabulary:
    """Fixed list of words in which the position of a word is its id.

    Words are sorted by frequency, and words with equal frequency alphabetically, so
    that the same captions always give the same ids. `<S>` and `</S>` are counted once
    per caption, and `<UNK>` comes last.

    Attributes:
      words: Words by id.
      counts: Number of occurrences in the training captions by id, 0 for `<UNK>`.
      start, end, unknown: Ids of `<S>`, `</S>`, and `<UNK>`.
    """

    def __init__(self, words: Sequence[str], counts: Sequence[int]):
        if len(set(words)) != len(words) or len(words) != len(counts):
            raise ValueError(
                f"Words must be unique and have one count each, but got {len(words)} "
                f"words ({len(set(words))} unique) and {len(counts)} counts."
            )
        if missing := {START, END, UNKNOWN} - set(words):
            raise ValueError(
                f"The vocabulary must include {START}, {END}, and {UNKNOWN}. Missing: "
                f"{', '.join(sorted(missing))}."
            )
        self.words = tuple(words)
        self.counts = tuple(whole_number("count", n, 0) for n in counts)
        self._ids = {word: k for k, word in enumerate(self.words)}
        self.start, self.end, self.unknown = (
            self._ids[token] for token in (START, END, UNKNOWN)
        )

    @classmethod
    @numbers(min_count=whole())
    def build(cls, captions: Iterable[str], *, min_count: int = 4) -> "Vocabulary":
        """Builds a vocabulary from the words of the training captions.

        Args:
          captions: Captions of the training split only. Words that occur only in the
            validation captions must remain unknown.
          min_count: Words with fewer occurrences become `<UNK>`.

        Raises:
          ValueError: If there are no captions, or if a caption has no words.
        """
        counts: Counter[str] = Counter()
        for caption in captions:
            if not (words := tokenize(caption)):
                raise ValueError(
                    f"Caption {caption!r} contains no words. Correct the caption, or "
                    "remove it from the list."
                )
            counts.update([START, *words, END])
        if not counts:
            raise ValueError(
                "Cannot build a vocabulary without captions. Pass at least one caption."
            )
        kept = [
            (word, count) for word, count in counts.items()
            if count >= min_count or word in (START, END)
        ]
        kept.sort(key=lambda pair: (-pair[1], pair[0]))
        kept.append((UNKNOWN, 0))
        return cls(*zip(*kept, strict=True))

    def __len__(self) -> int:
        return len(self.words)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vocabulary) and self.words == other.words

    def __hash__(self) -> int:
        return hash(self.words)

    def encode(self, caption: str) -> list[int]:
        """Converts a caption to word ids that begin with `<S>` and end with `</S>`."""
        ids = [self._ids.get(word, self.unknown) for word in tokenize(caption)]
        return [self.start, *ids, self.end]

    def decode(self, ids: Iterable[int]) -> str:
        """Converts ids to text up to the first `</S>`, and leaves out `<S>`.

        Raises:
          ValueError: If an id is not in the vocabulary.
        """
        words = []
        for k in ids:
            if k == self.end:
                break
            if not 0 <= k < len(self.words):
                raise ValueError(
                    f"Id {k} is out of range for this vocabulary (0 to "
                    f"{len(self.words) - 1}). Decode ids with the vocabulary that "
                    "encoded them."
                )
            if k != self.start:
                words.append(self.words[k])
        return " ".join(words)

    def digest(self) -> str:
        """Returns the SHA-256 hash of the word list as hexadecimal digits."""
        return hashlib.sha256("\n".join(self.words).encode()).hexdigest()

    def save(self, path: str | os.PathLike) -> None:
        """Writes one line `word count` per word, in the order of the word ids."""
        lines = zip(self.words, self.counts, strict=True)
        text = "".join(f"{word} {count}\n" for word, count in lines)
        with whole_file(path) as temporary:
            temporary.write_text(text, encoding="utf-8")

    @classmethod
    def load(cls, path: str | os.PathLike) -> "Vocabulary":
        """Loads a vocabulary from a file that `save` has written.

        Raises:
          DataError: If the file does not exist, or if a line does not have the form
            `word count`.
        """
        path = Path(path)
        lines = read_text(path, "This vocabulary is saved beside the checkpoint, so "
                          "restore both or neither.").splitlines()
        words, counts = [], []
        for number, line in enumerate(lines, start=1):
            match = _LINE.fullmatch(line)
            if not match:
                raise DataError(
                    f"Expected `word count` in line {number} of {path}, but got "
                    f"{line!r}. Restore this file and its checkpoint from the same "
                    "backup."
                )
            words.append(match[1])
            counts.append(int(match[2]))
        try:
            return cls(words, counts)
        except ValueError as error:
            raise DataError(f"{path}: {error}") from error
