"""Answers in passages of many windows, against the Python path."""

import dataclasses

import numpy as np
import pytest
import tensorflow as tf

import exporting
import modeling
import serving
from data.squad import answer_decoding, token_spans
from data.squad.passage_windows import create_squad_features
from data.squad.squad_examples import WORD, SquadExample
from data.squad.squad_options import DecodingOptions
from exporting import export_formats
from tests.support.serving.exports import (
    CASED_TOKENIZER,
    DECODING,
    QUESTIONS,
    WINDOWS,
    create_model,
    create_options,
)
from tests.support.squad.squad_passages import check_bytes

pytestmark = pytest.mark.slow


def compute_outputs(model, features):
    """Returns a model's outputs for a list of features."""
    return model(
        {
            name: tf.constant(
                [getattr(feature, name) for feature in features], tf.int32
            )
            for name in export_formats.ONNX_NAME_OF_INPUT
        }
    )


@pytest.fixture(scope="module")
def searched_answers(exports):
    """(answers, their n-best lists, null odds) of the search in Python."""
    served = exports["squad"]
    inputs = served.requests[0][1]
    pairs = zip(inputs["question"], inputs["context"], strict=True)
    examples = [
        SquadExample(
            str(number),
            question,
            WORD.findall(context),
            context=context,
        )
        for number, (question, context) in enumerate(pairs)
    ]
    features = list(
        create_squad_features(
            examples, served.tokenizer, WINDOWS, is_training=False
        )
    )
    logits = compute_outputs(served.model, features)
    ids = [feature.unique_id for feature in features]
    sides = (logits[name].numpy() for name in ("start_logits", "end_logits"))
    results = [*map(token_spans.RawResult, ids, *sides)]
    return answer_decoding.decode_predictions(
        examples, features, results, DECODING, served.tokenizer.basic_tokenizer
    )


def test_answers_are_those_of_the_search_in_python(exports, searched_answers):
    answers, _, odds = searched_answers
    outputs = exports["squad"].outputs[0]
    assert outputs["answer"].tolist() == list(answers.values())
    assert len({*answers.values()}) > 2
    assert "" in answers.values()
    assert outputs["null_odds"] == pytest.approx(list(odds.values()), abs=1e-4)


def test_probabilities_are_those_of_the_search_in_python(
    exports, searched_answers
):
    answers, nbest, _ = searched_answers
    expected = [
        entry["probability"]
        for key, entries in nbest.items()
        for entry in entries
        if entry["text"] == answers[key]
    ]
    result = exports["squad"].outputs[0]["probability"]
    assert result == pytest.approx(expected, abs=1e-5)


def test_the_byte_offsets_of_an_answer_point_to_it_in_the_passage(exports):
    served = exports["squad"]
    outputs = {
        name: values.tolist() for name, values in served.outputs[0].items()
    }
    for row, context in enumerate(served.requests[0][1]["context"]):
        answer = {name: values[row] for name, values in outputs.items()}
        check_bytes(context, answer)


@pytest.fixture(scope="module")
def trimmed(tmp_path_factory):
    """{trim_padding: folder of an export}."""
    folder = tmp_path_factory.mktemp("trimmed")
    model = create_model(modeling.BertSpanLabeler)
    for trims in (False, True):
        decoding = dataclasses.replace(DECODING, trim_padding=trims)
        exporting.export(
            folder / str(trims),
            model,
            dataclasses.asdict(WINDOWS) | dataclasses.asdict(decoding),
            create_options(
                "saved_model,litert" if trims else "litert",
                tokenizer=CASED_TOKENIZER,
                max_seq_length=WINDOWS.max_seq_length,
            ),
        )
    return {trims: folder / str(trims) for trims in (False, True)}


def record_calls(bert):
    """Returns a list that gets (features, outputs) of each call of a network.

    `bert` must not be used by another test.
    """
    run = bert.engine.run
    calls = []

    def record(features):
        outputs = run(features)
        calls.append((features, outputs))
        return outputs

    bert.engine.run = record
    return calls


@pytest.mark.parametrize("engine", ["litert", "saved_model"])
def test_padding_does_not_change_the_answers(engine, trimmed):
    bert = serving.load(trimmed[True], engine=engine)
    calls = record_calls(bert)
    together = bert.answer(*QUESTIONS.values(), n_best=5)
    # In this model some padding scores higher than the last candidate, so the
    # test would see it.
    assert any(
        values[mask == 0].max(initial=-np.inf)
        > np.sort(values[mask == 1])[-DECODING.n_best_size :].min()
        for features, outputs in calls
        for mask, values in zip(
            features["input_mask"], outputs["start_logits"], strict=True
        )
    )
    for number, expected in enumerate(together):
        question, context = (texts[number] for texts in QUESTIONS.values())
        alone = bert.answer(question, context, n_best=5)
        assert [entry["answer"] for entry in alone["n_best"]] == [
            entry["answer"] for entry in expected["n_best"]
        ]
        assert alone["probability"] == pytest.approx(
            expected["probability"], abs=1e-5
        )


@pytest.mark.parametrize("engine", ["litert", "saved_model"])
def test_answer_computes_no_padding_to_the_maximum_length(engine, trimmed):
    bert = serving.load(trimmed[True], engine=engine)
    calls = record_calls(bert)
    for question, context in zip(*QUESTIONS.values(), strict=True):
        bert.answer(question, context)
    lengths = [features["input_ids"].shape[1] for features, _ in calls]
    assert min(lengths) < WINDOWS.max_seq_length


def test_the_default_pads_as_google_does(trimmed):
    assert not DecodingOptions().trim_padding
    bert = serving.load(trimmed[False], engine="litert")
    calls = record_calls(bert)
    bert.answer(*QUESTIONS.values())
    lengths = {features["input_ids"].shape[1] for features, _ in calls}
    assert lengths == {WINDOWS.max_seq_length}
