"""How a text task checks a request, and reads its texts."""

import pytest

from serving.text_tasks.classify import CLASSIFY
from serving.text_tasks.tag import TAG


@pytest.mark.parametrize(
    "request_, culprit",
    [
        ("a", "is not a JSON object"),
        ({}, "'text_a' or 'text' is missing"),
        ({"text": 1}, "'text' must be a string"),
        ({"text": "a", "text_a": "b"}, "the same field"),
    ],
)
def test_a_wrong_request_is_refused(request_, culprit):
    with pytest.raises(ValueError, match=culprit):
        CLASSIFY.parse_request(request_)


def test_a_request_keeps_entries_that_are_no_fields():
    sent = {"text": "a", "id": 7}
    assert CLASSIFY.parse_request(sent) == sent


def test_the_texts_are_in_the_order_of_the_fields():
    request = CLASSIFY.parse_request({"text_b": "b", "text": "a"})
    assert CLASSIFY.texts_of(request) == ["a", "b"]


def test_a_request_without_words_has_no_text():
    request = TAG.parse_request({"words": []})
    assert not TAG.has_text(request)


def test_blanks_are_no_text():
    request = CLASSIFY.parse_request({"text": " ", "text_b": "\n"})
    assert not CLASSIFY.has_text(request)
