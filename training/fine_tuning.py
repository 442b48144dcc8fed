"""Runs a fine-tuning script: trains, evaluates, predicts and exports.

This module does not depend on the task. A script passes its `Task` (task.py).
"""

import functools
import os
import time
from collections.abc import Mapping, Sequence
from typing import Any

from absl import logging

from data.io import tfrecords
from data.io.split_names import Purpose, suffix_of
from model_folders.cards import example_calls
from model_folders.recorded_sets import (
    DEV_SET_RULE,
    RECORDED_SETS,
    RecordedSet,
)
from model_folders.results import never_found
from training import checks, exporting, flow
from training.fine_tuning_config import FineTuningConfig
from training.flow import Scores
from training.loop import devices
from training.loop.prediction import EvalLoss
from training.loop.trainer import Trainer
from training.run import resuming
from training.run.fingerprints import fingerprint_files, settings_of_start
from training.run.run_folder import RunFolder
from training.sets import dev_set_rule, trained_rows
from training.sets.splits import (
    create_recorded_sets,
    dev_set_checksum,
    splits_of,
    write_splits,
)
from training.task import (
    AnyTask,
    Batches,
    ExampleT,
    OriginT,
    Split,
    Splits,
    Task,
)
from training.teacher import load_teacher
from training.training_config import NumSteps


def run(task: Task[ExampleT, OriginT]) -> None:
    """Trains, evaluates, predicts and exports a task, depending on the flags.

    Args:
        task: the task, with the flags and all else that the command starts
            from.

    Raises:
        ValueError: a flag contradicts another flag or a file.
        OSError: a file is missing or cannot be written.
    """
    began = time.time()
    devices.connect_devices(task.config.devices)
    checks.check_files(task.start)
    checks.check_task(task)
    teacher = load_teacher(
        task.start,
        task.create_model,
        labels=task.output_names,
        output_mode=task.settings.get("output_mode"),
    )
    run_folder = RunFolder.open(task.start, task.labels)
    splits = write_splits(task, run_folder.state)
    plan = create_plan(task, splits)
    trainer = flow.begin_run(task.start, run_folder, plan, teacher)
    first_step = trainer.global_step
    evaluate = create_evaluation(task, splits)
    records = [split.records for split in splits.values()]
    with tfrecords.naming_wrong_records(records):
        if plan.num_steps:
            train_task(
                task,
                trainer,
                splits["train"],
                plan.num_steps.training,
                evaluate,
            )
        if not plan.writes_scores:
            finish_without_scores(task, trainer, splits, evaluate(trainer))
            return
        results = write_files(task, trainer, splits, evaluate)
    if task.config.is_chief:
        # Only the chief writes files.
        has_trained = trainer.global_step != first_step
        finish_run(task, trainer, results, began, has_trained)


def create_plan(
    task: Task[ExampleT, OriginT], splits: Splits[ExampleT, OriginT]
) -> flow.Plan:
    """Checks the rows of the splits, and plans what to do with them.

    Raises:
        ValueError: the dev set contains rows that the weights were trained on,
            the training would be shorter than one step, or the run in
            --output_dir began with other settings.
    """
    start = task.start
    sets = create_recorded_sets(task.config, splits)
    trained_rows.check_dev_set(start, sets)
    trained_rows.warn_of_dev_set(start, sets)
    other_run = trained_rows.find_run_with_other_dev_set(start, sets)
    if other_run:
        trained_rows.log_that_scores_are_not_written(other_run)
    num_steps = find_num_steps(task, splits)
    settings_to_record = start.recorded_settings
    if "train" in splits:
        settings = list_settings(task, splits["train"], sets)
        trained_rows.check_train_set(start, sets, settings["train_records"])
        resuming.check_resumed(task.config, start.preset, settings)
        settings_to_record = resuming.settings_to_record(
            task.config, start.preset, settings
        )
    network: Mapping[str, Any] = task.config.network
    return flow.Plan(
        create_model=functools.partial(task.create_model, **network),
        loss=task.loss,
        num_steps=num_steps,
        settings=settings_to_record,
        dev_set_checksum=dev_set_checksum(task, splits),
        output_names=task.output_names,
        prefers_best=task.config.loads_best,
        writes_scores=other_run is None,
    )


