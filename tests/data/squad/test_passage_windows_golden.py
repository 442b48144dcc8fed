"""Windows of passages, against those that Google's code recorded."""

import numpy as np
import pytest

from tests.support.squad.squad_cases import (
    CASES,
    load_case,
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
def test_training_features_equal_those_of_googles_code(case):
    _, features, recorded = load_case(case, "train_file", is_training=True)
    assert len(features) == case["train_features"]
    names = COMMON | {
        "start": "start_position",
        "end": "end_position",
        "is_impossible": "is_impossible",
    }
    assert_equal(features, recorded, names, "train_")


@pytest.mark.parametrize("case", CASES)
def test_prediction_features_equal_those_of_googles_code(case):
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
