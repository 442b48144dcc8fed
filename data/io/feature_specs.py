"""Defines the features of each task's TFRecords.

Features that Google's code also writes have the names and types that it uses.
"""

import math
from typing import NamedTuple, TypeAlias

from model_folders.output_modes import (
    CLASSIFICATION,
    MULTILABEL,
    REGRESSION,
    OutputMode,
)


class FeatureSpec(NamedTuple):
    """Shape and type of a record's feature, and the range of valid values."""

    shape: tuple[int, ...]
    dtype: str = "int64"
    at_least: float = -math.inf
    at_most: float = math.inf


RecordSpec: TypeAlias = dict[str, FeatureSpec]
# Largest valid absolute value of a regression label, about the largest float32.
# The comparison with this limit also rejects NaN and infinity.
_MAX_LABEL = 3.4e38


def with_id_bounds(
    spec: RecordSpec, vocab_size: int, type_vocab_size: int
) -> RecordSpec:
    """Returns a copy of `spec` that also limits the ids to the model's sizes.

    WordPiece ids must be below `vocab_size`, and segment ids must be below
    `type_vocab_size`.
    """
    sizes = {
        "input_ids": vocab_size,
        "masked_lm_ids": vocab_size,
        "segment_ids": type_vocab_size,
    }
    return spec | {
        name: spec[name]._replace(at_most=size - 1)
        for name, size in sizes.items()
        if name in spec
    }


def pretraining_spec(
    max_seq_length: int, max_predictions_per_seq: int
) -> RecordSpec:
    """Returns the spec of create_pretraining_data.py's records."""
    shape = (max_predictions_per_seq,)
    return unmasked_pretraining_spec(max_seq_length) | {
        "masked_lm_positions": FeatureSpec(
            shape, "int64", 0, max_seq_length - 1
        ),
        "masked_lm_ids": FeatureSpec(shape, at_least=0),
        "masked_lm_weights": _flag_spec(*shape, dtype="float32"),
    }


def unmasked_pretraining_spec(max_seq_length: int) -> RecordSpec:
    """Returns the spec of pretraining records without masks.

    create_pretraining_data.py writes these records with --dynamic_masking.
    """
    return _input_spec(max_seq_length) | {"next_sentence_labels": _flag_spec(1)}


def classifier_spec(
    max_seq_length: int,
    output_mode: OutputMode = CLASSIFICATION,
    num_labels: int | None = None,
    has_weights: bool = False,
) -> RecordSpec:
    """Returns the spec of run_classifier.py's records.

    `output_mode` is "classification", "multilabel" or "regression". Only
    "multilabel" needs `num_labels`. If `has_weights` is True, the spec also
    contains the feature `example_weights`.
    """
    weights = {"example_weights": _flag_spec(dtype="float32")}
    label_ids = {
        CLASSIFICATION: FeatureSpec((), at_least=0),
        MULTILABEL: _flag_spec(num_labels or 0),
        REGRESSION: FeatureSpec((), "float32", -_MAX_LABEL, _MAX_LABEL),
    }
    return {
        **_input_spec(max_seq_length),
        "label_ids": label_ids[output_mode],
        "is_real_example": _flag_spec(),
        **(weights if has_weights else {}),
    }


def swag_spec(max_seq_length: int, num_choices: int) -> RecordSpec:
    """Returns the spec of run_swag.py's records.

    A record contains one input sequence for each choice.
    """
    return _input_spec(num_choices, max_seq_length) | {
        "label_ids": FeatureSpec((), at_least=0, at_most=num_choices - 1),
        "is_real_example": _flag_spec(),
    }


def pair_spec(max_seq_length: int, has_scores: bool) -> RecordSpec:
    """Returns the spec of records of text pairs.

    If `has_scores` is True, a record also contains its pair's similarity score.
    """
    spec = _input_spec(2, max_seq_length) | {"is_real_example": _flag_spec()}
    if has_scores:
        spec["label_ids"] = FeatureSpec((), "float32", -_MAX_LABEL, _MAX_LABEL)
    return spec


def ner_spec(max_seq_length: int) -> RecordSpec:
    """Returns the spec of run_ner.py's records."""
    return {
        **_input_spec(max_seq_length),
        "label_ids": FeatureSpec((max_seq_length,), at_least=0),
        "label_weights": _flag_spec(max_seq_length, dtype="float32"),
    }


def squad_spec(max_seq_length: int, is_training: bool) -> RecordSpec:
    """Returns the spec of run_squad.py's records.

    If `is_training` is True, a record also contains the answer's positions.
    """
    spec = {"unique_ids": FeatureSpec(()), **_input_spec(max_seq_length)}
    if is_training:
        for name in ("start_positions", "end_positions"):
            spec[name] = FeatureSpec((), "int64", 0, max_seq_length - 1)
    return spec


def _input_spec(*shape: int) -> RecordSpec:
    ids = FeatureSpec(shape, at_least=0)
    return {
        "input_ids": ids,
        "input_mask": _flag_spec(*shape),
        "segment_ids": ids,
    }


def _flag_spec(*shape: int, dtype: str = "int64") -> FeatureSpec:
    return FeatureSpec(shape, dtype, 0, 1)
