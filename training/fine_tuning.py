"""Runs a fine-tuning script: trains, evaluates, predicts and exports.

This module does not depend on the task. A script passes its `Task` (task.py).
"""

import functools
from collections.abc import Iterator
from typing import Any

from absl import logging

from data.io import tfrecords
from training import checks, exports, fingerprints, start
from training.callbacks.best_step import BestStep
from training.config import FineTuningConfig
from training.distillation import Teacher
from training.prediction import LossFigures
from training.splits import Splits, suffix_of
from training.task import Batches, Task
from training.trainer import Trainer


def run(task: Task, config: FineTuningConfig) -> None:
    """Trains, evaluates, predicts and exports a task, depending on the flags.

    Raises:
        ValueError: a flag contradicts another flag or a file.
        OSError: a file is missing or cannot be written.
    """
    # ----- Check the flags and files, then write the records. -----
    flow = _Flow(task, config)
    with tfrecords.naming_wrong_records(flow.splits.records.values()):
        # ----- Train and evaluate. -----
        trainer = flow.train()
        results: dict[str, float] = {}
        if config.do_eval:
            results = flow.evaluate(trainer)
            trainer.write_results("eval_results.txt", results)
        if not trainer.is_chief:
            # Only the chief writes files.
            return
        # ----- Report, predict and export. -----
        if config.do_eval:
            for name, batches in flow.predict(trainer, "eval", "Reporting"):
                task.write_report(name, batches, config.output_dir)
        if config.do_predict:
            logging.info("Predicting with %s", trainer.described_step)
            results = flow.write_predictions(trainer, results)
        if config.export_dir:
            exports.export(task, trainer, flow.splits, results)
        trainer.finish()


class _Flow:
    """Trains, evaluates and predicts one task, on behalf of `run`."""

    def __init__(self, task: Task, config: FineTuningConfig) -> None:
        bert_config, folder = checks.prepare(task, config)
        self.task, self.config = task, config
        teacher = None
        if config.do_train and config.teacher:
            teacher = Teacher(
                config, task.create_model, task.loss, task.output_names
            )
        self.splits = Splits(task, config, bert_config)
        # {step: results} of all evaluations so far.
        self.evaluated: dict[int, dict[str, float]] = {}
        training: dict[str, Any] = {}
        if config.do_train:
            training = self._describe_training(teacher)
        elif folder:
            training["settings"] = folder.training
        self.setup = start.RunSetup(
            create_model=functools.partial(
                task.create_model, bert_config, **config.network
            ),
            loss=task.train_loss or task.loss,
            shape=(config.max_seq_length * task.sequences_per_example, 0),
            data=self.splits.describe(),
            teacher=teacher,
            tokenizer=getattr(task, "tokenizer", None),
            labels=task.labels,
            output_names=task.output_names,
            **training,
        )

    def _describe_training(self, teacher: Teacher | None) -> dict[str, Any]:
        """Returns the fields of RunSetup that only training needs."""
        task, config, splits = self.task, self.config, self.splits
        records = splits.records["train"]
        num_examples = splits.num_records["train"]
        self.steps_per_epoch = max(num_examples // config.batch_size, 1)
        if task.counts_examples:
            num_examples = splits.num_examples["train"]
        num_steps = config.num_steps(num_examples)
        settings = {
            **task.settings,
            **{name: True for name, is_on in config.network.items() if is_on},
            "train_records": fingerprints.fingerprint(records.files),
            # Reading the complete records for their checksums is fast. This run
            # has just written them, so they are in the system's file cache.
            "train_records_checksum": fingerprints.checksums(records.files),
        }
        if tokenizer := getattr(task, "tokenizer", None):
            settings["tokenizer"] = tokenizer.identity
        if teacher:
            settings |= teacher.settings
        return {
            "num_steps": num_steps,
            "records": records,
            "settings": settings,
        }

    def train(self) -> Trainer:
        """Opens the run, and trains its model if --do_train is set."""
        config = self.config
        trainer = self.setup.open(config)
        if not config.keeps_best:
            self.setup.train(trainer)
            return trainer
        best = BestStep(
            trainer,
            lambda trainer: self._evaluate(trainer, trainer.step),
            self.steps_per_epoch,
            config.metric_for_best or self.task.metrics[0],
            config.early_stopping_patience,
        )
        self.setup.train(trainer, [best])
        if best.is_of_run and config.load_best:
            trainer.restore_best()
        return trainer

    def evaluate(self, trainer: Trainer) -> dict[str, float]:
        """Returns the scores of a trainer's weights on the dev splits.

        If training already evaluated these weights, returns those scores.
        """
        if trainer.global_step in self.evaluated:
            logging.info("Already evaluated: %s", trainer.described_step)
            return self.evaluated[trainer.global_step]
        logging.info("Evaluating %s", trainer.described_step)
        results = self._evaluate(trainer, trainer.global_step)
        trainer.history.add("eval", trainer.global_step, results)
        return results

    def predict(
        self, trainer: Trainer, purpose: str, label: str
    ) -> Iterator[tuple[str, Batches]]:
        """Yields (name of a split, its batches with the model's outputs).

        `purpose` is "eval" or "predict", and selects the splits. `label` is the
        text of the progress bar.
        """
        size = self.config.batch_size_of(purpose)
        for name in self.splits.of(purpose):
            batches = trainer.predict(
                self.splits.create_dataset(name, size),
                -(-self.splits.num_records[name] // size),
                label,
            )
            yield name, self.task.pool(name, batches)

    def _evaluate(self, trainer: Trainer, step: int) -> dict[str, float]:
        results: dict[str, float] = {"global_step": step}
        for name, batches in self.predict(trainer, "eval", "Evaluating"):
            if self.task.has_eval_loss:
                passing = LossFigures(self.task.loss, batches)
                scores = self.task.evaluate(name, passing) | passing.figures()
            else:
                scores = self.task.evaluate(name, batches)
            results |= _suffixed(scores, name)
        self.evaluated[step] = results
        return results

    def write_predictions(
        self, trainer: Trainer, results: dict[str, float]
    ) -> dict[str, float]:
        """Writes the predictions, and the scores of splits with known labels.

        Returns `results` (the scores of the evaluation), updated with the new
        scores if predictions were written for a dev set.
        """
        config, step = self.config, trainer.global_step
        for name, batches in self.predict(trainer, "predict", "Predicting"):
            scores = self.task.write_predictions(
                name, batches, config.output_dir
            )
            if not scores:
                continue
            scores["global_step"] = step
            if name in self.task.splits["eval"]:
                results = results | scores
                trainer.write_results("eval_results.txt", results)
                trainer.history.add("eval", step, scores)
            else:
                trainer.write_results(
                    f"test_eval_results{suffix_of(name)}.txt", scores
                )
        return results


def _suffixed(scores: dict[str, float], split: str) -> dict[str, float]:
    return {f"{name}{suffix_of(split)}": scores[name] for name in scores}
