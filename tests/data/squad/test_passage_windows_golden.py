"""Windows and answers, against those that the original recorded."""

import json

import numpy as np
import pytest

from data.squad import answer_decoding
from tests.support.squad_cases import (
    CASES,
    decoding_options,
    load_case,
    load_tokenizer,
)


def assert_equal(features, recorded, names, prefix=""):
    for name, attribute in names.items():
        ours = [getattr(feature, attribute) for feature in features]
        expected = recorded[prefix + name]
        np.testing.assert_array_equal(
            np.array(ours).astype(expected.dtype), expected, err_msg=name
        )


COMMON = {name: name for name in ("input_ids", "input_mask", "segment_ids")} | {
    "unique_ids": "unique_id"
}


@pytest.mark.parametrize("case", CASES)
def test_training_features_equal_the_originals(case):
    _, features, recorded = load_case(case, "train_file", is_training=True)
    assert len(features) == case["train_features"]
    names = COMMON | {
        "start": "start_position",
        "end": "end_position",
        "is_impossible": "is_impossible",
    }
    assert_equal(features, recorded, names, "train_")


@pytest.mark.parametrize("case", CASES)
def test_prediction_features_equal_the_originals(case):
    _, features, recorded = load_case(case, "predict_file", is_training=False)
    assert len(features) == case["predict_features"]
    names = COMMON | {
        "example_index": "example_index",
        "doc_span_index": "doc_span_index",
    }
    assert_equal(features, recorded, names)
    for name, fill in [("token_to_orig_map", -1), ("token_is_max_context", 0)]:
        expected = recorded[name]
        ours = np.full_like(expected, fill)
        for row, feature in zip(ours, features, strict=True):
            for position, value in getattr(feature, name).items():
                row[position] = value
        np.testing.assert_array_equal(ours, expected, err_msg=name)


@pytest.mark.parametrize("case", CASES)
def test_predictions_equal_the_originals(case):
    examples, features, recorded = load_case(case, "predict_file", False)
    results = [
        answer_decoding.RawResult(*values)
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
            assert name == "null_odds" and not ours
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
