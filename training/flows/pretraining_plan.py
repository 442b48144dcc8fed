"""Plans a command of pretraining: its steps, its settings, its records."""

import functools
import json
import zlib
from collections.abc import Sequence
from typing import Literal

import modeling
from data.io import record_datasets
from data.pretraining import record_inspection
from model_folders.model_json_types import Fingerprint, TrainingSettings
from training.config.pretraining_config import PretrainingConfig
from training.config.training_config import NumSteps
from training.flows.pretraining_records import PretrainingRecords
from training.flows.run_plan import RunPlan
from training.preparation import resuming
from training.preparation.starting_point import StartingPoint
from training.run_files import fingerprints

# Settings that are the flags of records.
_RECORD_FLAGS: tuple[Literal["input_file", "eval_input_file"], ...] = (
    "input_file",
    "eval_input_file",
)


def create_pretraining_plan(
    start: StartingPoint[PretrainingConfig], records: PretrainingRecords
) -> RunPlan:
    """Identifies the records, and plans what to do with them.

    Args:
        start: StartingPoint of the command.
        records: the records to train on, and those to evaluate on.

    Raises:
        ValueError: the run in --output_dir began with other settings or
            records.
    """
    config = start.config
    dev_set: list[Fingerprint] = []
    if config.pretraining.eval_input_file:
        dev_set = record_inspection.fingerprint_records(records.eval.files)
    # Without training, those of the weights' training.
    settings = start.recorded_settings
    if config.training.do_train:
        current_settings = create_pretraining_settings(
            start, records.train, dev_set
        )
        _check_same_records(start, current_settings)
        resuming.check_resumed(config, start.preset, current_settings)
        settings = resuming.settings_to_record(
            config, start.preset, current_settings
        )
    return RunPlan(
        create_model=functools.partial(
            modeling.BertPretrainer, left_to_right=config.training.left_to_right
        ),
        loss=modeling.PretrainingLoss(config.pretraining.next_sentence),
        num_steps=_compute_num_steps(config),
        settings=settings,
        dev_set_checksum=_compute_records_checksum(config, dev_set),
    )


def _compute_num_steps(config: PretrainingConfig) -> NumSteps | None:
    """Returns the numbers of training and warmup steps, or None."""
    if not config.training.do_train:
        return None
    return NumSteps(
        training=config.pretraining.num_train_steps,
        warmup=config.pretraining.num_warmup_steps,
    )


def create_pretraining_settings(
    start: StartingPoint[PretrainingConfig],
    records: record_datasets.Records,
    dev_set: list[Fingerprint],
) -> TrainingSettings:
    """Returns the settings of the training, for model.json.

    Args:
        start: StartingPoint of the command.
        records: the records to train on.
        dev_set: identity of the records of --eval_input_file.
    """
    settings = fingerprints.fingerprint_start(start)
    settings["input_file"] = record_inspection.fingerprint_records(
        records.files
    )
    if start.config.keeps_best:
        settings["eval_input_file"] = dev_set
    return settings


def _check_same_records(
    start: StartingPoint[PretrainingConfig], settings: TrainingSettings
) -> None:
    """Checks that a run is resumed on the records that it began with.

    `settings` is the result of `create_pretraining_settings`.

    Raises:
        ValueError: the records differ. The message names the flag and a file.
    """
    if not start.is_own_run:
        return
    folder = start.config.training.output_dir
    for name in _RECORD_FLAGS:
        recorded = start.recorded_settings.get(name)
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


def _compute_records_checksum(
    config: PretrainingConfig, dev_set: Sequence[Fingerprint]
) -> int:
    """Returns a checksum of the records that evaluations read.

    Records of --input_file count only by the number of examples, because they
    may be too large to read them for a checksum.

    Args:
        config: tells how many batches are read, and of what size.
        dev_set: identity of the records of --eval_input_file, [] without it.
    """
    scored = [
        config.pretraining.max_eval_steps * config.pretraining.eval_batch_size,
        *dev_set,
    ]
    return zlib.crc32(json.dumps(scored).encode())
