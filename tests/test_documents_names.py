"""The page of the documents' names is made from its list and the lessons."""

import re

from helpers.tf1_names import SOURCE_NAMES
from tools import documents_names as names
from tools import port_sittings

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


def test_the_lessons_that_tf1_port_names_are_those_of_today():
    assert port_sittings.OUT.read_text("utf-8") == port_sittings.made(), (
        "run: python -m tools.port_sittings")
