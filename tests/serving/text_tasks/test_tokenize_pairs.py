"""A text, or two texts, as one input of the network."""

from types import SimpleNamespace

import pytest

from serving.text_tasks import tokenize
from serving.text_tasks.classify import CLASSIFY
from serving.text_tasks.pretrained import NEXT_SENTENCE
from tests.support.serving.exports import TOKENIZER

MAX_LENGTH = 8
SINGLE_TEXTS = tokenize.without_pairs(CLASSIFY)


@pytest.fixture
def loaded_export():
    """What `encode_pair` reads of a LoadedExport."""
    return SimpleNamespace(tokenizer=TOKENIZER, max_seq_length=MAX_LENGTH)


def encode_request(loaded_export, request):
    """Returns the WordPieces of a request, and its input."""
    encoded = tokenize.encode_pair(loaded_export, request)
    assert encoded.inputs == [encoded.decoding_context]
    network_input = encoded.decoding_context
    return TOKENIZER.convert_ids_to_tokens(network_input.ids), network_input


@pytest.mark.parametrize("name", ["text", "text_a"])
def test_a_single_text_is_all_in_the_first_segment(loaded_export, name):
    tokens, network_input = encode_request(loaded_export, {name: "the boat"})
    assert tokens == ["[CLS]", "the", "boat", "[SEP]"]
    assert network_input.first_length == 4
    assert network_input.num_cut == 0


def test_the_second_text_is_the_second_segment(loaded_export):
    tokens, network_input = encode_request(
        loaded_export, {"text_a": "the boat", "text_b": "the sea"}
    )
    assert tokens == ["[CLS]", "the", "boat", "[SEP]", "the", "sea", "[SEP]"]
    assert network_input.first_length == 4


def test_the_longer_text_of_a_pair_is_cut(loaded_export):
    tokens, network_input = encode_request(
        loaded_export, {"text_a": "the " * 6, "text_b": "sea"}
    )
    assert tokens == ["[CLS]", *["the"] * 4, "[SEP]", "sea", "[SEP]"]
    assert network_input.first_length == 6
    assert network_input.num_cut == 2


def test_the_end_of_a_long_text_is_cut(loaded_export):
    tokens, network_input = encode_request(
        loaded_export, {"text": "the " * 7 + "boat"}
    )
    assert tokens == ["[CLS]", *["the"] * 6, "[SEP]"]
    assert network_input.num_cut == 2


def test_a_text_under_two_names_is_refused():
    with pytest.raises(ValueError, match="'text' and 'text_a' are the same"):
        tokenize.check_pair({"text": "a", "text_a": "a"})


@pytest.mark.parametrize(
    "request_",
    [{"text": "a"}, {"text_a": "a", "text_b": "b"}, {"text_b": "b"}],
)
def test_a_pair_under_its_own_names_is_accepted(request_):
    tokenize.check_pair(request_)


def test_a_task_that_needs_two_texts_stays_one_of_pairs():
    assert tokenize.without_pairs(NEXT_SENTENCE) is NEXT_SENTENCE


def test_a_model_of_single_texts_refuses_a_second_text():
    with pytest.raises(ValueError, match="accepts no 'text_b'"):
        SINGLE_TEXTS.parse_request({"text_a": "a", "text_b": "b"})


def test_a_model_of_single_texts_accepts_an_empty_second_text():
    SINGLE_TEXTS.parse_request({"text_a": "a", "text_b": ""})


def test_a_model_of_single_texts_accepts_a_second_text_of_null(loaded_export):
    request = SINGLE_TEXTS.parse_request({"text": "a", "text_b": None})
    tokens, _ = encode_request(loaded_export, request)
    assert tokens == ["[CLS]", "a", "[SEP]"]


def test_a_model_of_single_texts_refuses_two_names_too():
    with pytest.raises(ValueError, match="use only one"):
        SINGLE_TEXTS.parse_request({"text": "a", "text_a": "a"})
