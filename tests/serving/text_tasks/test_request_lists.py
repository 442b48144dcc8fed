"""Requests with lists of texts are one request for each text."""

import pytest

from serving.text_tasks.classify import CLASSIFY
from serving.text_tasks.request_lists import split_request
from serving.text_tasks.tag import TAG


def test_a_request_of_single_texts_is_one_request():
    request = {"text_a": "a", "text_b": "b"}
    assert split_request(CLASSIFY, request) == ([request], False)


def test_each_text_of_a_list_is_a_request():
    requests, is_list = split_request(CLASSIFY, {"text": ["a", "b"]})
    assert requests == [{"text": "a"}, {"text": "b"}]
    assert is_list


def test_a_text_beside_a_list_is_for_all_of_it():
    requests, _ = split_request(CLASSIFY, {"text_a": ["a", "b"], "text_b": "c"})
    assert requests == [
        {"text_a": "a", "text_b": "c"},
        {"text_a": "b", "text_b": "c"},
    ]


def test_an_empty_list_is_no_request():
    assert split_request(CLASSIFY, {"text": []}) == ([], True)


def test_the_words_of_a_text_are_no_list_of_texts():
    request = {"words": ["A", "boat"]}
    assert split_request(TAG, request) == ([request], False)


def test_lists_of_two_lengths_are_refused():
    with pytest.raises(ValueError, match="text_a, text_b must be lists of eq"):
        split_request(CLASSIFY, {"text_a": ["a"], "text_b": ["b", "c"]})
