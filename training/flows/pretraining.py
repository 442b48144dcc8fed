"""Runs pretraining on records, masked in advance or during training."""

import time

from absl import logging

import modeling
from data.io import record_checks, record_datasets
from model_folders.reading import settings_check
from model_folders.scores import Scores
from training.config.pretraining_config import PretrainingConfig
from training.flows import checks, run_ending
from training.flows.pretraining_ending import end_pretraining
from training.flows.pretraining_evaluation import PretrainingEvaluation
from training.flows.pretraining_plan import create_pretraining_plan
from training.flows.pretraining_records import find_all_records
from training.flows.teacher import load_teacher
from training.flows.trainer_setup import (
    check_can_export,
    create_trainer,
    set_seed_and_precision,
)
from training.loop import devices
from training.loop.best_step import (
    BestStepRule,
    Evaluate,
    train_and_evaluate,
)
from training.loop.trainer import Trainer
from training.preparation.starting_point import StartingPoint
from training.run_files.run_folder import RunFolder


def run(start: StartingPoint[PretrainingConfig]) -> None:
    """Trains, evaluates and exports the model, depending on the flags.

    Raises:
        ValueError: a record, or the earlier run in --output_dir, does not match
            the flags.
        OSError: a file is missing or cannot be written.
        SystemExit: a signal stopped the training.
    """
    begin_time = time.time()
    config = start.config
    strategy = devices.connect_devices(config.devices)
    checks.check_files(start)
    _check_network(start)
    teacher = load_teacher(start, modeling.BertPretrainer)
    run_folder = RunFolder.open(start)
    records = find_all_records(start)
    plan = create_pretraining_plan(start, records)
    set_seed_and_precision(config)
    trainer = create_trainer(
        start, run_folder, plan, strategy=strategy, teacher=teacher
    )
    check_can_export(config, trainer.model)
    trainer.run_weights.restore_or_load()
    evaluation = PretrainingEvaluation(config, records.eval, trainer)
    scores: Scores = {}
    with record_checks.named_record_errors(records):
        if plan.num_steps:
            _train(
                config,
                trainer,
                records.train,
                evaluate=evaluation.evaluate,
                dev_set_checksum=plan.dev_set_checksum,
            )
        if config.training.do_eval:
            scores = run_ending.evaluate_and_write_scores(
                trainer, evaluation.evaluate, plan.dev_set_checksum
            )
    if config.export.export_dir or config.training.export_weights:
        # Export the best step's weights if this run saved them. Later commands
        # load the same weights from --output_dir.
        trainer.run_weights.restore_best()
        logging.info("Exporting %s", trainer.run_weights.describe())
    if not config.is_chief:
        # Only the chief writes files.
        return
    end_pretraining(
        start,
        trainer,
        scores=scores,
        begin_time=begin_time,
        baseline_accuracy=evaluation.baseline_accuracy,
    )


def _check_network(start: StartingPoint[PretrainingConfig]) -> None:
    """Checks that the folder of the weights is of the network of the flags.

    Raises:
        ValueError: the folder states another network, vocabulary or casing.
    """
    if start.preset:
        settings_check.check_trained_settings(
            start.preset,
            start.bert_config,
            start.tokenizer,
            settings=start.config.network,
            trains=start.config.training.do_train,
        )


def _train(
    config: PretrainingConfig,
    trainer: Trainer,
    records: record_datasets.Records,
    *,
    evaluate: Evaluate,
    dev_set_checksum: int,
) -> None:
    """Trains on records, and evaluates meanwhile if the flags say so.

    Raises:
        SystemExit: a signal stopped the training.
    """
    train_and_evaluate(
        trainer,
        records,
        config.pretraining.num_train_steps,
        evaluate=evaluate,
        rule=BestStepRule(
            config.pretraining.eval_steps,
            metric="loss",
            dev_set_checksum=dev_set_checksum,
        ),
    )
