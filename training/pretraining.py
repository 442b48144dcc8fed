"""Runs pretraining on records, masked in advance or during training."""

import functools
import json
import time
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

from absl import logging

import modeling
from data.io import tfrecords
from data.pretraining import record_files
from model_folders import identity
from model_folders.model_entries import Fingerprint
from training import (
    checks,
    exporting,
    flow,
    pretraining_end,
    pretraining_evaluation,
    pretraining_records,
)
from training.flow import Scores
from training.loop import devices
from training.loop.trainer import Trainer
from training.pretraining_config import PretrainingConfig
from training.run import fingerprints, resuming
from training.run.run_folder import RunFolder
from training.start import StartingPoint
from training.teacher import load_teacher
from training.training_config import NumSteps


def run(start: StartingPoint[PretrainingConfig]) -> None:
    """Trains, evaluates and exports the model, depending on the flags.

    Args:
        start: what the command starts from.

    Raises:
        ValueError: a record, or the earlier run in --output_dir, does not match
            the flags.
        OSError: a file is missing or cannot be written.
    """
    began = time.time()
    config = start.config
    devices.connect_devices(config.devices)
    checks.check_files(start)
    check_network(start)
    teacher = load_teacher(start, modeling.BertPretrainer)
    run_folder = RunFolder.open(start)
    records, eval_records = pretraining_records.find_all_records(start)
    plan = create_plan(start, records, eval_records)
    trainer = flow.begin_run(start, run_folder, plan, teacher)
    counts = pretraining_end.MaskedCounts()
    evaluate = pretraining_evaluation.create_evaluation(
        config, eval_records, counts
    )
    results: Scores = {}
    with tfrecords.naming_wrong_records([records, eval_records]):
        if plan.num_steps:
            train_pretrainer(config, trainer, records, evaluate)
        if config.training.do_eval:
            results = flow.evaluate_at_the_end(trainer, evaluate)
    if config.export.export_dir or config.training.export_weights:
        # Export the best step's weights if this run saved them. Later commands
        # load the same weights from --output_dir.
        trainer.restore_best()
        logging.info("Exporting %s", trainer.describe_step())
    if config.is_chief:
        # Only the chief writes files.
        finish_run(start, trainer, results, began, counts.guess)


def create_plan(
    start: StartingPoint[PretrainingConfig],
    records: tfrecords.Records,
    eval_records: tfrecords.Records,
) -> flow.Plan:
    """Identifies the records, and plans what to do with them.

    Args:
        start: what the command starts from.
        records: the records to train on.
        eval_records: the records to evaluate on.

    Raises:
        ValueError: the run in --output_dir began with other settings or
            records.
    """
    config = start.config
    dev_set: list[Fingerprint] = []
    if config.pretraining.eval_input_file:
        dev_set = record_files.identify_files(eval_records.files)
    settings_to_record = start.recorded_settings
    if config.training.do_train:
        settings = list_settings(start, records, dev_set)
        check_same_records(start, settings)
        resuming.check_resumed(config, start.preset, settings)
        settings_to_record = resuming.settings_to_record(
            config, start.preset, settings
        )
    return flow.Plan(
        create_model=functools.partial(
            modeling.BertPretrainer, left_to_right=config.training.left_to_right
        ),
        loss=modeling.PretrainingLoss(config.pretraining.next_sentence),
        num_steps=find_num_steps(config),
        settings=settings_to_record,
        dev_set_checksum=records_checksum(config, dev_set),
    )


def check_network(start: StartingPoint[PretrainingConfig]) -> None:
    """Checks that the folder of the weights is of the network of the flags.

    Raises:
        ValueError: the folder states another network, vocabulary or casing.
    """
    if start.preset:
        identity.check_identity(
            start.preset,
            start.bert_config,
            start.tokenizer,
            start.config.network,
            start.config.training.do_train,
        )


def find_num_steps(config: PretrainingConfig) -> NumSteps | None:
    """Returns the numbers of training and warmup steps, or None."""
    if not config.training.do_train:
        return None
    flags = config.pretraining
    return NumSteps(flags.num_train_steps, flags.num_warmup_steps)


def train_pretrainer(
    config: PretrainingConfig,
    trainer: Trainer,
    records: tfrecords.Records,
    evaluate: flow.Evaluate,
) -> None:
    """Trains on records, and evaluates meanwhile if the flags say so."""
    flow.train_and_evaluate(
        trainer,
        records,
        config.pretraining.num_train_steps,
        evaluate,
        interval=config.pretraining.eval_steps,
        metric="loss",
    )


def finish_run(
    start: StartingPoint[PretrainingConfig],
    trainer: Trainer,
    results: Scores,
    began: float,
    guess: float,
) -> None:
    """Writes the export, the weights and the card, and logs what to know.

    Args:
        start: what the command starts from.
        trainer: the Trainer, with the weights to export.
        results: scores of the evaluation, {} without an evaluation.
        began: time at which this command began, as time.time().
        guess: accuracy of always guessing the most frequent WordPiece.
    """
    config = start.config
    if export_dir := config.export.export_dir:
        exporting.export_pretrainer(start, trainer, export_dir)
    flow.store_weights(trainer)
    trainer.run_folder.write_card()
    if results and config.training.do_train:
        pretraining_end.warn_of_no_progress(results, guess)
    flow.log_end(
        trainer,
        score_lines=pretraining_end.list_score_lines(results),
        commands=pretraining_end.list_commands(start),
        seconds=time.time() - began,
    )


def list_settings(
    start: StartingPoint[PretrainingConfig],
    records: tfrecords.Records,
    dev_set: list[Fingerprint],
) -> dict[str, Any]:
    """Returns the settings of the training, {name: value}.

    Args:
        start: what the command starts from.
        records: the records to train on.
        dev_set: identity of the records of --eval_input_file.
    """
    settings: dict[str, Any] = {**fingerprints.settings_of_start(start)}
    settings["input_file"] = record_files.identify_files(records.files)
    if start.config.keeps_best:
        settings["eval_input_file"] = dev_set
    return settings


def check_same_records(
    start: StartingPoint[PretrainingConfig], settings: Mapping[str, Any]
) -> None:
    """Checks that a run is resumed on the records that it began with.

    `settings` is the result of `list_settings`.

    Raises:
        ValueError: the records differ. The message names the flag and a file.
    """
    if not start.is_own_run:
        return
    stated: Mapping[str, object] = start.recorded_settings
    folder = start.config.training.output_dir
    for name in ("input_file", "eval_input_file"):
        recorded = stated.get(name)
        records = settings.get(name, recorded)
        if not isinstance(recorded, list) or recorded == records:
            continue
        files = [str(entry[0]) for entry in records if entry not in recorded]
        raise ValueError(
            f"--{name}: the run in {folder} began with other records than "
            f"{', '.join(files) or 'these files'}. Set another --output_dir. "
            "To start from this run's weights, also set "
            f"--init_checkpoint={folder}"
        )


def records_checksum(
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
