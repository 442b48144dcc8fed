"""The WordPieces that the task tokenize shows."""

from types import SimpleNamespace

import pytest

from serving.text_tasks.reply_options import ReplyOptions
from serving.text_tasks.tokenize import TOKENIZE
from tests.support.serving.exports import TOKENIZER

LOADED = SimpleNamespace(tokenizer=TOKENIZER, max_seq_length=6)


def tokenize(request):
    """Returns the reply to a request."""
    encoded = TOKENIZE.encode(LOADED, request)
    assert encoded.inputs == [], "the network would run"
    return TOKENIZE.decode(LOADED, encoded.context, [], ReplyOptions())


@pytest.mark.parametrize("name", ["text", "text_a"])
def test_a_text_has_the_special_tokens_of_the_network(name):
    assert tokenize({name: "The boat"}) == {
        "tokens": ["[CLS]", "the", "boat", "[SEP]"],
        "num_wordpieces": 2,
    }


def test_a_pair_has_a_separator_after_each_text():
    assert tokenize({"text_a": "the", "text_b": "boat"})["tokens"] == [
        "[CLS]",
        "the",
        "[SEP]",
        "boat",
        "[SEP]",
    ]


def test_all_wordpieces_are_counted_but_only_those_that_fit_are_shown():
    reply = tokenize({"text_a": "the " * 500, "text_b": "boat boat"})
    assert reply["num_wordpieces"] == 502
    assert len(reply["tokens"]) == 6


def test_a_text_under_two_names_is_refused():
    with pytest.raises(ValueError, match="are the same field"):
        TOKENIZE.parse_request({"text": "a", "text_a": "a"})
