"""The windows of a passage, and the answer by given outputs.

test_answer_windows.py compares passages of many windows with the model.
"""

import numpy as np
import pytest

from data.squad.squad_options import DecodingOptions, WindowOptions
from serving.text_tasks.answer import (
    ANSWER,
    SpanLabelerHead,
    parse_span_labeler_head,
)
from serving.text_tasks.loaded_export import LoadedExport
from serving.text_tasks.text_task import ReplyOptions
from tests.support.serving.exports import TOKENIZER
from tests.support.serving.stub_engines import NumpyEngine

PASSAGE = "Été: the boat is in the river"
# [CLS], the question, [SEP], 4 tokens of the passage and [SEP].
WINDOWS = WindowOptions(max_seq_length=8, doc_stride=3, max_query_length=1)


def create_model(windows, **decoding):
    """Returns a model that answers, without a network."""
    return LoadedExport(
        engine=NumpyEngine(),
        tokenizer=TOKENIZER,
        max_seq_length=windows.max_seq_length,
        head=SpanLabelerHead(
            windows=windows, decoding=DecodingOptions(**decoding)
        ),
    )


def answer(start_word, end_word, *, null_logit=-9.0, **options):
    """Returns the reply if the network prefers the words from start to end."""
    windows = WindowOptions(max_seq_length=32, doc_stride=8, max_query_length=8)
    model = create_model(windows, version_2_with_negative=True)
    request = {"question": "where", "context": PASSAGE}
    encoded = ANSWER.encode(model, request)
    (window,) = encoded.decoding_context.windows
    outputs = {}
    for name, word in (("start_logits", start_word), ("end_logits", end_word)):
        logits = np.full(len(window.tokens), -5.0, np.float32)
        logits[0] = null_logit
        logits[window.tokens.index(word)] = 5.0
        outputs[name] = logits
    return ANSWER.decode(
        model, encoded.decoding_context, [outputs], ReplyOptions(**options)
    )


def test_windows_contain_all_of_a_passage():
    request = {"question": "where", "context": "the boat is in the river"}
    encoded = ANSWER.encode(create_model(WINDOWS), request)
    windows = encoded.decoding_context.windows
    assert len(encoded.inputs) == len(windows) > 1
    words = {
        word_index
        for window in windows
        for word_index in window.token_to_orig_map.values()
    }
    assert words == {*range(6)}
    for network_input in encoded.inputs:
        # [CLS], the question and [SEP].
        assert network_input.first_length == 3


def test_the_answer_is_the_best_span_of_the_passage():
    reply = answer("boat", "river")
    assert reply["answer"] == "boat is in the river"
    assert PASSAGE[reply["start"] : reply["end"]] == reply["answer"]
    assert reply["probability"] > 0.9


def test_an_answer_has_its_place_in_bytes_too():
    reply = answer("boat", "boat")
    place = slice(reply["start_byte"], reply["end_byte"])
    assert PASSAGE.encode()[place] == b"boat"
    assert reply["start_byte"] == reply["start"] + 2


def test_a_high_null_logit_gives_no_answer():
    reply = answer("boat", "boat", null_logit=20.0)
    assert reply["answer"] == ""
    assert reply["start_byte"] == reply["end_byte"] == -1
    assert reply["null_odds"] > 0


@pytest.mark.parametrize("n_best", [2, 3])
def test_n_best_sets_the_number_of_answers(n_best):
    reply = answer("boat", "river", n_best=n_best)
    assert len(reply["n_best"]) == n_best
    assert reply["n_best"][0]["answer"] == reply["answer"]


def test_a_head_has_the_windows_and_the_decoding_of_its_settings():
    settings = {"max_seq_length": 32, "max_query_length": 8, "n_best_size": 7}
    head = parse_span_labeler_head({"labels": None, **settings})
    assert head.windows.max_seq_length == 32
    assert head.windows.max_query_length == 8
    assert head.decoding.n_best_size == 7
