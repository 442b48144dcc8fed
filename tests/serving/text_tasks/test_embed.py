"""The vectors of a text, worked out by hand.

tests/serving/text_tasks/test_text_task_twins.py compares them with the graph's.
"""

from types import SimpleNamespace

import numpy as np
import pytest

from serving.engines import NetworkInput
from serving.text_tasks.embed import EMBED
from serving.text_tasks.text_task import ReplyOptions
from tests.support.serving.exports import TOKENIZER

TOKENS = ["[CLS]", "boat", "[SEP]"]
# The last two rows are padding.
SEQUENCE = [[9.0, 0.0], [0.0, 6.0], [0.0, 6.0], [50.0, 50.0], [50.0, 50.0]]
MODEL = SimpleNamespace(tokenizer=TOKENIZER)


def decode(sequence=SEQUENCE, **flags):
    """Returns the reply to a text of three WordPieces."""
    outputs = {
        "sequence_output": np.array(sequence, np.float32),
        "pooled_output": np.array([0.5, -0.5], np.float32),
    }
    network_input = NetworkInput(TOKENIZER.convert_tokens_to_ids(TOKENS), 3)
    return EMBED.decode(MODEL, network_input, [outputs], ReplyOptions(**flags))


def test_the_mean_leaves_out_the_padding():
    assert decode()["mean"] == [3.0, 4.0]


def test_a_normalized_mean_has_length_one():
    assert decode()["mean_normalized"] == pytest.approx([0.6, 0.8])


def test_a_mean_of_zeros_stays_zero():
    zeros = np.zeros_like(SEQUENCE)
    assert decode(zeros)["mean_normalized"] == [0.0, 0.0]


def test_the_pooled_vector_is_that_of_the_network():
    assert decode()["pooled"] == [0.5, -0.5]


def test_a_reply_has_vectors_of_wordpieces_only_on_request():
    assert [*decode()] == ["pooled", "mean", "mean_normalized"]
    reply = decode(tokens=True)
    assert reply["tokens"] == TOKENS
    assert reply["sequence"] == SEQUENCE[:3]
