"""Plans a command of pretraining: its model, its steps, and what it records.

The records must be those of the run that a command resumes.
"""

import functools
import json
import zlib
from collections.abc import Sequence
from typing import cast

import modeling
from data.io import record_datasets
from data.pretraining import record_inspection
from model_folders.model_json import (
    Fingerprint,
    TrainingSettings,
)
from training.config.pretraining_config import PretrainingConfig
from training.config.training_config import NumSteps
from training.flow_steps.run_plan import RunPlan
from training.preparation import resume_checks
from training.run_files import fingerprints, model_description
from training.starting_point import StartingPoint


def plan_pretraining(
    starting_point: StartingPoint[PretrainingConfig],
    records: record_datasets.Records,
    dev_set_fingerprints: list[Fingerprint],
) -> RunPlan:
    """Plans the run, and checks that a resumed run goes on as it began.

    Args:
        starting_point: the flags, the network and the tokenizer to record.
        records: the records to train on, whose files are fingerprinted.
        dev_set_fingerprints: result of `fingerprint_dev_set`.

    Raises:
        ValueError: a record is damaged. Or the run in --output_dir began with
            other records or settings.
        OSError: a file cannot be read.
    """
    config = starting_point.config
    num_steps = None
    # Without training, the settings with which the weights were trained.
    training_settings = starting_point.training_settings
    if config.training.do_train:
        training_settings = collect_pretraining_settings(
            starting_point, records, dev_set_fingerprints
        )
        resume_checks.check_resumed_records(
            config, starting_point.own_run, training_settings
        )
        resume_checks.check_resumed_settings(
            config, starting_point.own_run, training_settings
        )
        num_steps = NumSteps(
            training=config.pretraining.num_train_steps,
            warmup=config.pretraining.num_warmup_steps,
        )
    return RunPlan(
        create_model=functools.partial(
            modeling.BertPretrainer, left_to_right=config.training.left_to_right
        ),
        loss=modeling.PretrainingLoss(config.pretraining.next_sentence),
        num_steps=num_steps,
        training_settings=training_settings,
        dev_set_checksum=compute_dev_records_checksum(
            config, dev_set_fingerprints
        ),
    )


def collect_pretraining_settings(
    starting_point: StartingPoint[PretrainingConfig],
    records: record_datasets.Records,
    dev_set_fingerprints: list[Fingerprint],
) -> TrainingSettings:
    """Collects all settings of a training, as model.json records them.

    Reads the records to train on, for their checksums.

    Args:
        starting_point: the flags, the network and the tokenizer to record.
        records: the records to train on.
        dev_set_fingerprints: result of `fingerprint_dev_set`.

    Raises:
        ValueError: a record is damaged.
        OSError: a file cannot be read.
    """
    training_inputs = fingerprints.fingerprint_starting_point(starting_point)
    training_inputs["input_file"] = record_inspection.fingerprint_records(
        records.files
    )
    if starting_point.config.keeps_best:
        training_inputs["eval_input_file"] = dev_set_fingerprints
    # Pretraining fixes no head settings, so its inputs are all that it keeps.
    training_settings = cast("TrainingSettings", training_inputs)
    return model_description.create_training_settings(
        starting_point.config, starting_point.own_run, training_settings
    )


def compute_dev_records_checksum(
    config: PretrainingConfig, dev_set_fingerprints: Sequence[Fingerprint]
) -> int:
    """Returns a checksum of the records that evaluations read.

    Records of --input_file count only by the number of examples, because they
    may be too large to read them for a checksum.

    Args:
        config: tells how many batches are read, and of what size.
        dev_set_fingerprints: result of `fingerprint_dev_set`.
    """
    scored = [
        config.pretraining.max_eval_steps * config.pretraining.eval_batch_size,
        *dev_set_fingerprints,
    ]
    return zlib.crc32(json.dumps(scored).encode())
