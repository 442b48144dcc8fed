"""Runs a fine-tuning script: trains, evaluates, predicts and exports.

This module does not depend on the task. A script passes its `Task` (task.py).
"""

import functools
import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from absl import logging

from data.io import tfrecords
from training import (
    checks,
    ensembles,
    exports,
    fingerprints,
    model_checks,
    model_descriptions,
    start,
)
from training.callbacks.best_step import BestStep, sign_of
from training.callbacks.distillation import Teacher
from training.config import FineTuningConfig
from training.prediction import LossFigures
from training.run_folder import find_results, warn_of_earlier
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
    members = ensembles.find_members(config)
    if members:
        config = config.varied(init_checkpoint=members[0])
    flow = _Flow(task, config, members)
    earlier = flow.find_results()
    with tfrecords.naming_wrong_records(flow.splits.records.values()):
        # ----- Train, once or several times, and evaluate. -----
        if config.do_train and config.num_train_runs > 1:
            trainer, results = flow.train_several()
        else:
            trainer = flow.train(config)
            results = flow.evaluate(trainer) if config.do_eval else {}
        if results:
            results = flow.tune(trainer, results)
            trainer.write_results("eval_results.txt", results)
        if not trainer.is_chief:
            # Only the chief writes files.
            return
        # ----- Report, predict and export. -----
        if config.do_eval:
            for name, batches in flow.predict(trainer, "eval", "Reporting"):
                task.write_report(name, batches, config.output_dir)
        if config.do_predict:
            logging.info("Predicting with %s", flow.describe(trainer))
            results = flow.write_predictions(trainer, results)
            found = flow.find_results()
            warn_of_earlier(config.output_dir, earlier, found)
            trainer.summary.add_predictions(
                dict(found.items() - earlier.items())
            )
        if config.export_dir:
            exports.export(task, trainer, flow.splits, results)
        trainer.finish(task.tokenizer, task.labels)


