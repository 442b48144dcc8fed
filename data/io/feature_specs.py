"""The features of each task's records: names, shapes and types.

The names and types are the original's: int64 for all but `masked_lm_weights`
and the labels of regression. Nothing here imports TensorFlow.
"""

from typing import NamedTuple


class Feature(NamedTuple):
    """One feature of a record."""

    shape: tuple[int, ...]
    dtype: str = "int64"


Spec = dict[str, Feature]


def _ints(*shape: int) -> Feature:
    return Feature(shape)


def _floats(*shape: int) -> Feature:
    return Feature(shape, "float32")


def _inputs(max_seq_length: int) -> Spec:
    return {
        name: _ints(max_seq_length)
        for name in ("input_ids", "input_mask", "segment_ids")
    }


def pretraining_features(
    max_seq_length: int, max_predictions_per_seq: int
) -> Spec:
    """Returns the spec of create_pretraining_data.py's records.

    Args:
        max_seq_length: WordPieces in an instance.
        max_predictions_per_seq: masked WordPieces in an instance.

    Returns:
        dict of name to Feature.
    """
    return {
        **_inputs(max_seq_length),
        "masked_lm_positions": _ints(max_predictions_per_seq),
        "masked_lm_ids": _ints(max_predictions_per_seq),
        "masked_lm_weights": _floats(max_predictions_per_seq),
        "next_sentence_labels": _ints(1),
    }


def unmasked_features(max_seq_length: int) -> Spec:
    """Returns the spec of records made with --dynamic_masking."""
    return {**_inputs(max_seq_length), "next_sentence_labels": _ints(1)}


def classifier_features(
    max_seq_length: int,
    output_mode: str = "classification",
    num_labels: int | None = None,
) -> Spec:
    """Returns the spec of run_classifier.py's records.

    Args:
        max_seq_length: WordPieces.
        output_mode: "classification", "multilabel" or "regression".
        num_labels: number of labels in multi-label classification.
    """
    label_ids = {
        "classification": _ints(),
        "multilabel": _ints(num_labels or 0),
        "regression": _floats(),
    }
    return {
        **_inputs(max_seq_length),
        "label_ids": label_ids[output_mode],
        "is_real_example": _ints(),
    }


def swag_features(max_seq_length: int, num_choices: int) -> Spec:
    """Returns the spec of run_swag.py's records: a sequence per choice."""
    names = ("input_ids", "input_mask", "segment_ids")
    return {
        **{name: _ints(num_choices, max_seq_length) for name in names},
        "label_ids": _ints(),
        "is_real_example": _ints(),
    }


def ner_features(max_seq_length: int) -> Spec:
    """Returns the spec of run_ner.py's records."""
    return {
        **_inputs(max_seq_length),
        "label_ids": _ints(max_seq_length),
        "label_weights": _floats(max_seq_length),
    }


def squad_features(max_seq_length: int, is_training: bool) -> Spec:
    """Returns the spec of run_squad.py's records; answers only in training."""
    spec = {"unique_ids": _ints(), **_inputs(max_seq_length)}
    if is_training:
        spec.update(start_positions=_ints(), end_positions=_ints())
    return spec
