"""Predicted texts that are found in the passage's own spelling."""

import pytest

from data.squad.final_text import find_final_text, read_words
from data.squad.squad_examples import SquadExample
from data.text.tokenization import BasicTokenizer


def final_text(predicted, passage):
    """Returns the part of a passage that `find_final_text` finds."""
    example = SquadExample("q", "q?", passage.split())
    starts = [passage.index(word) for word in example.doc_tokens]
    words = read_words(example, starts, 0, len(starts) - 1, BasicTokenizer())
    start, end = find_final_text(predicted, words, verbose_logging=False)
    return passage[start:end]


def test_a_text_is_found_with_its_capitals():
    assert final_text("steve smith", "Mr Steve Smith") == "Steve Smith"


def test_a_text_may_end_within_a_word():
    assert final_text("steve smith", "Steve Smith's") == "Steve Smith"


def test_blanks_that_the_tokenizer_adds_do_not_count():
    assert final_text("smith ' s", "Steve Smith's boat") == "Smith's"


@pytest.mark.parametrize(
    ("predicted", "passage"),
    [
        ("ship", "A Boat"),
        # The tokenizer leaves out a character.
        ("boat", "A Bo\u200bat"),
        ("", "A Boat"),
        (" boat", "A Boat"),
    ],
)
def test_a_text_that_cannot_be_matched_is_all_of_the_words(predicted, passage):
    assert final_text(predicted, passage) == passage


def test_words_know_their_places_in_the_passage():
    example = SquadExample("q", "q?", ["a", "Boat", "left"])
    words = read_words(example, [0, 3, 8], 1, 2, BasicTokenizer())
    assert words.text == "Boat left"
    assert words.tokenized_text == "boat left"
    assert words.sources == [3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
