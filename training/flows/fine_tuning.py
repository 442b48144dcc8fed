"""Runs a fine-tuning script: trains, evaluates, predicts and exports.

This module does not depend on the task. A script passes its `Task` (task.py).
"""

import time

from data.io import record_checks
from execution import devices
from training.config.fine_tuning_config import FineTuningConfig
from training.flows import checks
from training.flows.dev_set_check import check_dev_set
from training.flows.encoded_sets import create_recorded_sets, write_encoded_sets
from training.flows.fine_tuning_ending import (
    finish_with_scores,
    finish_without_scores,
)
from training.flows.fine_tuning_evaluation import create_fine_tuning_evaluation
from training.flows.fine_tuning_plan import create_fine_tuning_plan
from training.flows.teacher import load_teacher
from training.flows.trainer_setup import (
    check_can_export,
    create_trainer,
    set_seed_and_precision,
)
from training.loop import stopping
from training.loop.best_step import BestStepRule, train_and_evaluate
from training.loop.trainer import Evaluate, Trainer
from training.run_files.run_folder import RunFolder
from training.task import EncodedSet, ExampleT, OriginT, OutputsT, Task


def run(task: Task[FineTuningConfig, ExampleT, OriginT, OutputsT]) -> None:
    """Trains, evaluates, predicts and exports a task, depending on the flags.

    Args:
        task: the task, with the flags and all else that the command starts
            from.

    Raises:
        ValueError: a flag contradicts another flag or a file.
        OSError: a file is missing or cannot be written.
        SystemExit: a signal stopped the training.
    """
    begin_time = time.time()
    strategy = devices.connect_devices(task.config.devices)
    checks.check_files(task.start)
    checks.check_task(task)
    teacher = load_teacher(
        task.start,
        task.create_model,
        output_names=task.output_names,
        output_mode=task.settings.get("output_mode"),
    )
    run_folder = RunFolder.open(task.start, task.labels)
    encoded_sets = write_encoded_sets(task, run_folder.state_folder)
    recorded_sets = create_recorded_sets(task.config, encoded_sets)
    dev_set_case = check_dev_set(task.start, recorded_sets)
    plan = create_fine_tuning_plan(task, encoded_sets, recorded_sets)
    set_seed_and_precision(task.config)
    trainer = create_trainer(
        task.start, run_folder, plan, strategy=strategy, teacher=teacher
    )
    check_can_export(task.config, trainer.model)
    trainer.run_weights.restore_or_load(
        task.output_names, prefers_best=task.config.loads_best
    )
    first_step = trainer.run_weights.global_step
    evaluate = create_fine_tuning_evaluation(task, encoded_sets)
    records = [encoded_set.records for encoded_set in encoded_sets.values()]
    with record_checks.named_record_errors(records):
        if plan.num_steps:
            _train(
                task,
                trainer,
                encoded_sets["train"],
                num_train_steps=plan.num_steps.training,
                evaluate=evaluate,
            )
        if dev_set_case.writes_scores:
            finish_with_scores(
                task,
                trainer,
                encoded_sets,
                evaluate,
                begin_time=begin_time,
                has_trained=trainer.run_weights.global_step != first_step,
            )
        else:
            finish_without_scores(task, trainer, encoded_sets, evaluate)


def _train(
    task: Task[FineTuningConfig, ExampleT, OriginT, OutputsT],
    trainer: Trainer,
    train_set: EncodedSet[ExampleT, OriginT],
    *,
    num_train_steps: int,
    evaluate: Evaluate,
) -> None:
    """Trains, then restores the best step's weights if the flags say so.

    Ends the process if a signal stopped the training.
    """
    config = task.config
    rule = BestStepRule(
        interval=max(train_set.num_records // config.batch_size, 1),
        metric=config.fine_tuning.metric_for_best or task.metrics[0],
        patience=config.fine_tuning.early_stopping_patience,
    )
    is_stopped = train_and_evaluate(
        trainer,
        train_set.records,
        num_train_steps,
        evaluate=evaluate,
        rule=rule,
        epochs=config.fine_tuning.num_train_epochs,
    )
    if is_stopped:
        stopping.exit_after_signal(trainer.run_weights.global_step)
    if config.keeps_best and config.loads_best:
        trainer.run_weights.restore_best()
