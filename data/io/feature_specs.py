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


def _inputs(*shape: int) -> Spec:
    names = ("input_ids", "input_mask", "segment_ids")
    return dict.fromkeys(names, Feature(shape))


def pretraining_features(
    max_seq_length: int, max_predictions_per_seq: int
) -> Spec:
    """Returns the spec of create_pretraining_data.py's records."""
    predictions = Feature((max_predictions_per_seq,))
    return {
        **_inputs(max_seq_length),
        "masked_lm_positions": predictions,
        "masked_lm_ids": predictions,
        "masked_lm_weights": predictions._replace(dtype="float32"),
        "next_sentence_labels": Feature((1,)),
    }


def unmasked_features(max_seq_length: int) -> Spec:
    """Returns the spec of records made with --dynamic_masking."""
    return _inputs(max_seq_length) | {"next_sentence_labels": Feature((1,))}


def classifier_features(
    max_seq_length: int,
    output_mode: str = "classification",
    num_labels: int | None = None,
) -> Spec:
    """Returns the spec of run_classifier.py's records.

    `output_mode` is "classification", "multilabel", which alone needs
    `num_labels`, or "regression".
    """
    label_ids = {
        "classification": Feature(()),
        "multilabel": Feature((num_labels or 0,)),
        "regression": Feature((), "float32"),
    }
    return {
        **_inputs(max_seq_length),
        "label_ids": label_ids[output_mode],
        "is_real_example": Feature(()),
    }


def swag_features(max_seq_length: int, num_choices: int) -> Spec:
    """Returns the spec of run_swag.py's records: a sequence per choice."""
    labels = dict.fromkeys(("label_ids", "is_real_example"), Feature(()))
    return _inputs(num_choices, max_seq_length) | labels


def ner_features(max_seq_length: int) -> Spec:
    """Returns the spec of run_ner.py's records."""
    return {
        **_inputs(max_seq_length),
        "label_ids": Feature((max_seq_length,)),
        "label_weights": Feature((max_seq_length,), "float32"),
    }


def squad_features(max_seq_length: int, is_training: bool) -> Spec:
    """Returns the spec of run_squad.py's records; answers only in training."""
    spec = {"unique_ids": Feature(()), **_inputs(max_seq_length)}
    if is_training:
        spec |= dict.fromkeys(("start_positions", "end_positions"), Feature(()))
    return spec
