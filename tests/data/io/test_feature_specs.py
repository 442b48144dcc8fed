"""The features of each task's records, and the ids that fit a model."""

import numpy as np
import pytest

from data.io import feature_specs
from data.io.feature_specs import FeatureSpec

INPUT_NAMES = {"input_ids", "input_mask", "segment_ids"}


@pytest.mark.parametrize(
    ("spec", "others"),
    [
        (
            feature_specs.pretraining_spec(8, 2),
            {
                "masked_lm_positions",
                "masked_lm_ids",
                "masked_lm_weights",
                "next_sentence_labels",
            },
        ),
        (feature_specs.unmasked_pretraining_spec(8), {"next_sentence_labels"}),
        (
            feature_specs.classifier_spec(8),
            {"label_ids", "is_real_example"},
        ),
        (
            feature_specs.classifier_spec(8, has_weights=True),
            {"label_ids", "is_real_example", "example_weights"},
        ),
        (
            feature_specs.pair_spec(8, has_scores=False),
            {"is_real_example"},
        ),
        (feature_specs.ner_spec(8), {"label_ids", "label_weights"}),
        (feature_specs.squad_spec(8, is_training=False), {"unique_ids"}),
        (
            feature_specs.squad_spec(8, is_training=True),
            {"unique_ids", "start_positions", "end_positions"},
        ),
    ],
    ids=[
        "pretraining",
        "unmasked",
        "classifier",
        "weighted",
        "pairs",
        "ner",
        "squad",
        "squad training",
    ],
)
def test_each_task_adds_its_features_to_the_inputs(spec, others):
    assert spec.keys() == INPUT_NAMES | others


@pytest.mark.parametrize(
    ("spec", "shape"),
    [
        (feature_specs.classifier_spec(8), (8,)),
        (feature_specs.pair_spec(8, has_scores=True), (2, 8)),
        (feature_specs.swag_spec(8, num_choices=4), (4, 8)),
    ],
    ids=["one text", "two texts", "four choices"],
)
def test_inputs_have_a_row_for_each_text(spec, shape):
    assert {spec[name].shape for name in INPUT_NAMES} == {shape}


@pytest.mark.parametrize(
    ("output_mode", "shape", "dtype"),
    [
        ("classification", (), "int64"),
        ("multilabel", (3,), "int64"),
        ("regression", (), "float32"),
    ],
)
def test_the_kind_of_the_label_is_that_of_the_output(output_mode, shape, dtype):
    spec = feature_specs.classifier_spec(8, output_mode, num_labels=3)
    assert (spec["label_ids"].shape, spec["label_ids"].dtype) == (shape, dtype)


def test_bounded_limits_the_ids_to_the_sizes_of_a_model():
    spec = feature_specs.with_id_bounds(
        feature_specs.pretraining_spec(8, 2),
        vocab_size=30,
        type_vocab_size=2,
    )
    limits = {name: feature.at_most for name, feature in spec.items()}
    assert limits == {
        "input_ids": 29,
        "input_mask": 1,
        "segment_ids": 1,
        "next_sentence_labels": 1,
        "masked_lm_positions": 7,
        "masked_lm_ids": 29,
        "masked_lm_weights": 1,
    }


def test_bounded_leaves_other_features_as_they_are():
    spec = {"unique_ids": FeatureSpec(())}
    assert feature_specs.with_id_bounds(spec, 30, 2) == spec


def test_numbers_of_a_regression_are_those_of_float32():
    label = feature_specs.classifier_spec(8, "regression")["label_ids"]
    largest = np.finfo(np.float32).max
    assert 0.99 * largest < label.at_most < largest
