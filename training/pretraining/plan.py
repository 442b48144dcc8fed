"""Plans a pretraining, and checks a resumed run."""

import functools
import json
import zlib
from collections.abc import Sequence

import modeling
from data.io import record_datasets
from data.pretraining import record_inspection
from model_folders.fingerprints import RecordFileFingerprint
from model_folders.training_settings import TrainingInputs, TrainingSettings
from training.config.pretraining_config import PretrainingConfig
from training.config.training_config import NumSteps
from training.loop.run_plan import RunPlan
from training.preparation import resume_checks
from training.run_files.settings_creation import create_training_settings
from training.starting_point import StartingPoint


def plan_pretraining(
    starting_point: StartingPoint[PretrainingConfig],
    records: record_datasets.Records,
    dev_set_fingerprints: list[RecordFileFingerprint],
) -> RunPlan:
    """Plans what the run trains and records, and checks a resumed run.

    A resumed run keeps its records and its settings. A command that does not
    train resumes no run.

    Args:
        starting_point: the flags, the network and the tokenizer to record.
        records: the records to train on, whose files are fingerprinted.
        dev_set_fingerprints: result of `fingerprint_dev_set`.

    Raises:
        ValueError: a record is damaged, or the run in --output_dir began with
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
        num_steps = NumSteps(
            training=config.pretraining.num_train_steps,
            warmup=config.pretraining.num_warmup_steps,
            between_evaluations=config.pretraining.eval_steps,
        )
        _check_resumed_run(starting_point, training_settings)
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


def _check_resumed_run(
    starting_point: StartingPoint[PretrainingConfig],
    training_settings: TrainingSettings,
) -> None:
    config = starting_point.config
    run_preset = starting_point.run_preset
    resume_checks.check_resumed_records(
        config, run_preset, training_settings.inputs
    )
    resume_checks.check_resumed_settings(config, run_preset, training_settings)


def collect_pretraining_settings(
    starting_point: StartingPoint[PretrainingConfig],
    records: record_datasets.Records,
    dev_set_fingerprints: list[RecordFileFingerprint],
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
    data_inputs: TrainingInputs = {
        "input_file": record_inspection.fingerprint_records(records.files)
    }
    if starting_point.config.keeps_best:
        data_inputs["eval_input_file"] = dev_set_fingerprints
    return create_training_settings(starting_point, {}, data_inputs)


def compute_dev_records_checksum(
    config: PretrainingConfig,
    dev_set_fingerprints: Sequence[RecordFileFingerprint],
) -> int:
    """Returns a checksum of the records that evaluations read.

    Records of --input_file count only by the number of examples, because they
    may be too large to read them for a checksum.

    Args:
        config: the flags, with the number and the size of the batches.
        dev_set_fingerprints: result of `fingerprint_dev_set`.
    """
    scored = [
        config.pretraining.max_eval_steps * config.pretraining.eval_batch_size,
        *dev_set_fingerprints,
    ]
    return zlib.crc32(json.dumps(scored).encode())
