"""Finds the records of pretraining, and plans what to do with them.

The records must fit the flags, and be those of the run that a command resumes.
"""

import dataclasses
import functools
import json
import zlib
from collections.abc import Sequence
from typing import Literal, NamedTuple

from absl import logging

import modeling
from data.io import feature_specs, record_checks, record_datasets
from data.io.text_files import expand_patterns
from data.io.tfrecord_files import count_records
from data.pretraining import record_inspection
from data.pretraining.dynamic_masking import DynamicMasking
from data.pretraining.pretraining_options import MaskingOptions
from model_folders.model_json_types import Fingerprint, TrainingSettings
from training.config.pretraining_config import PretrainingConfig
from training.config.training_config import NumSteps
from training.flows.trainer_creation import RunPlan
from training.preparation import resuming
from training.preparation.starting_point import StartingPoint
from training.run_files import fingerprints

# Settings that are the flags of records.
_RECORD_FLAGS: tuple[Literal["input_file", "eval_input_file"], ...] = (
    "input_file",
    "eval_input_file",
)


class PretrainingRecords(NamedTuple):
    """The records of a pretraining.

    Attributes:
        train: the records to train on, of --input_file.
        eval: the records to evaluate on, of --eval_input_file. Without this
            flag, the records of --input_file.
    """

    train: record_datasets.Records
    eval: record_datasets.Records


@dataclasses.dataclass(frozen=True)
class PretrainingPlan:
    """The records that a command has found, and what it will do with them.

    Attributes:
        records: the records to train on, and those to evaluate on.
        run_plan: how to create the Trainer, and what to record.
    """

    records: PretrainingRecords
    run_plan: RunPlan


def prepare_pretraining(
    start: StartingPoint[PretrainingConfig],
) -> PretrainingPlan:
    """Finds and checks the records of a command, and plans what follows.

    Raises:
        ValueError: a record is damaged, or does not fit the flags or the
            configuration. Or the run in --output_dir began with other records
            or settings.
        OSError: a file is missing.
    """
    records = find_all_records(start)
    dev_set = fingerprint_dev_set(start.config, records)
    return PretrainingPlan(
        records=records,
        run_plan=create_pretraining_run_plan(start, records.train, dev_set),
    )


def find_all_records(
    start: StartingPoint[PretrainingConfig],
) -> PretrainingRecords:
    """Finds and checks the records to train on, and those to evaluate on.

    Raises:
        ValueError: a record does not fit the flags or the configuration.
        OSError: a file is missing.
    """
    eval_pattern = start.config.pretraining.eval_input_file
    train = _find_records(
        start, "input_file", start.config.pretraining.input_file
    )
    if not eval_pattern:
        return PretrainingRecords(train, train)
    return PretrainingRecords(
        train, _find_records(start, "eval_input_file", eval_pattern)
    )


def _find_records(
    start: StartingPoint[PretrainingConfig], name: str, pattern: str
) -> record_datasets.Records:
    """Finds and checks the records of a flag, by its name and its value."""
    config = start.config
    files = expand_patterns(pattern, name)
    logging.info("--%s: %d files, the first is %s", name, len(files), files[0])
    if record_datasets.are_masked(files):
        if name == "input_file":
            _check_masking_flags(start, files[0])
        dynamic_masking = None
        spec = feature_specs.pretraining_features(
            config.pretraining.max_seq_length,
            config.pretraining.max_predictions_per_seq,
        )
    else:
        dynamic_masking = _create_masking(start, files[0])
        spec = feature_specs.unmasked_features(
            config.pretraining.max_seq_length
        )
    spec = feature_specs.with_id_bounds(
        spec, start.bert_config.vocab_size, start.bert_config.type_vocab_size
    )
    record_checks.check_records(files, spec)
    if not config.training.do_train:
        _check_record_lengths(config, files)
    return record_datasets.Records(files, spec, dynamic_masking)


def _check_record_lengths(
    config: PretrainingConfig, files: Sequence[str]
) -> None:
    """Checks that no record to evaluate is shorter than its header says.

    TensorFlow crashes at such a record. In training,
    `record_inspection.fingerprint_records` checks all records.

    Raises:
        ValueError: a file is truncated, or is not a TFRecord file.
    """
    num_examples = (
        config.pretraining.max_eval_steps * config.pretraining.eval_batch_size
    )
    # Counting reads the header of each record. The number is not needed.
    count_records(files, num_examples)


def _check_masking_flags(
    start: StartingPoint[PretrainingConfig], file: str
) -> None:
    """Raises a ValueError if flags of masking are set for masked records."""
    masking = {field.name for field in dataclasses.fields(MaskingOptions)}
    masking &= start.set_by_user
    if masking:
        raise ValueError(
            f"--{min(masking)} is only for records that training masks, but "
            f"the records in {file} contain masks. Remove the flag"
        )