def write_files(
    task: Task[ExampleT, OriginT],
    trainer: Trainer,
    splits: Splits[ExampleT, OriginT],
    evaluate: flow.Evaluate,
) -> Scores:
    """Writes scores, reports, predictions and the export. Returns the scores.

    Only the chief writes files.
    """
    config = task.config
    results: Scores = {}
    if config.training.do_eval:
        results = flow.evaluate_at_the_end(trainer, evaluate)
    if not config.is_chief:
        return results
    if config.training.do_eval:
        write_reports(task, trainer, splits)
    if config.fine_tuning.do_predict:
        results |= write_predictions(task, trainer, splits, results)
    if export_dir := config.export.export_dir:
        exporting.export_task(task, trainer, splits, results, export_dir)
    return results


def finish_without_scores(
    task: Task[ExampleT, OriginT],
    trainer: Trainer,
    splits: Splits[ExampleT, OriginT],
    results: Scores,
) -> None:
    """Logs scores that are not the run's, and exports what the user asked.

    Writes no scores, no card and no report.
    """
    trainer.run_folder.log_results(results)
    if not task.config.is_chief:
        return
    export_dir = task.config.export.export_dir
    # --data_file alone does not export again.
    if export_dir and "export_dir" in task.start.given:
        exporting.export_task(task, trainer, splits, {}, export_dir)
    flow.store_weights(trainer)


def find_num_steps(
    task: Task[ExampleT, OriginT], splits: Splits[ExampleT, OriginT]
) -> NumSteps | None:
    """Returns the numbers of training and warmup steps, None if not training.

    Raises:
        ValueError: the training would be shorter than one step.
    """
    if "train" not in splits:
        return None
    train_set = splits["train"]
    if task.counts_examples:
        return task.config.num_steps(train_set.num_examples)
    return task.config.num_steps(train_set.num_records)


def list_settings(
    task: Task[ExampleT, OriginT],
    train_set: Split[ExampleT, OriginT],
    sets: Mapping[str, RecordedSet],
) -> dict[str, Any]:
    """Returns the settings of the training, {name: value}.

    `sets` is the result of `create_recorded_sets`.
    """
    settings = {
        **settings_of_start(task.start),
        **task.settings,
        RECORDED_SETS: [*sets.values()],
    }
    if rule := dev_set_rule.find_rule_to_record(task.start):
        settings[DEV_SET_RULE] = rule.as_settings()
    settings["train_records"] = fingerprint_files(train_set.records.files)
    return settings


