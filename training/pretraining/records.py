"""Finds the records of pretraining, and checks that they fit the flags."""

import dataclasses
from typing import NamedTuple

from absl import logging

from data.io import feature_specs, record_checks, record_datasets
from data.io.text_files import expand_patterns
from data.io.tfrecords import check_record_lengths
from data.pretraining import record_inspection
from data.pretraining.dynamic_masking import DynamicMasking
from data.pretraining.pretraining_options import MaskingOptions
from model_folders.fingerprints import RecordFileFingerprint
from training.config.pretraining_config import PretrainingConfig
from training.starting_point import StartingPoint


class PretrainingRecords(NamedTuple):
    """The records of a pretraining.

    Attributes:
        train: the records to train on, of --input_file.
        dev: the records to evaluate on, of --eval_input_file. Without this
            flag, the records of --input_file.
    """

    train: record_datasets.Records
    dev: record_datasets.Records


def open_records(
    starting_point: StartingPoint[PretrainingConfig],
) -> PretrainingRecords:
    """Opens the records to train on and to evaluate on, and checks them.

    Raises:
        ValueError: a record does not fit the flags or the configuration.
        OSError: a file is missing.
    """
    eval_pattern = starting_point.config.pretraining.eval_input_file
    train = _open_records_of_flag(
        starting_point,
        "input_file",
        starting_point.config.pretraining.input_file,
    )
    if train.dynamic_masking is None:
        _check_masking_flags(starting_point, train.files[0])
    if not eval_pattern:
        return PretrainingRecords(train, train)
    return PretrainingRecords(
        train,
        _open_records_of_flag(starting_point, "eval_input_file", eval_pattern),
    )


def _open_records_of_flag(
    starting_point: StartingPoint[PretrainingConfig], name: str, pattern: str
) -> record_datasets.Records:
    """Opens and checks the records of a flag, by its name and its value."""
    config = starting_point.config
    files = expand_patterns(pattern, name)
    logging.info("--%s: %d files, the first is %s", name, len(files), files[0])
    if record_inspection.are_masked(files):
        dynamic_masking = None
        spec = feature_specs.pretraining_spec(
            config.pretraining.max_seq_length,
            config.pretraining.max_predictions_per_seq,
        )
    else:
        dynamic_masking = _create_masking(starting_point, files[0])
        spec = feature_specs.unmasked_pretraining_spec(
            config.pretraining.max_seq_length
        )
    spec = feature_specs.with_id_bounds(
        spec,
        starting_point.bert_config.vocab_size,
        starting_point.bert_config.type_vocab_size,
    )
    record_checks.check_records(files, spec)
    if not config.training.do_train:
        # TensorFlow crashes at a record that is shorter than its header says.
        # In training, `record_inspection.fingerprint_records` checks all.
        check_record_lengths(
            files,
            config.pretraining.max_eval_steps
            * config.pretraining.eval_batch_size,
        )
    return record_datasets.Records(files, spec, dynamic_masking)


def _check_masking_flags(
    starting_point: StartingPoint[PretrainingConfig], file: str
) -> None:
    """Raises a ValueError if flags of masking are set for masked records."""
    masking = {field.name for field in dataclasses.fields(MaskingOptions)}
    masking &= starting_point.set_by_user
    if masking:
        raise ValueError(
            f"--{min(masking)} is only for records that training masks, but "
            f"the records in {file} contain masks. Remove the flag"
        )


def _create_masking(
    starting_point: StartingPoint[PretrainingConfig], file: str
) -> DynamicMasking:
    if not starting_point.tokenizer:
        raise ValueError(
            f"The records in {file} are not masked yet, so training masks them "
            "and needs the vocabulary. Set --vocab_file to the vocabulary that "
            "the file was created with"
        )
    config = starting_point.config
    return DynamicMasking(
        starting_point.tokenizer,
        config.pretraining.max_predictions_per_seq,
        config.masking,
        config.training.seed,
    )


def fingerprint_dev_set(
    config: PretrainingConfig, records: PretrainingRecords
) -> list[RecordFileFingerprint]:
    """Reads and identifies the records of --eval_input_file, [] without it."""
    if not config.pretraining.eval_input_file:
        return []
    return record_inspection.fingerprint_records(records.dev.files)
