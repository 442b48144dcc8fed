"""A sentence with tagged words."""

import pytest

from data.ner.ner_example import NerExample


def test_words_in_columns_have_no_text_and_no_row():
    example = NerExample("line 1", ["Ann"], ["B-PER"], document_index=0)
    assert example.text is None
    assert example.row is None


def test_a_misspelled_attribute_is_an_error():
    """Else, a reader that misspells one would change nothing, in silence."""
    example = NerExample("line 1", ["Ann"], ["B-PER"], document_index=0)
    with pytest.raises(AttributeError, match="lables"):
        example.lables = ["O"]