def train_task(
    task: Task[ExampleT, OriginT],
    trainer: Trainer,
    train_set: Split[ExampleT, OriginT],
    num_train_steps: int,
    evaluate: flow.Evaluate,
) -> None:
    """Trains, then restores the best step's weights if the flags say so."""
    config = task.config
    flow.train_and_evaluate(
        trainer,
        train_set.records,
        num_train_steps,
        evaluate,
        interval=max(train_set.num_records // config.batch_size, 1),
        metric=config.fine_tuning.metric_for_best or task.metrics[0],
        patience=config.fine_tuning.early_stopping_patience,
        epochs=config.fine_tuning.num_train_epochs,
    )
    if config.keeps_best and config.loads_best:
        trainer.restore_best()


def write_reports(
    task: Task[ExampleT, OriginT],
    trainer: Trainer,
    splits: Splits[ExampleT, OriginT],
) -> None:
    """Writes the task's reports on the dev splits."""
    for split in splits_of(task, splits, "eval"):
        batches = predict_split(task, trainer, split, "eval", "Reporting")
        task.write_report(split, batches, str(trainer.run_folder.path))


def write_predictions(
    task: Task[ExampleT, OriginT],
    trainer: Trainer,
    splits: Splits[ExampleT, OriginT],
    results: Scores,
) -> Scores:
    """Writes the predictions of the test splits, and their scores if known.

    Returns the scores of the splits to predict that the task also evaluates,
    because a split may have two purposes (`Task.splits`). `results` are the dev
    set's scores so far.
    """
    logging.info("Predicting with %s", trainer.describe_step())
    run_folder = trainer.run_folder
    dev_scores: Scores = {}
    for split in splits_of(task, splits, "predict"):
        batches = predict_split(task, trainer, split, "predict", "Predicting")
        scores = task.write_predictions(split, batches, str(run_folder.path))
        if not scores:
            # The right answers are unknown.
            continue
        scores["global_step"] = trainer.global_step
        if split.name in task.splits["eval"]:
            run_folder.history.add("eval", trainer.global_step, scores)
            dev_scores |= scores
            run_folder.write_dev_results(results | dev_scores)
        else:
            run_folder.write_test_results(scores, suffix_of(split.name))
    return dev_scores


def finish_run(
    task: AnyTask,
    trainer: Trainer,
    results: Scores,
    began: float,
    has_trained: bool,
) -> None:
    """Writes the weights and the card, and logs what to know.

    Args:
        task: names the main score, and the head for the commands.
        trainer: the Trainer, with the weights that `results` belong to.
        results: scores on the dev set, {} without an evaluation.
        began: time at which this command began, as time.time().
        has_trained: whether this command changed the weights.
    """
    run_folder = trainer.run_folder
    flow.store_weights(trainer)
    write_card(run_folder, task.config)
    if has_trained:
        run_folder.warn_of_earlier_results(began)
    warn_of_never_found(task.config, results)
    flow.log_end(
        trainer,
        score_lines=list_score_lines(task, results),
        commands=list_commands(task),
        seconds=time.time() - began,
    )


def write_card(run_folder: RunFolder, config: FineTuningConfig) -> None:
    """Writes the card of a finished run. It contains no names of folders."""
    export = table = None
    if export_dir := config.export.export_dir:
        export = os.path.basename(export_dir.rstrip("/"))
        if export_dir == config.default_export_dir:
            # Named after --output_dir, which the card calls FOLDER.
            export = "FOLDER_model"
    if config.data_file:
        table = os.path.basename(config.data_file)
    run_folder.write_card(export=export, table=table)


def warn_of_never_found(config: FineTuningConfig, results: Scores) -> None:
    """Warns of labels that a trained model finds in no example."""
    if config.training.do_train and (missing := never_found(results)):
        logging.warning(
            "The model finds no example of %s in the dev set. Add examples, or "
            "set another --output_dir, --learning_rate=%g and "
            "--num_train_epochs=%g.",
            ", ".join(missing),
            2 * config.optimizer.learning_rate,
            2 * config.fine_tuning.num_train_epochs,
        )


def list_score_lines(task: AnyTask, results: Scores) -> list[str]:
    """Returns a line about the main score on the dev set, [] without one."""
    metric = task.metrics[0]
    if metric not in results:
        return []
    return [f"{metric} on the dev set: {results[metric]:.4f}"]


def list_commands(task: AnyTask) -> Sequence[str]:
    """Returns commands that ask the exported model, [] without an export."""
    config = task.config
    return example_calls.list_commands(
        {**task.settings, "name": config.head},
        config.export.export_dir,
        config.data_file,
    )


def create_evaluation(
    task: Task[ExampleT, OriginT], splits: Splits[ExampleT, OriginT]
) -> flow.Evaluate:
    """Returns a function (trainer) -> scores on the dev splits.

    The function evaluates the weights of each step only once.
    """

    def evaluate(trainer: Trainer) -> Scores:
        results: Scores = {"global_step": trainer.global_step}
        for split in splits_of(task, splits, "eval"):
            batches = predict_split(task, trainer, split, "eval", "Evaluating")
            if task.eval_loss:
                batches_with_loss = EvalLoss(task.eval_loss, batches)
                scores = task.evaluate(split, batches_with_loss)
                # The loss is complete once the task has read all batches.
                scores = scores | batches_with_loss.scores()
            else:
                scores = task.evaluate(split, batches)
            suffix = suffix_of(split.name)
            results |= {
                f"{name}{suffix}": score for name, score in scores.items()
            }
        return results

    return flow.evaluate_once_per_step(evaluate)


def predict_split(
    task: Task[ExampleT, OriginT],
    trainer: Trainer,
    split: Split[ExampleT, OriginT],
    purpose: Purpose,
    label: str,
) -> Batches:
    """Returns the batches of a split with the model's outputs.

    Args:
        task: pools the windows of an example.
        trainer: holds the weights that predict.
        split: the records to predict.
        purpose: "eval" or "predict", which selects the batch size.
        label: text of the progress bar.
    """
    size = task.config.batch_size_of(purpose)
    dataset = split.create_dataset(size, task.config.unpads)
    num_batches = -(-split.num_records // size)
    batches = trainer.predict(dataset, num_batches, label)
    return task.pool(split, batches)
