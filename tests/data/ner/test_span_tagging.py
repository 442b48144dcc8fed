"""The tags of words that spans cover, without a file."""

import pytest

from data.ner.span_tagging import check_span_labels, tag_words

TEXT = "Anna left New York"
WORDS = TEXT.split()


def test_the_first_word_of_a_span_begins_an_entity():
    values = [[10, 18, "LOC"], [0, 4, "PER"]]
    tags, spans = tag_words(TEXT, WORDS, values, "line 1")
    assert tags == ["B-PER", "O", "B-LOC", "I-LOC"]
    assert [span.label for span in spans] == ["PER", "LOC"]
    assert not any(span.widened for span in spans)


def test_a_span_inside_a_word_covers_the_complete_word():
    tags, (span,) = tag_words(TEXT, WORDS, [[12, 16, "LOC"]], "line 1")
    assert tags == ["O", "O", "B-LOC", "I-LOC"]
    assert span.widened == "[12, 16, 'LOC'] 'w Yo' to 'New York'"
    assert span.is_start_wrong
    assert span.is_end_wrong


def test_a_text_without_spans_contains_no_entities():
    assert tag_words(TEXT, WORDS, [], "line 1") == (["O"] * 4, [])


def test_a_span_of_words_that_another_span_covers_is_an_error():
    values = [[0, 9, "PER"], [5, 9, "LOC"]]
    with pytest.raises(ValueError, match=r"line 1: .*'left' .*overlaps"):
        tag_words(TEXT, WORDS, values, "line 1")


def test_spans_that_are_labeled_with_tags_are_an_error():
    check_span_labels("train.jsonl", {"B-cell", "I-beam"})
    with pytest.raises(ValueError, match=r"train\.jsonl: .*'B-PER'"):
        check_span_labels("train.jsonl", {"B-PER", "I-PER"})
