"""Checks TFRecord files. Errors name the file, the record and the flag."""

import contextlib
import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
import tensorflow as tf
from absl import logging

from data.io import records, tfrecords
from data.io.feature_specs import Feature, Spec

# Number of records to check at the start of each file.
_NUM_CHECKED = 16

# {feature: flag that sets its length}, for error messages.
_LENGTH_FLAGS = {
    "input_ids": "max_seq_length",
    "input_mask": "max_seq_length",
    "segment_ids": "max_seq_length",
    "masked_lm_positions": "max_predictions_per_seq",
    "masked_lm_ids": "max_predictions_per_seq",
    "masked_lm_weights": "max_predictions_per_seq",
}
# TensorFlow's errors about a wrong record contain one of these texts: the
# message of `tfrecords.decode`, or the operation that parses records.
_WRONG_RECORD = (tfrecords.OUT_OF_RANGE, "ParseExample")
# {feature: key of bert_config.json that limits its values}.
_SIZES = {
    "input_ids": "vocab_size",
    "masked_lm_ids": "vocab_size",
    "segment_ids": "type_vocab_size",
}


def check_records(files: Sequence[str], spec: Spec) -> None:
    """Checks the first records of each file against a spec.

    `tfrecords.create_dataset` checks all records while they are read. This
    function finds a wrong file before the model is built.

    Raises:
        ValueError: a file is empty, truncated, corrupt or compressed, its
            features differ from `spec` in name or length, or a value is out of
            range.
    """
    for path in files:
        if path.endswith(".gz"):
            raise ValueError(f"{path}: unpack this file with gunzip first")
        if not _check_file(path, spec, _NUM_CHECKED):
            raise ValueError(f"{path}: the file contains no record")


def _check_file(path: str, spec: Spec, limit: int | None = None) -> int:
    """Checks the first `limit` records (None = all). Returns their number."""
    count = 0
    for record in itertools.islice(records.read_records(path), limit):
        _check_record(record, f"{path}, record {count}", spec)
        count += 1
    return count


def _check_record(record: bytes, where: str, spec: Spec) -> None:
    try:
        found = tf.train.Example.FromString(record).features.feature
    except Exception as error:
        raise ValueError(
            f"{where}: the record is not a tf.train.Example: {error}"
        ) from error
    for name, feature in spec.items():
        _check_feature(where, name, feature, found)
    if "input_mask" not in spec:
        return
    length = spec["input_mask"].shape[-1]
    mask = np.reshape(found["input_mask"].int64_list.value, (-1, length))
    # Google's code fills the last batch with padding examples, whose mask is 0
    # at each position. Allow these examples.
    is_padding = [0] == [*found["is_real_example"].int64_list.value]
    if not (mask.any(-1).all() or is_padding):
        raise ValueError(
            f"{where}: 'input_mask' is 0 at each position; a sequence needs "
            "at least one WordPiece"
        )


def _check_feature(
    where: str, name: str, feature: Feature, found: Mapping
) -> None:
    if name not in found:
        raise ValueError(
            f"{where}: the record has no feature '{name}', only "
            f"{', '.join(sorted(found))}. Use records written for this script"
        )
    kind = "float_list" if feature.dtype == "float32" else "int64_list"
    values = np.array(getattr(found[name], kind).value)
    # A record stores a scalar as one value.
    expected = math.prod(feature.shape)
    if len(values) != expected:
        flag = _LENGTH_FLAGS.get(name)
        remedy = (
            f"but --{flag}={expected}; set --{flag}={len(values)}, or create "
            "the records again"
            if flag and len(values)
            else f"where {expected} of type {feature.dtype} are needed"
        )
        raise ValueError(
            f"{where}: the record has {len(values)} values of '{name}', "
            f"{remedy}"
        )
    is_right = (values >= feature.at_least) & (values <= feature.at_most)
    if not is_right.all():
        size = _SIZES.get(name)
        remedy = (
            f"; the model's {size} is {feature.at_most + 1:g}. Create the "
            "records with the model's vocabulary, or pass the "
            "--bert_config_file that belongs to the records' vocabulary"
            if size and values.max() > feature.at_most
            else f", which must be from {feature.at_least:g} to "
            f"{feature.at_most:g}; create the records again"
        )
        raise ValueError(
            f"{where}: the record has the value {values[~is_right][0]} of "
            f"'{name}'{remedy}"
        )


@contextlib.contextmanager
def naming_wrong_records(read: Iterable[tfrecords.Records]) -> Iterator[None]:
    """Adds the file and the record's number to errors about wrong records.

    TensorFlow's errors name neither of them. `read` lists the Records that the
    code in the `with` block reads.

    Raises:
        ValueError: the block raised tf.errors.DataLossError or
            tf.errors.InvalidArgumentError for a record.
    """
    try:
        yield
    except (tf.errors.DataLossError, tf.errors.InvalidArgumentError) as error:
        is_corrupt = isinstance(error, tf.errors.DataLossError)
        # Search for the record only if the error is about a record, because
        # the search reads all files and is slow.
        if is_corrupt or any(text in error.message for text in _WRONG_RECORD):
            logging.info("Searching all files for the record that is wrong")
            for files, spec, _ in read:
                for path in files:
                    _check_file(path, spec)
        if is_corrupt:
            raise ValueError(str(error)) from error
        raise
