"""Runs a fine-tuning script: trains, evaluates, predicts and exports.

This module does not depend on the task. A script passes its `Task` (task.py).
"""

import datetime
import functools
import glob
import os
import time
from collections.abc import Callable, Mapping
from typing import Any

from absl import logging

from command_line import flags
from data.io import tfrecords
from modeling import example_calls
from modeling.results import never_found
from training import checks, devices, exporting, run_folder
from training.callbacks import Callback
from training.callbacks.best_step import BestStep
from training.distillation import load_teacher
from training.fine_tuning_config import FineTuningConfig
from training.fingerprints import describe_start, fingerprint
from training.prediction import LossFigures
from training.splits import (
    describe_data,
    dev_set_checksum,
    splits_of,
    write_splits,
)
from training.start import Start
from training.task import Batches, Split, Task, suffix_of
from training.trainer import Trainer

# Patterns of the files in a run's folder that contain results of its weights.
_RESULTS = (
    "*eval_results*.txt",
    "*predictions.*",
    "null_odds.json",
    "report*.html",
    "test_results*.tsv",
)

Splits = Mapping[str, Split]
Scores = dict[str, float]


def run(task: Task, start: Start[FineTuningConfig]) -> None:
    """Trains, evaluates, predicts and exports a task, depending on the flags.

    Args:
        task: the task.
        start: what the command starts from.

    Raises:
        ValueError: a flag contradicts another flag or a file.
        OSError: a file is missing or cannot be written.
    """
    began = time.time()
    config = start.config
    # Connect the workers before TensorFlow uses a device.
    devices.strategy_of(config.devices)
    # All checks come before any slow work.
    checks.check(start)
    checks.check_task(task, start)
    teacher = None
    if config.training.do_train and config.distillation.teacher:
        teacher = load_teacher(
            start,
            task.create_model,
            labels=task.output_names,
            output_mode=task.settings.get("output_mode"),
        )
    splits = write_splits(task, start)
    checks.check_split(start, splits)
    num_steps = find_num_steps(task, config, splits)
    trainer = Trainer.create(
        start,
        functools.partial(
            task.create_model, start.bert_config, **config.network
        ),
        task.loss,
        num_steps,
        teacher,
        settings=find_settings(task, start, splits),
        dev_set=dev_set_checksum(task, splits),
        output_names=task.output_names,
    )
    exporting.check_model(config, trainer.model)
    # See there for the order in which weights are looked for.
    trainer.restore_or_load(config.loads_best)
    first_step = trainer.global_step
    evaluate = create_evaluation(task, config, splits)
    records = [split.records for split in splits.values()]
    with tfrecords.naming_wrong_records(records):
        if num_steps:
            train_set = splits["train"]
            train(task, config, trainer, train_set, num_steps[0], evaluate)
        results: Scores = {}
        if config.training.do_eval:
            results = evaluate_at_the_end(trainer, evaluate)
        if not trainer.is_chief:
            # Only the chief writes files.
            return
        if config.training.do_eval:
            write_reports(task, config, trainer, splits)
        if config.fine_tuning.do_predict:
            results |= write_predictions(task, config, trainer, splits, results)
        if config.export.export_dir:
            exporting.export_task(task, start, trainer, splits, results)
        trainer.finish()
        if trainer.global_step != first_step:
            warn_of_earlier_results(config.training.output_dir, began)
        describe_end(task, config, trainer, results, time.time() - began)


def warn_of_earlier_results(folder: str, began: float) -> None:
    """Names results in a run's folder that are of earlier weights.

    They stay, because they may be the user's.

    Args:
        folder: folder of the run.
        began: time at which this command began, as time.time().
    """
    paths = sorted(
        path
        for pattern in _RESULTS
        for path in glob.glob(os.path.join(glob.escape(folder), pattern))
        if os.path.getmtime(path) < began
    )
    if paths:
        logging.warning(
            "An earlier command wrote %s, with other weights than this "
            "command trained. Move or remove what you no longer need.",
            ", ".join(paths),
        )


def find_num_steps(
    task: Task, config: FineTuningConfig, splits: Splits
) -> tuple[int, int] | None:
    """Returns the numbers of training and warmup steps, None if not training.

    Raises:
        ValueError: the training would be shorter than one step.
    """
    if "train" not in splits:
        return None
    train_set = splits["train"]
    if task.counts_examples:
        return config.num_steps(train_set.num_examples)
    return config.num_steps(train_set.num_records)


def find_settings(
    task: Task, start: Start[FineTuningConfig], splits: Splits
) -> Mapping[str, Any]:
    """Returns the settings to record with the weights.

    Raises:
        ValueError: the run in --output_dir began with other settings.
    """
    if "train" not in splits:
        return start.training
    settings = {
        **describe_start(start),
        **task.settings,
        "train_records": fingerprint(splits["train"].records.files),
        "data": describe_data(start.config, splits),
    }
    return run_folder.check_resumed(start.config, start.preset, settings)


