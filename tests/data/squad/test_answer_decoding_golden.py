"""Predicted answers, against those that the original recorded."""

import json

import pytest

from data.squad import answer_decoding, answer_spans
from tests.support.squad.squad_cases import (
    CASES,
    decoding_options,
    load_case,
    load_tokenizer,
)


@pytest.mark.parametrize("case", CASES)
def test_predictions_equal_the_originals(case):
    examples, features, recorded = load_case(case, "predict_file", False)
    results = [
        answer_spans.RawResult(*values)
        for values in zip(
            recorded["unique_ids"].tolist(),
            recorded["start_logits"],
            recorded["end_logits"],
            strict=True,
        )
    ]
    decoded = answer_decoding.decode_predictions(
        examples,
        features,
        results,
        decoding_options(case),
        load_tokenizer(case).basic_tokenizer,
    )
    names = ("predictions", "nbest_predictions", "null_odds")
    for name, ours in zip(names, decoded, strict=True):
        if name not in case:
            assert name == "null_odds"
            assert not ours
            continue
        expected = json.loads((case["folder"] / case[name]).read_text())
        assert list(ours) == list(expected)
        if name == "predictions":
            assert ours == expected
        elif name == "null_odds":
            assert ours == pytest.approx(expected, abs=1e-6)
        else:
            assert_nbest_equal(ours, expected)


def assert_nbest_equal(ours, expected):
    for qas_id, answers in expected.items():
        texts = [answer.pop("text") for answer in answers]
        assert [answer.pop("text") for answer in ours[qas_id]] == texts, qas_id
        for answer, expected_answer in zip(ours[qas_id], answers, strict=True):
            assert answer == pytest.approx(expected_answer, abs=1e-6), qas_id
