"""The words that are tagged, and their places in the text."""

import pytest


@pytest.mark.parametrize(
    "text, words",
    [
        ("York\u2014often", "York \u2014 often"),
        ("York--often", "York -- often"),
        ("York\u2026Anna...Bob", "York \u2026 Anna ... Bob"),
        # Words of CoNLL's files.
        ("O'Brien Franco-German 1990\u20131995", None),
    ],
)
def test_dashes_between_words_are_tagged_as_words(text, words, load):
    result = load("ner").tag(text)
    assert result["words"] == (words or text).split()
    assert [text[start:end] for start, end in result["spans"]] == result[
        "words"
    ]
