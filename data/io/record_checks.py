"""Refuses TFRecord files that a run cannot read, by file and flag."""

import contextlib
import itertools
from collections.abc import Iterator, Mapping, Sequence

import tensorflow as tf

from data.io import records
from data.io.feature_specs import Feature, Spec

# Records at the front of each file that are looked into.
_NUM_CHECKED = 16

# The flag that says how long a feature is, for messages.
_LENGTH_FLAGS = {
    "input_ids": "max_seq_length",
    "input_mask": "max_seq_length",
    "segment_ids": "max_seq_length",
    "masked_lm_positions": "max_predictions_per_seq",
    "masked_lm_ids": "max_predictions_per_seq",
    "masked_lm_weights": "max_predictions_per_seq",
}


def check_records(
    files: Sequence[str], spec: Spec, vocab_size: int | None = None
) -> None:
    """Checks the first records of each file against a spec.

    Every id must be below `vocab_size`, if it is not None.

    Raises:
        ValueError: a file is empty, truncated or corrupt, its features are
            not of the names and lengths of `spec`, or an id is too large.
    """
    for path in files:
        first = list(itertools.islice(records.read_records(path), _NUM_CHECKED))
        if not first:
            raise ValueError(f"{path}: the file holds no record")
        for record in first:
            try:
                found = tf.train.Example.FromString(record).features.feature
            except Exception as error:
                raise ValueError(
                    f"{path}: a record is not a tf.train.Example: {error}"
                ) from error
            for name, feature in spec.items():
                _check_feature(path, name, feature, found)
            if vocab_size is not None:
                _check_ids(path, found, vocab_size)


def _check_ids(path: str, found: Mapping, vocab_size: int) -> None:
    for name in ("input_ids", "masked_lm_ids"):
        largest = max(found[name].int64_list.value, default=0)
        if largest >= vocab_size:
            raise ValueError(
                f"{path}: its records hold the WordPiece {largest} in '{name}',"
                f" but the model's vocab_size is {vocab_size}; make the "
                "records with the model's vocabulary, or give the "
                "--bert_config_file that belongs to theirs"
            )


def _check_feature(
    path: str, name: str, feature: Feature, found: Mapping
) -> None:
    if name not in found:
        raise ValueError(
            f"{path}: its records have no feature '{name}', only "
            f"{', '.join(sorted(found))}; give records made for this script"
        )
    kind = "float_list" if feature.dtype == "float32" else "int64_list"
    length = len(getattr(found[name], kind).value)
    # A scalar is one value.
    expected = feature.shape[0] if feature.shape else 1
    if length == expected:
        return
    flag = _LENGTH_FLAGS.get(name)
    remedy = (
        f"but --{flag}={expected}; give --{flag}={length}, or make the "
        "records again"
        if flag and length
        else f"where {expected} of type {feature.dtype} are needed"
    )
    raise ValueError(
        f"{path}: its records hold {length} values of '{name}', {remedy}"
    )


@contextlib.contextmanager
def naming_corrupt_files(files: Sequence[str]) -> Iterator[None]:
    """Adds the file's name to errors about corrupt records in the block.

    TensorFlow says where in the file the record is, but not in which file.

    Raises:
        ValueError: instead of tf.errors.DataLossError, naming the file.
    """
    try:
        yield
    except tf.errors.DataLossError as error:
        for path in files:
            for _ in records.read_records(path):
                pass
        raise ValueError(str(error)) from error