class _Flow:
    """The steps of `run`: training, evaluation and prediction of one task."""

    def __init__(
        self, task: Task, config: FineTuningConfig, members: Sequence[str]
    ) -> None:
        self.task, self.config, self.members = task, config, members
        self.bert_config = checks.prepare(task, config)
        self.teacher: Teacher | None = None
        if config.do_train and config.teacher:
            self.teacher = Teacher(
                config, task.create_model, task.loss, task.output_names
            )
        self.splits = Splits(task, config, self.bert_config)
        self.metric = config.metric_for_best or task.metrics[0]
        # {(folder of a run, step): results} of all evaluations so far.
        self.evaluated: dict[tuple[str, int], dict[str, float]] = {}
        self.num_steps: tuple[int, int] | None = None
        self.settings: dict[str, Any] = {}
        if config.do_train:
            self._plan_training()

    def _plan_training(self) -> None:
        """Computes the number of steps, and the settings for model.json."""
        task, config = self.task, self.config
        records = self.splits.records["train"]
        num_records = self.splits.num_records["train"]
        self.num_steps = config.num_steps(
            self.splits.num_examples["train"]
            if task.counts_examples
            else num_records
        )
        self.steps_per_epoch = max(num_records // config.batch_sizes.final, 1)
        self.settings = {
            **task.settings,
            **{name: True for name, is_on in config.network.items() if is_on},
            "train_records": fingerprints.fingerprint(records.files),
            # Reading the complete records for their checksums is fast. This run
            # has just written them, so they are in the system's file cache.
            "train_records_checksum": [
                checksum
                for *_, checksum in fingerprints.fingerprint(
                    records.files, whole=True
                )
            ],
        }
        if tokenizer := getattr(task, "tokenizer", None):
            self.settings["tokenizer"] = tokenizer.identity
        if self.teacher and not config.distill_layers:
            # Compare the settings before the teacher's long computation. Each
            # training compares all of them again.
            settings = self.settings | self.teacher.settings
            for variant in self._variants():
                model_checks.check_same(variant, settings, are_all=False)
            self.splits.records["train"] = self.teacher.add_outputs(records)

    def train(self, config: FineTuningConfig) -> Trainer:
        """Creates a Trainer, and trains its model if --do_train is set."""
        task = self.task
        callbacks: list[BestStep] = []
        if config.keeps_best:
            callbacks.append(
                BestStep(
                    lambda trainer: self._evaluate(trainer, trainer.step),
                    self.steps_per_epoch,
                    self.metric,
                    config.best_dir,
                    config.early_stopping_patience,
                )
            )
        trainer = start.create_trainer(
            config,
            functools.partial(
                task.create_model, self.bert_config, **config.network
            ),
            task.train_loss or task.loss,
            (config.max_seq_length * task.sequences_per_example, 0),
            self.num_steps,
            settings=self.settings,
            data=self.splits.describe(),
            teacher=self.teacher,
            records=self.splits.records.get("train"),
            more_callbacks=callbacks,
            tokenizer=getattr(task, "tokenizer", None),
            labels=task.labels,
            output_names=task.output_names,
        )
        if self.num_steps is None:
            return trainer
        start.train(trainer, self.splits.records["train"], self.num_steps[0])
        if callbacks and callbacks[0].is_of_run and config.load_best:
            trainer.restore_best()
        return trainer

    def _variants(self) -> list[FineTuningConfig]:
        """Returns one configuration for each of the --num_train_runs."""
        if self.config.num_train_runs == 1:
            return [self.config]
        return [
            self.config.varied(
                output_dir=os.path.join(self.config.output_dir, f"run_{n}"),
                seed=self.config.seed + n - 1,
            )
            for n in range(1, self.config.num_train_runs + 1)
        ]

    def train_several(self) -> tuple[Trainer, dict[str, float]]:
        """Trains --num_train_runs times with different seeds.

        Run number n writes to the folder `run_n` of --output_dir, uses the seed
        --seed + n - 1, and resumes like any other run. The weights of the best
        run are also saved in --output_dir itself.

        Returns:
            the best run's Trainer, and its results. For each result NAME, they
            include `NAME_mean` and `NAME_deviation` (the sample standard
            deviation) over the runs. `best_run` is the number of the best run.
        """
        variants = self._variants()
        all_results = []
        for number, config in enumerate(variants, start=1):
            logging.info("***** Run %d of %d *****", number, len(variants))
            trainer = self.train(config)
            all_results.append(self.evaluate(trainer))
            trainer.write_results("eval_results.txt", all_results[-1])
            trainer.write_summary()
        values = np.array([each[self.metric] for each in all_results])
        values *= sign_of(self.metric)
        # Rank a NaN result below all others.
        best = int(np.argmax(np.nan_to_num(values, nan=-np.inf)))
        if best != len(all_results) - 1:
            trainer = self.train(variants[best])
        # In summary.json, record --seed of the command, not of the best run.
        settings, changes = model_checks.check_same(
            self.config,
            {**trainer.summary.settings, "seed": self.config.seed},
            are_all=False,
        )
        model_descriptions.write(
            self.config.output_dir,
            model_descriptions.describe(
                self.config, trainer.model, settings, changes
            ),
            self.bert_config,
            getattr(self.task, "tokenizer", None),
            self.task.labels,
        )
        trainer.save_as(self.config)
        results = all_results[best] | {"best_run": best + 1}
        for name in all_results[0].keys() - {"global_step"}:
            column = [each[name] for each in all_results]
            results[f"{name}_mean"] = float(np.mean(column))
            results[f"{name}_deviation"] = float(np.std(column, ddof=1))
        return trainer, results

    def evaluate(self, trainer: Trainer) -> dict[str, float]:
        """Returns the scores of a trainer's weights on the splits to evaluate.

        If training already evaluated these weights, returns the same scores.
        """
        key = trainer.config.output_dir, trainer.global_step
        if key in self.evaluated:
            logging.info("Evaluated while training: %s", trainer.described_step)
            return self.evaluated[key]
        logging.info("Evaluating %s", self.describe(trainer))
        results = self._evaluate(trainer, trainer.global_step)
        trainer.history.add("eval", trainer.global_step, results)
        return results

    def tune(
        self, trainer: Trainer, results: dict[str, float]
    ) -> dict[str, float]:
        """Calls `Task.tune` on each dev set.

        Returns `results`, updated with the scores that `Task.tune` returned.
        """
        for name, batches in self.predict(trainer, "eval", "Tuning"):
            scores, suffix = self.task.tune(name, batches), suffix_of(name)
            results = results | {
                f"{key}{suffix}": scores[key] for key in scores
            }
        return results

    def describe(self, trainer: Trainer) -> str:
        """Returns a description of the weights in use, for the log."""
        if self.members:
            return f"an ensemble of {len(self.members)} models"
        return trainer.described_step

    def _identity(self, step: int) -> dict[str, float]:
        """Returns {"global_step": step}, or the size of the ensemble."""
        if self.members:
            return {"ensemble_size": len(self.members)}
        return {"global_step": step}

    def predict(
        self, trainer: Trainer, purpose: str, label: str
    ) -> Iterator[tuple[str, Batches]]:
        """Yields (name of a split, its batches with the model's outputs).

        Args:
            trainer: the Trainer whose model predicts.
            purpose: "eval" or "predict", which selects the splits.
            label: text of the progress bar.
        """
        batch_size = getattr(self.config, f"{purpose}_batch_size")
        for name in self.splits.of(purpose):
            predict_once = functools.partial(
                self._predict_once, trainer, name, batch_size, label
            )
            yield (
                name,
                ensembles.predict_together(
                    trainer.model, self.members, self.task, predict_once
                ),
            )

    def _predict_once(
        self, trainer: Trainer, name: str, batch_size: int, label: str
    ) -> Batches:
        batches = trainer.predict(
            self.splits.create_dataset(name, batch_size),
            -(-self.splits.num_records[name] // batch_size),
            label,
        )
        return self.task.pool(name, batches)

    def _evaluate(self, trainer: Trainer, step: int) -> dict[str, float]:
        results = self._identity(step)
        for name, batches in self.predict(trainer, "eval", "Evaluating"):
            if self.task.has_eval_loss:
                passing = LossFigures(self.task.loss, batches)
                scores = self.task.evaluate(name, passing) | passing.figures()
            else:
                scores = self.task.evaluate(name, batches)
            suffix = suffix_of(name)
            trainer.history.add_samples(
                step, f"samples{suffix}", self.task.samples
            )
            results |= {f"{key}{suffix}": scores[key] for key in scores}
        self.evaluated[trainer.config.output_dir, step] = results
        return results

    def write_predictions(
        self, trainer: Trainer, results: dict[str, float]
    ) -> dict[str, float]:
        """Writes the predictions, and the scores of splits with known labels.

        Args:
            trainer: the Trainer whose model predicts.
            results: the scores of the evaluation, {} without an evaluation.

        Returns:
            `results`, updated with the scores if the dev set was predicted.
        """
        config, step = self.config, trainer.global_step
        for name, batches in self.predict(trainer, "predict", "Predicting"):
            scores = self.task.write_predictions(
                name, batches, config.output_dir
            )
            if not scores:
                continue
            scores |= self._identity(step)
            if name in self.task.splits["eval"]:
                results = results | scores
                trainer.write_results("eval_results.txt", results)
                trainer.history.add_samples(
                    step, f"samples{suffix_of(name)}", self.task.samples
                )
                trainer.history.add("eval", step, scores)
            else:
                trainer.write_results(
                    f"test_eval_results{suffix_of(name)}.txt", scores
                )
        return results

    def find_results(self) -> dict[str, tuple[int, int]]:
        """Finds the existing result files that predictions may replace.

        See `run_folder.find_results` for the form of the result.
        """
        evaluated = {*self.task.splits["eval"]}
        is_scored = not evaluated.isdisjoint(self.splits.of("predict"))
        others = ("eval_results.txt",) if is_scored else ()
        return find_results(self.config.output_dir, others)
