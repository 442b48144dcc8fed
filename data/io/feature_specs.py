"""Defines the features of each task's TFRecords, and checks files of records.

Features that Google's code also writes have the names and types that it uses.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from data.io import records


class Feature(NamedTuple):
    """Shape and type of a record's feature, and the range of valid values."""

    shape: tuple[int, ...]
    dtype: str = "int64"
    at_least: float = -math.inf
    at_most: float = math.inf


Spec = dict[str, Feature]
# Largest valid absolute value of a regression label, about the largest float32.
# The comparison with this limit also rejects NaN and infinity.
_LARGEST = 3.4e38
# {feature: flag that sets its length}. --max_seq_length sets all others.
_LENGTH_FLAGS = {
    "masked_lm_positions": "max_predictions_per_seq",
    "masked_lm_ids": "max_predictions_per_seq",
    "masked_lm_weights": "max_predictions_per_seq",
}
# {feature: key of bert_config.json that limits its values}.
_SIZES = {
    "input_ids": "vocab_size",
    "masked_lm_ids": "vocab_size",
    "segment_ids": "type_vocab_size",
}
# Number of records to check at the start of each file.
_NUM_CHECKED = 16


def _inputs(*shape: int) -> Spec:
    ids = Feature(shape, at_least=0)
    return {"input_ids": ids, "input_mask": _flags(*shape), "segment_ids": ids}


def _flags(*shape: int, dtype: str = "int64") -> Feature:
    return Feature(shape, dtype, 0, 1)


def bounded(spec: Spec, vocab_size: int, type_vocab_size: int) -> Spec:
    """Returns a copy of `spec` that also limits the ids to the model's sizes.

    WordPiece ids must be below `vocab_size`, and segment ids must be below
    `type_vocab_size`.
    """
    sizes = {"vocab_size": vocab_size, "type_vocab_size": type_vocab_size}
    return spec | {
        name: spec[name]._replace(at_most=sizes[key] - 1)
        for name, key in _SIZES.items()
        if name in spec
    }


def pretraining_features(
    max_seq_length: int, max_predictions_per_seq: int
) -> Spec:
    """Returns the spec of create_pretraining_data.py's records."""
    shape = (max_predictions_per_seq,)
    return {
        **_inputs(max_seq_length),
        "masked_lm_positions": Feature(shape, "int64", 0, max_seq_length - 1),
        "masked_lm_ids": Feature(shape, at_least=0),
        "masked_lm_weights": _flags(*shape, dtype="float32"),
        "next_sentence_labels": _flags(1),
    }


def unmasked_features(max_seq_length: int) -> Spec:
    """Returns the spec of pretraining records without masks.

    create_pretraining_data.py writes these records with --dynamic_masking.
    """
    return _inputs(max_seq_length) | {"next_sentence_labels": _flags(1)}


def classifier_features(
    max_seq_length: int,
    output_mode: str = "classification",
    num_labels: int | None = None,
    has_weights: bool = False,
) -> Spec:
    """Returns the spec of run_classifier.py's records.

    `output_mode` is "classification", "multilabel" or "regression". Only
    "multilabel" needs `num_labels`. If `has_weights` is True, the spec also
    contains the feature `example_weights`.
    """
    weights = {"example_weights": _flags(dtype="float32")}
    label_ids = {
        "classification": Feature((), at_least=0),
        "multilabel": _flags(num_labels or 0),
        "regression": Feature((), "float32", -_LARGEST, _LARGEST),
    }
    return {
        **_inputs(max_seq_length),
        "label_ids": label_ids[output_mode],
        "is_real_example": _flags(),
        **(weights if has_weights else {}),
    }


def swag_features(max_seq_length: int, num_choices: int) -> Spec:
    """Returns the spec of run_swag.py's records.

    A record contains one input sequence for each choice.
    """
    return _inputs(num_choices, max_seq_length) | {
        "label_ids": Feature((), at_least=0, at_most=num_choices - 1),
        "is_real_example": _flags(),
    }


def pair_features(max_seq_length: int, has_scores: bool) -> Spec:
    """Returns the spec of records of text pairs.

    If `has_scores` is True, a record also contains its pair's similarity score.
    """
    spec = _inputs(2, max_seq_length) | {"is_real_example": _flags()}
    if has_scores:
        spec["label_ids"] = Feature((), "float32", -_LARGEST, _LARGEST)
    return spec


def ner_features(max_seq_length: int) -> Spec:
    """Returns the spec of run_ner.py's records."""
    return {
        **_inputs(max_seq_length),
        "label_ids": Feature((max_seq_length,), at_least=0),
        "label_weights": _flags(max_seq_length, dtype="float32"),
    }


def squad_features(max_seq_length: int, is_training: bool) -> Spec:
    """Returns the spec of run_squad.py's records.

    If `is_training` is True, a record also contains the answer's positions.
    """
    spec = {"unique_ids": Feature(()), **_inputs(max_seq_length)}
    if is_training:
        for name in ("start_positions", "end_positions"):
            spec[name] = Feature((), "int64", 0, max_seq_length - 1)
    return spec


def check_records(files: Sequence[str], spec: Spec) -> None:
    """Checks the first records of each file against a spec.

    This function finds a wrong file before the model is built. Later, training
    checks each record that it reads (`tfrecords.create_dataset`).

    Raises:
        ValueError: a file is empty, truncated, corrupt or compressed, its
            features differ from `spec` in name or length, or a value is out of
            range.
    """
    for path in files:
        if path.endswith(".gz"):
            raise ValueError(f"{path}: unpack this file with gunzip first")
        if not check_file(path, spec, _NUM_CHECKED):
            raise ValueError(
                f"{path}: the file contains no record. Create it again"
            )


def check_file(path: str, spec: Spec, limit: int | None = None) -> int:
    """Checks the first `limit` records (None = all). Returns their number."""
    # Import late, because TensorFlow loads slowly.
    from tensorflow.core.example import example_pb2

    count = 0
    for record in itertools.islice(records.read_records(path), limit):
        try:
            features = example_pb2.Example.FromString(record).features.feature
        except Exception as error:
            raise ValueError(
                f"{path}, record {count}: not a tf.train.Example: {error}"
            ) from error
        if problem := _find_problem(features, spec):
            raise ValueError(
                f"{path}, record {count}: {problem}. Create the records for "
                "this script and model"
            )
        count += 1
    return count


def _find_problem(features: Mapping, spec: Spec) -> str | None:
    for name, (shape, dtype, at_least, at_most) in spec.items():
        kind = "float_list" if dtype == "float32" else "int64_list"
        values = np.array(getattr(features[name], kind).value)
        # A record stores a scalar as one value.
        expected = math.prod(shape)
        if len(values) != expected:
            flag = _LENGTH_FLAGS.get(name, "max_seq_length")
            return (
                f"'{name}' has {len(values)} values of type {dtype} instead of "
                f"{expected} (--{flag})"
            )
        if not ((values >= at_least) & (values <= at_most)).all():
            size = f" (the model's {_SIZES[name]})" if name in _SIZES else ""
            return f"'{name}' is not from {at_least:g} to {at_most:g}{size}"
    if "input_mask" in spec:
        length = spec["input_mask"].shape[-1]
        mask = np.reshape(features["input_mask"].int64_list.value, (-1, length))
        # Allow the padding examples with which Google's code fills the last
        # batch. Their mask is 0 at each position.
        is_padding = [0] == [*features["is_real_example"].int64_list.value]
        if not (mask.any(-1).all() or is_padding):
            return "'input_mask' is 0 at each position"
    return None
