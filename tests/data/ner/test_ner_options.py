"""The flags for reading tagged words."""

import dataclasses

import pytest

from data.ner.ner_options import NerOptions
from data.tables.table_layout import LayoutOptions
from options import fields
from options.config import Config


@dataclasses.dataclass(frozen=True, kw_only=True)
class Config(Config):
    """The flags of a script that reads tagged words."""

    ner: NerOptions = fields.group(NerOptions)


FLAG_OF_NAME = {flag.name: flag for flag in Config.list_options()}


@pytest.mark.parametrize("name", ["text_column", "label_column"])
@pytest.mark.parametrize(("number", "is_valid"), [(1, True), (0, False)])
def test_columns_are_counted_from_1(name, number, is_valid):
    assert FLAG_OF_NAME[name].is_valid(number) == is_valid


def test_a_file_shows_what_no_flag_sets():
    options = NerOptions()
    assert options.labels is None
    assert options.text_column is None
    assert options.label_column is None


def test_files_of_columns_have_the_flags_of_tables():
    assert isinstance(NerOptions(encoding="cp1252"), LayoutOptions)
    assert NerOptions(encoding="cp1252").layout().encoding == "cp1252"


def test_the_indices_of_columns_are_counted_from_0():
    options = NerOptions(text_column=1, label_column=4)
    assert options.word_column_index == 0
    assert options.tag_column_index == 3
    assert NerOptions().word_column_index is None
    assert NerOptions().tag_column_index is None
