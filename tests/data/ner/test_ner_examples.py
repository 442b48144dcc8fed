"""Sentences with tagged words, their options, and words in running text."""

import dataclasses

import pytest

from data.ner import ner_examples
from data.ner.ner_examples import NerExample, NerOptions
from data.tables.table_layout import LayoutOptions
from options import fields
from options.config import Config


def test_words_in_columns_have_no_text_and_no_row():
    example = NerExample("line 1", ["Ann"], ["B-PER"], document_index=0)
    assert example.text is None
    assert example.row is None


def test_a_misspelled_attribute_is_an_error():
    """Else, a reader that misspells one would change nothing, in silence."""
    example = NerExample("line 1", ["Ann"], ["B-PER"], document_index=0)
    with pytest.raises(AttributeError, match="lables"):
        example.lables = ["O"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('He\'s "in" it', ["He's", '"', "in", '"', "it"]),
        ("(St. Ives).", ["(", "St", ".", "Ives", ")."]),
        ("York--often", ["York", "--", "often"]),
        ("a\u2014b\u2026", ["a", "\u2014", "b", "\u2026"]),
        ("\u6e2f\u6771a", ["\u6e2f", "\u6771", "a"]),
        (" \n", []),
    ],
)
def test_punctuation_and_ideographs_are_words_of_their_own(text, words):
    assert ner_examples.split_words(text) == words


def test_find_words_finds_each_occurrence_of_a_repeated_word():
    places = ner_examples.find_words("a ba a", ["a", "ba", "a"])
    assert places == [(0, 1), (2, 4), (5, 6)]


def test_words_in_another_order_are_an_error():
    with pytest.raises(ValueError, match="substring not found"):
        ner_examples.find_words("a b", ["b", "a"])


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