def train(
    task: Task,
    config: FineTuningConfig,
    trainer: Trainer,
    train_set: Split,
    num_train_steps: int,
    evaluate: Callable[[Trainer], Scores],
) -> None:
    """Trains, then restores the best step's weights if the flags say so."""
    callbacks: list[Callback] = []
    if config.keeps_best:
        best = BestStep(
            trainer,
            evaluate,
            every=max(train_set.num_records // config.batch_size, 1),
            metric=config.fine_tuning.metric_for_best or task.metrics[0],
            patience=config.fine_tuning.early_stopping_patience,
        )
        callbacks.append(best)
    trainer.fit(
        train_set.records,
        num_train_steps,
        callbacks,
        config.fine_tuning.num_train_epochs,
    )
    if config.keeps_best and config.loads_best:
        trainer.restore_best()


def evaluate_at_the_end(
    trainer: Trainer, evaluate: Callable[[Trainer], Scores]
) -> Scores:
    """Evaluates the trained weights, and writes eval_results.txt."""
    logging.info("Evaluating %s", trainer.described_step)
    results = evaluate(trainer)
    trainer.history.add("eval", trainer.global_step, results)
    trainer.write_results("eval_results.txt", results)
    return results


def write_reports(
    task: Task, config: FineTuningConfig, trainer: Trainer, splits: Splits
) -> None:
    """Writes the task's reports on the dev splits."""
    for split in splits_of(task, splits, "eval"):
        batches = predict(task, config, trainer, split, "eval", "Reporting")
        task.write_report(split, batches, config.training.output_dir)


def write_predictions(
    task: Task,
    config: FineTuningConfig,
    trainer: Trainer,
    splits: Splits,
    results: Scores,
) -> Scores:
    """Writes the predictions of the test splits, and their scores if known.

    Returns the scores that belong to the dev set, because SQuAD predicts it.
    `results` are the dev set's scores so far.
    """
    logging.info("Predicting with %s", trainer.described_step)
    dev_scores: Scores = {}
    for split in splits_of(task, splits, "predict"):
        batches = predict(task, config, trainer, split, "predict", "Predicting")
        scores = task.write_predictions(
            split, batches, config.training.output_dir
        )
        if not scores:
            # The right answers are unknown.
            continue
        scores["global_step"] = trainer.global_step
        if split.name in task.splits["eval"]:
            trainer.history.add("eval", trainer.global_step, scores)
            dev_scores |= scores
            trainer.write_results("eval_results.txt", results | dev_scores)
        else:
            file = f"test_eval_results{suffix_of(split.name)}.txt"
            trainer.write_results(file, scores)
    return dev_scores


# Files of a run that describe_end names, if the run wrote them.
_SHOWN_FILES = (
    "report.html",
    "dev_predictions.csv",
    "dev_predictions.jsonl",
    "predictions.csv",
    "predictions.jsonl",
)


def describe_end(
    task: Task,
    config: FineTuningConfig,
    trainer: Trainer,
    results: Scores,
    seconds: float,
) -> None:
    """Writes the card, and logs the score, files and how to ask the model."""
    export = config.export.export_dir
    table = flags.flat(config).get("data_file")
    settings = {**task.settings, "name": config.head}
    commands = example_calls.list_commands(settings, export, table)
    # The card contains no names of folders.
    name = export and os.path.basename(export.rstrip("/"))
    if export == f"{config.training.output_dir.rstrip('/')}_model":
        name = "FOLDER_model"
    trainer.write_card(export=name, table=table and os.path.basename(table))
    if config.training.do_train and (missing := never_found(results)):
        logging.warning(
            "The model finds no example of %s in the dev set. Add examples, or "
            "set another --output_dir, --learning_rate=%g and "
            "--num_train_epochs=%g.",
            ", ".join(missing),
            2 * config.optimizer.learning_rate,
            2 * config.fine_tuning.num_train_epochs,
        )
    lines = []
    metric = task.metrics[0]
    if metric in results:
        lines.append(f"{metric} on the dev set: {results[metric]:.4f}")
    paths = [
        os.path.join(config.training.output_dir, name) for name in _SHOWN_FILES
    ]
    lines += filter(os.path.isfile, paths)
    lines += commands
    duration = datetime.timedelta(seconds=round(seconds))
    logging.info("Done in %s\n  %s", duration, "\n  ".join(lines))


def create_evaluation(
    task: Task, config: FineTuningConfig, splits: Splits
) -> Callable[[Trainer], Scores]:
    """Returns a function (trainer) -> scores on the dev splits.

    The function evaluates the weights of each step only once.
    """
    evaluated: dict[int, Scores] = {}

    def evaluate(trainer: Trainer) -> Scores:
        step = trainer.global_step
        if step in evaluated:
            return evaluated[step]
        results: Scores = {"global_step": step}
        for split in splits_of(task, splits, "eval"):
            batches = predict(
                task, config, trainer, split, "eval", "Evaluating"
            )
            if task.eval_loss:
                passing = LossFigures(task.eval_loss, batches)
                scores = task.evaluate(split, passing) | passing.figures()
            else:
                scores = task.evaluate(split, batches)
            suffix = suffix_of(split.name)
            results |= {f"{k}{suffix}": value for k, value in scores.items()}
        evaluated[step] = results
        return results

    return evaluate


def predict(
    task: Task,
    config: FineTuningConfig,
    trainer: Trainer,
    split: Split,
    purpose: str,
    label: str,
) -> Batches:
    """Returns the batches of a split with the model's outputs.

    Args:
        task: the task.
        config: the flags.
        trainer: the model.
        split: the split.
        purpose: "eval" or "predict", which selects the batch size.
        label: text of the progress bar.
    """
    size = config.batch_size_of(purpose)
    dataset = split.create_dataset(size, config.unpads)
    num_batches = -(-split.num_records // size)
    batches = trainer.predict(dataset, num_batches, label)
    return task.pool(split, batches)
