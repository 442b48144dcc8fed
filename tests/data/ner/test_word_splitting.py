"""Words of running text, and their places in it."""

import pytest

from data.ner import word_splitting


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
    assert word_splitting.split_words(text) == words


def test_a_word_that_repeats_has_a_place_of_its_own():
    places = word_splitting.find_words("a ba a", ["a", "ba", "a"])
    assert places == [(0, 1), (2, 4), (5, 6)]


def test_words_in_another_order_are_an_error():
    with pytest.raises(ValueError, match="substring not found"):
        word_splitting.find_words("a b", ["b", "a"])
