"""Runs a fine-tuning script: trains, evaluates, predicts and exports.

This module does not depend on the task. A script passes its `Task` (task.py).
"""

import datetime
import functools
import os
import time
from collections.abc import Callable, Iterator, Mapping

from absl import logging

from data.io import tfrecords
from modeling import descriptions
from modeling.presets import Preset
from modeling.results import never_found
from training import checks, devices, exporting, run_folder
from training.callbacks import Callback
from training.callbacks.best_step import BestStep
from training.distillation import load_teacher
from training.fine_tuning_config import FineTuningConfig
from training.fingerprints import describe_start, fingerprint
from training.prediction import LossFigures
from training.splits import (
    Split,
    describe_data,
    dev_set_checksum,
    names_of,
    suffix_of,
    write_splits,
)
from training.task import Batches, Task
from training.trainer import Trainer

Splits = Mapping[str, Split]
Scores = dict[str, float]


def run(
    task: Task,
    config: FineTuningConfig,
    preset: Preset | None,
) -> None:
    """Trains, evaluates, predicts and exports a task, depending on the flags.

    Args:
        task: the task.
        config: the flags, as `resolve` completed them.
        preset: result of `read_preset`, None for random weights.

    Raises:
        ValueError: a flag contradicts another flag or a file.
        OSError: a file is missing or cannot be written.
    """
    start = time.time()
    ##### Checks, before any slow work #####
    # Connect the workers before TensorFlow uses a device.
    devices.strategy_of(config)
    bert_config = checks.check(config, preset)
    checks.check_task(task, config, preset, bert_config)
    teacher = num_steps = None
    if config.do_train and config.teacher:
        teacher = load_teacher(
            config,
            bert_config,
            task.tokenizer,
            task.create_model,
            task.output_names,
            task.settings.get("output_mode"),
        )

    ##### Records #####
    splits = write_splits(task, config, bert_config)
    train_set = splits.get("train")

    ##### Weights (for their order, see `restore_or_load`) #####
    settings = preset.training if preset else {}
    if train_set:
        num_steps = config.num_steps(
            train_set.num_examples
            if task.counts_examples
            else train_set.num_records
        )
        settings = run_folder.check_resumed(
            config,
            preset,
            describe_start(config, preset, bert_config, task.tokenizer)
            | {**task.settings}
            | {"train_records": fingerprint(train_set.records.files)}
            | {"data": describe_data(config, splits)},
        )
    trainer = Trainer.create(
        config,
        functools.partial(task.create_model, bert_config, **config.network),
        task.loss,
        num_steps,
        teacher,
        settings=settings,
        dev_set=dev_set_checksum(task, splits),
        tokenizer=task.tokenizer,
        output_names=task.output_names,
    )
    trainer.restore_or_load(config.load_best)

    records = [split.records for split in splits.values()]
    with tfrecords.naming_wrong_records(records):
        ##### Train #####
        evaluate = create_evaluation(task, splits)
        if train_set and num_steps:
            callbacks: list[Callback] = []
            if config.keeps_best:
                best = BestStep(
                    trainer,
                    evaluate,
                    max(train_set.num_records // config.batch_size, 1),
                    config.metric_for_best or task.metrics[0],
                    config.early_stopping_patience,
                )
                callbacks.append(best)
            trainer.fit(
                train_set.records,
                num_steps[0],
                callbacks,
                config.num_train_epochs,
            )
            if config.keeps_best and config.load_best:
                trainer.restore_best()

        ##### Evaluate #####
        results: Scores = {}
        if config.do_eval:
            logging.info("Evaluating %s", trainer.described_step)
            results = evaluate(trainer)
            trainer.history.add("eval", trainer.global_step, results)
            trainer.write_results("eval_results.txt", results)
        if not trainer.is_chief:
            # Only the chief writes files.
            return
        if config.do_eval:
            found = predict(task, trainer, splits, "eval", "Reporting")
            for name, batches in found:
                task.write_report(name, batches, config.output_dir)

        ##### Predict #####
        if config.do_predict:
            logging.info("Predicting with %s", trainer.described_step)
            found = predict(task, trainer, splits, "predict", "Predicting")
            for name, batches in found:
                scores = task.write_predictions(
                    name, batches, config.output_dir
                )
                if not scores:
                    # The right answers are unknown.
                    continue
                scores["global_step"] = trainer.global_step
                file = f"test_eval_results{suffix_of(name)}.txt"
                if name in task.splits["eval"]:
                    # SQuAD predicts the dev set.
                    file, results = "eval_results.txt", results | scores
                    trainer.history.add("eval", trainer.global_step, scores)
                    scores = results
                trainer.write_results(file, scores)

        ##### Export #####
        if config.export_dir:
            exporting.export_task(task, trainer, splits, results)
        trainer.finish()
        describe_end(trainer, task, results, time.time() - start)


def describe_end(
    trainer: Trainer, task: Task, results: Scores, seconds: float
) -> None:
    """Writes the card, and logs the score, files and how to ask the model."""
    config, metric, lines = trainer.config, task.metrics[0], []
    export, table = config.export_dir, vars(config).get("data_file")
    settings = {**task.settings, "name": config.head}
    commands = descriptions.format_commands(settings, export, table)
    # The card contains no names of folders.
    name = export and os.path.basename(export.rstrip("/"))
    if export == f"{config.output_dir.rstrip('/')}_model":
        name = "FOLDER_model"
    trainer.write_card(export=name, table=table and os.path.basename(table))
    if metric in results:
        lines.append(f"{metric} on the dev set: {results[metric]:.4f}")
    if config.do_train and (missing := never_found(results)):
        logging.warning(
            "The model finds no example of %s in the dev set. Add examples, or "
            "set another --output_dir, --learning_rate=%g and "
            "--num_train_epochs=%g.",
            ", ".join(missing),
            *(2 * config.learning_rate, 2 * config.num_train_epochs),
        )
    names = "report.html dev_predictions.csv dev_predictions.jsonl"
    for name in (*names.split(), "predictions.csv", "predictions.jsonl"):
        path = os.path.join(config.output_dir, name)
        lines += [path] * os.path.isfile(path)
    lines += commands
    duration = datetime.timedelta(seconds=round(seconds))
    logging.info("Done in %s\n  %s", duration, "\n  ".join(lines))


def create_evaluation(
    task: Task, splits: Splits
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
        found = predict(task, trainer, splits, "eval", "Evaluating")
        for name, batches in found:
            if task.eval_loss:
                passing = LossFigures(task.eval_loss, batches)
                scores = task.evaluate(name, passing) | passing.figures()
            else:
                scores = task.evaluate(name, batches)
            results |= {f"{k}{suffix_of(name)}": scores[k] for k in scores}
        evaluated[step] = results
        return results

    return evaluate


def predict(
    task: Task, trainer: Trainer, splits: Splits, purpose: str, label: str
) -> Iterator[tuple[str, Batches]]:
    """Yields (name of a split, its batches with the model's outputs).

    `purpose` is "eval" or "predict", and selects the splits. `label` is the
    text of the progress bar.
    """
    config = trainer.config
    size = config.batch_size_of(purpose)
    for name in names_of(task, splits, purpose):
        split = splits[name]
        dataset = split.create_dataset(size, config.unpads)
        num_batches = -(-split.num_records // size)
        yield (
            name,
            task.pool(name, trainer.predict(dataset, num_batches, label)),
        )
