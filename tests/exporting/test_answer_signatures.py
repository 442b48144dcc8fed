"""The signatures of a span labeler: its answers, and where they are."""

import dataclasses

import numpy as np
import pytest
import tensorflow as tf

from exporting.answer_signatures import create_answer_signatures
from modeling import BertSpanLabeler
from tests.support.serving.exports import (
    DECODING,
    WINDOWS,
    create_model,
    create_options,
)

QUESTIONS = ["Where is the boat?", "Who came?"]
CONTEXTS = ["The boat is on the sea, in caf\u00e9 Holm. " * 3, "Anna came."]
OUTPUTS = {
    "answer",
    "probability",
    "start_byte",
    "end_byte",
    "null_odds",
}
SETTINGS = dataclasses.asdict(WINDOWS) | dataclasses.asdict(DECODING)


@pytest.fixture(scope="module")
def model():
    """A tiny span labeler."""
    return create_model(BertSpanLabeler)


@pytest.fixture(scope="module")
def ask_signature(model):
    """A function (signature, **settings) -> {name: array} for QUESTIONS."""

    def ask(name, questions=QUESTIONS, contexts=CONTEXTS, **settings):
        signatures = create_answer_signatures(
            model,
            SETTINGS | settings,
            create_options(max_seq_length=WINDOWS.max_seq_length),
        )
        signature = signatures.text_signatures[name]
        outputs = signature.function(
            tf.constant(questions), tf.constant(contexts)
        )
        return {name: value.numpy() for name, value in outputs.items()}

    return ask


@pytest.fixture(scope="module")
def n_best(ask_signature):
    """The outputs of `answer_n_best` for a model that always answers."""
    return ask_signature("answer_n_best", version_2_with_negative=False)


def test_answer_returns_only_the_best_answer(ask_signature):
    outputs = ask_signature("answer")
    assert outputs.keys() == OUTPUTS
    assert {value.shape for value in outputs.values()} == {(2,)}


def test_the_best_answer_is_the_first_of_the_n_best(n_best):
    assert n_best["answer"].tolist() == n_best["answers"][:, 0].tolist()
    assert n_best["start_byte"].tolist() == n_best["start_bytes"][:, 0].tolist()


def test_the_bytes_of_an_answer_are_its_place_in_the_context(n_best):
    places = zip(
        n_best["answer"],
        n_best["start_byte"],
        n_best["end_byte"],
        CONTEXTS,
        strict=True,
    )
    for answer, start, end, context in places:
        assert context.encode()[start:end] == answer


def test_the_n_best_answers_are_padded_after_the_last_one(n_best):
    for row, num_answers in enumerate(n_best["num_answers"]):
        assert not any(n_best["answers"][row, num_answers:])
        assert not n_best["probabilities"][row, num_answers:].any()
        assert np.all(n_best["end_bytes"][row, num_answers:] == -1)


def test_the_most_probable_answer_is_the_first(n_best):
    probabilities = n_best["probabilities"]
    assert np.all(np.diff(probabilities, axis=1) <= 0)


def test_no_answer_has_no_place_in_the_context(ask_signature):
    outputs = ask_signature(
        "answer",
        version_2_with_negative=True,
        null_score_diff_threshold=-1e6,
    )
    assert outputs["answer"].tolist() == [b"", b""]
    assert outputs["start_byte"].tolist() == [-1, -1]
    assert outputs["end_byte"].tolist() == [-1, -1]


def test_an_answer_does_not_depend_on_the_padding_that_is_trimmed(
    ask_signature,
):
    settings = {"trim_padding": True, "version_2_with_negative": False}
    together = ask_signature("answer", **settings)
    alone = ask_signature("answer", QUESTIONS[1:], CONTEXTS[1:], **settings)
    assert alone["answer"][0] == together["answer"][1]
    assert alone["probability"][0] == pytest.approx(
        together["probability"][1], abs=1e-5
    )


def test_an_export_records_how_it_reads_and_answers(model):
    signatures = create_answer_signatures(
        model, SETTINGS, create_options(max_seq_length=WINDOWS.max_seq_length)
    )
    assert signatures.head_settings["doc_stride"] == WINDOWS.doc_stride
    assert signatures.head_settings["n_best_size"] == DECODING.n_best_size


def test_windows_that_are_too_short_for_a_question_are_refused(model):
    with pytest.raises(ValueError, match="max_query_length"):
        create_answer_signatures(
            model, SETTINGS, create_options(max_seq_length=8)
        )
