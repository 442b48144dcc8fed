"""Predicted answers, against those that Google's code recorded."""

import json

import pytest

from data.squad import answer_decoding, token_spans
from tests.support.squad.squad_cases import (
    CASES,
    decoding_options,
    load_case,
    load_tokenizer,
)


@pytest.fixture(scope="module", params=CASES)
def decoded(request):
    """(case, its texts, its n best answers and its null odds, as decoded)."""
    case = request.param
    examples, features, recorded = load_case(case, "predict_file", False)
    results = [
        token_spans.RawResult(*values)
        for values in zip(
            recorded["unique_ids"].tolist(),
            recorded["start_logits"],
            recorded["end_logits"],
            strict=True,
        )
    ]
    return case, *answer_decoding.decode_predictions(
        examples,
        features,
        results,
        decoding_options(case),
        load_tokenizer(case).basic_tokenizer,
    )


def read_recorded(case, name):
    """Returns what Google's code wrote for a case, {} = no such file."""
    if name not in case:
        return {}
    return json.loads((case["folder"] / case[name]).read_text())


def test_predictions_equal_those_of_googles_code(decoded):
    case, texts, _, _ = decoded
    expected = read_recorded(case, "predictions")
    assert texts
    assert [*texts.items()] == [*expected.items()]


def test_the_n_best_answers_equal_those_of_googles_code(decoded):
    case, _, nbest, _ = decoded
    expected = read_recorded(case, "nbest_predictions")
    assert nbest
    assert [*nbest] == [*expected]
    for qas_id, answers in expected.items():
        texts = [answer["text"] for answer in answers]
        assert [answer["text"] for answer in nbest[qas_id]] == texts
        # The scores of the n best answers, without their texts.
        scores = [{**answer, "text": 0} for answer in answers]
        for answer, score in zip(nbest[qas_id], scores, strict=True):
            assert {**answer, "text": 0} == pytest.approx(score, abs=1e-6)


def test_the_odds_of_no_answer_equal_those_of_googles_code(decoded):
    """Google's code records them only with version_2_with_negative."""
    case, _, _, null_odds = decoded
    expected = read_recorded(case, "null_odds")
    assert [*null_odds] == [*expected]
    assert null_odds == pytest.approx(expected, abs=1e-6)
