"""Requests about masked words and next sentences, and their replies."""

from types import SimpleNamespace

import numpy as np
import pytest

from serving.text_tasks.pretrained import FILL_MASK, NEXT_SENTENCE
from serving.text_tasks.text_task import ReplyOptions
from tests.support.serving.exports import TOKENIZER

LOADED = SimpleNamespace(tokenizer=TOKENIZER, max_seq_length=6)


def fill_masks(text, best_tokens, top_k=1):
    """Returns the reply to a text for whose masks the network is sure.

    Args:
        text: the text.
        best_tokens: WordPieces to which the network assigns the probabilities
            0.5, 0.25 and so on at each position.
        top_k: number of WordPieces in the reply.
    """
    encoded = FILL_MASK.encode(LOADED, {"text": text})
    (network_input,) = encoded.inputs
    # The table of embeddings has more rows than the vocabulary.
    probabilities = np.zeros(
        (len(network_input.ids), len(TOKENIZER.tokens) + 8)
    )
    probabilities[:, -1] = 0.9
    for rank, token in enumerate(best_tokens, 1):
        probabilities[:, TOKENIZER.vocab[token]] = 0.5**rank
    outputs = [{"masked_lm_probabilities": probabilities}]
    return FILL_MASK.decode(
        LOADED, encoded.decoding_context, outputs, ReplyOptions(top_k=top_k)
    )


def test_the_most_probable_wordpieces_of_a_mask_are_first():
    reply = fill_masks("the [MASK]", ["boat", "sea", "light"], top_k=2)
    assert reply["masks"] == [
        [
            {"token": "boat", "probability": 0.5},
            {"token": "sea", "probability": 0.25},
        ]
    ]


def test_each_mask_has_its_own_list():
    reply = fill_masks("[MASK] the [MASK]", ["boat"])
    tokens = [[guess["token"] for guess in mask] for mask in reply["masks"]]
    assert tokens == [["boat"], ["boat"]]
    assert "num_masks_cut" not in reply


def test_a_mask_that_the_model_does_not_read_is_counted():
    reply = fill_masks("[MASK] the the the the [MASK]", ["boat"])
    assert len(reply["masks"]) == 1
    assert reply["num_masks_cut"] == 1


def test_a_text_without_a_mask_is_refused():
    with pytest.raises(ValueError, match=r"no \[MASK\] in 'text'"):
        FILL_MASK.encode(LOADED, {"text": "the boat"})


def test_the_probability_that_a_text_follows_is_the_first_output():
    request = {"text_a": "the boat", "text_b": "the sea"}
    encoded = NEXT_SENTENCE.encode(LOADED, request)
    outputs = [{"next_sentence_probabilities": np.array([0.75, 0.25])}]
    reply = NEXT_SENTENCE.decode(
        LOADED, encoded.decoding_context, outputs, ReplyOptions()
    )
    assert reply == {"probability": 0.75}
