"""The page of the documents' names is made from its list and the lessons."""

import re

import pytest

from helpers.tf1_names import SOURCE_NAMES
from tools import documents_names as names

_, ROWS = names.listed()


def test_the_page_is_that_of_the_list_and_the_lessons():
    stored = names.PAGE.read_text("utf-8")
    assert stored == names.page(), "run: python -m tools.documents_names"


def test_each_name_stands_once_and_none_of_tensorflow_is_missing():
    listed = [row.name for row in ROWS]
    assert len(listed) == len(set(listed))
    used = {f"tf.{old.name}" for group in SOURCE_NAMES.values() for old in group}
    assert used <= set(listed)


def test_a_name_without_a_cell_says_why():
    silent = [row.name for row in ROWS if row.where == "-"
              and not re.match(r"not taught: \w", row.note)]
    assert not silent


@pytest.mark.parametrize("wrong", [
    {"where": "no cell has this"},
    {"where": "-"},
    {"where": "05a:def worker"},  # it is in 03a
    {"helper": "queues.no_such_helper"},
])
def test_a_row_without_its_cell_or_helper_is_refused(wrong):
    [row] = [row for row in ROWS if row.name == "worker"]
    with pytest.raises(ValueError, match="documents_names.txt: worker: "):
        names._line(row._replace(**wrong))


@pytest.mark.parametrize("name, word", [
    ("tf.train.shuffle_batch(enqueue_many=)", "moved"),
    ("tf.train.shuffle_batch(no_such_option=)", "gone"),
    ("tf.train.Coordinator.join", "kept"),
    ("tf.data.Dataset.make_one_shot_iterator", "moved"),
    ("tf.MonitorSession", "gone"),
])
def test_an_option_or_a_method_has_its_own_fate(name, word):
    assert names.fate_in_tensorflow(name)[0] == word
