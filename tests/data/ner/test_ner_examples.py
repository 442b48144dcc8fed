"""Sentences with tagged words, and words in running text."""

import pytest

from data.ner import ner_examples
from data.ner.ner_examples import NerExample


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
