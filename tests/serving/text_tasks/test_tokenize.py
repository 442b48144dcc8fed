"""The WordPieces of a text, or of two texts, as the network reads them."""

from types import SimpleNamespace

import pytest

from serving.text_tasks.text_task import ReplyOptions
from serving.text_tasks.tokenize import TOKENIZE
from tests.support.serving.exports import TOKENIZER

MAX_LENGTH = 8


@pytest.fixture
def loaded_export():
    """What `tokenize` reads of a LoadedExport."""
    return SimpleNamespace(tokenizer=TOKENIZER, max_seq_length=MAX_LENGTH)


def tokenize(loaded_export, request):
    """Returns the reply to a request."""
    encoded = TOKENIZE.encode(loaded_export, request)
    assert encoded.inputs == [], "the network would run"
    return TOKENIZE.decode(
        loaded_export, encoded.decoding_context, [], ReplyOptions()
    )


@pytest.mark.parametrize("name", ["text", "text_a"])
def test_a_text_has_the_special_tokens_of_the_network(loaded_export, name):
    assert tokenize(loaded_export, {name: "The boat"}) == {
        "tokens": ["[CLS]", "the", "boat", "[SEP]"],
        "num_wordpieces": 2,
    }


def test_a_pair_has_a_separator_after_each_text(loaded_export):
    assert tokenize(loaded_export, {"text_a": "the", "text_b": "boat"})[
        "tokens"
    ] == [
        "[CLS]",
        "the",
        "[SEP]",
        "boat",
        "[SEP]",
    ]


def test_all_wordpieces_are_counted_but_only_those_that_fit_are_shown(
    loaded_export,
):
    reply = tokenize(
        loaded_export, {"text_a": "the " * 500, "text_b": "boat boat"}
    )
    assert reply["num_wordpieces"] == 502
    assert len(reply["tokens"]) == MAX_LENGTH


def test_tokenize_refuses_a_text_under_two_names():
    with pytest.raises(ValueError, match="are the same field"):
        TOKENIZE.parse_request({"text": "a", "text_a": "a"})