def _create_masking(
    start: StartingPoint[PretrainingConfig], file: str
) -> DynamicMasking:
    if not start.tokenizer:
        raise ValueError(
            f"The records in {file} are not masked yet, so training masks them "
            "and needs the vocabulary. Set --vocab_file to the vocabulary that "
            "the file was created with"
        )
    config = start.config
    config.masking.check_fractions()
    return DynamicMasking(
        start.tokenizer,
        config.pretraining.max_predictions_per_seq,
        config.masking,
        config.training.seed,
    )


def fingerprint_dev_set(
    config: PretrainingConfig, records: PretrainingRecords
) -> list[Fingerprint]:
    """Reads and identifies the records of --eval_input_file, [] without it."""
    if not config.pretraining.eval_input_file:
        return []
    return record_inspection.fingerprint_records(records.eval.files)


def create_pretraining_run_plan(
    start: StartingPoint[PretrainingConfig],
    records: record_datasets.Records,
    dev_set: list[Fingerprint],
) -> RunPlan:
    """Checks what a resumed run goes on with, and plans the run.

    Args:
        start: the flags, the network and the tokenizer to record.
        records: the records to train on, whose files are fingerprinted.
        dev_set: result of `fingerprint_dev_set`.

    Raises:
        ValueError: a record is damaged. Or the run in --output_dir began with
            other records or settings.
        OSError: a file cannot be read.
    """
    config = start.config
    num_steps = None
    # Without training, those of the weights' training.
    training_settings = start.training_settings
    if config.training.do_train:
        settings = collect_pretraining_settings(start, records, dev_set)
        _check_resumed_pretraining(start, settings)
        num_steps = NumSteps(
            training=config.pretraining.num_train_steps,
            warmup=config.pretraining.num_warmup_steps,
        )
        training_settings = resuming.create_training_settings(
            config, start.preset, settings
        )
    return RunPlan(
        create_model=functools.partial(
            modeling.BertPretrainer, left_to_right=config.training.left_to_right
        ),
        loss=modeling.PretrainingLoss(config.pretraining.next_sentence),
        num_steps=num_steps,
        training_settings=training_settings,
        dev_set_checksum=compute_dev_set_checksum(config, dev_set),
    )


def collect_pretraining_settings(
    start: StartingPoint[PretrainingConfig],
    records: record_datasets.Records,
    dev_set: list[Fingerprint],
) -> TrainingSettings:
    """Collects the settings of the training besides the flags, for model.json.

    Reads the records to train on, for their checksums.

    Args:
        start: StartingPoint of the command.
        records: the records to train on.
        dev_set: result of `fingerprint_dev_set`.

    Raises:
        ValueError: a record is damaged.
        OSError: a file cannot be read.
    """
    settings = fingerprints.fingerprint_start(start)
    settings["input_file"] = record_inspection.fingerprint_records(
        records.files
    )
    if start.config.keeps_best:
        settings["eval_input_file"] = dev_set
    return settings


def _check_resumed_pretraining(
    start: StartingPoint[PretrainingConfig], settings: TrainingSettings
) -> None:
    """Checks that a resumed run goes on with what it began with.

    Args:
        start: StartingPoint of the command.
        settings: result of `collect_pretraining_settings`.

    Raises:
        ValueError: the run in --output_dir began with other records or
            settings.
    """
    _check_same_records(start, settings)
    resuming.check_resumed(start.config, start.preset, settings)


def _check_same_records(
    start: StartingPoint[PretrainingConfig], settings: TrainingSettings
) -> None:
    """Checks that a run is resumed on the records that it began with.

    `settings` is the result of `collect_pretraining_settings`.

    Raises:
        ValueError: the records differ. The message names the flag and a file.
    """
    if not start.is_own_run:
        return
    folder = start.config.training.output_dir
    for name in _RECORD_FLAGS:
        recorded = start.training_settings.get(name)
        records = settings.get(name)
        if records is None or not isinstance(recorded, list):
            continue
        if records == recorded:
            continue
        files = [str(entry[0]) for entry in records if entry not in recorded]
        raise ValueError(
            f"--{name}: the run in {folder} began with other records than "
            f"{', '.join(files) or 'these files'}. Set another --output_dir. "
            "To start from this run's weights, also set "
            f"--init_checkpoint={folder}"
        )


def compute_dev_set_checksum(
    config: PretrainingConfig, dev_set: Sequence[Fingerprint]
) -> int:
    """Returns a checksum of the records that evaluations read.

    Records of --input_file count only by the number of examples, because they
    may be too large to read them for a checksum.

    Args:
        config: tells how many batches are read, and of what size.
        dev_set: result of `fingerprint_dev_set`.
    """
    scored = [
        config.pretraining.max_eval_steps * config.pretraining.eval_batch_size,
        *dev_set,
    ]
    return zlib.crc32(json.dumps(scored).encode())
