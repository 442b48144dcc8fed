"""The flags for tagged words, and the columns that they choose."""

import dataclasses

import pytest

from data.ner.ner_options import ConllFileOptions, NerOptions
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


def test_the_options_of_a_file_cannot_change_while_it_is_read():
    options = ConllFileOptions(0, None, labels=["O"], set_name="test")
    with pytest.raises(dataclasses.FrozenInstanceError, match="set_name"):
        options.set_name = "train"
