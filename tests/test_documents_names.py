"""The page of the documents' names is made from its list and the lessons."""

import re

from helpers.files import ROOT
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

def test_each_function_of_the_tutorials_is_whole_in_the_cell_of_a_program():
    """Every class, method and function has its own name in a cell of the table.

    The programs of 15c that are longer than a screen are files beside the lesson.
    """
    sources = "\n".join([
        *(names.cell_of(names.Row("", one.name, "", one.where, "", "")).source
          for one in names.programs()),
        *(path.read_text("utf-8") for path in ROOT.glob("notebooks/15*.py"))])
    own = [row.name.split(".")[-1] for row in ROWS
           if row.section == "Functions and classes that the tutorials define"
           and not row.name.startswith("helpers_08.")
           and row.name != "n_to_z"]  # the repaired average has no zeros for None
    assert len(own) > 30
    missing = [name for name in own
               if not re.search(rf"^ *(?:def|class) {name}\b", sources, re.M)]
    assert not missing
