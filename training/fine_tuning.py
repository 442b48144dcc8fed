"""Runs a fine-tuning script: trains, evaluates, predicts and exports.

This module does not depend on the task. A script passes its `Task` (task.py).
"""

import functools
import os
from collections.abc import Iterator
from typing import Any

import numpy as np
from absl import logging

import modeling
from data.io import tfrecords
from training import checks, exports, fingerprints, start
from training.callbacks.best_step import BestStep, sign_of
from training.callbacks.distillation import Teacher
from training.config import FineTuningConfig
from training.prediction import LossFigures
from training.results import ResultFiles
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
    config = flow.config
    # If the command writes predictions for a dev set, it also writes their
    # scores to eval_results.txt.
    is_scored = {*task.splits["eval"]} & {*flow.splits.of("predict")}
    others = ["eval_results.txt"] if is_scored else []
    files = ResultFiles(config.output_dir, others)
    with tfrecords.naming_wrong_records(flow.splits.records.values()):
        # ----- Train, once or several times, and evaluate. -----
        trainer, results = flow.train()
        if results:
            for name, batches in flow.predict(trainer, "eval", "Tuning"):
                results = results | _suffixed(task.tune(name, batches), name)
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
            trainer.summary.add_predictions(files.find_written())
        if config.export_dir:
            exports.export(task, trainer, flow.splits, results)
        trainer.finish()


class _Flow:
    """Trains, evaluates and predicts one task, on behalf of `run`."""

    def __init__(self, task: Task, config: FineTuningConfig) -> None:
        self.members = checks.find_members(config)
        if self.members:
            config = config.varied(init_checkpoint=self.members[0])
        bert_config, models = checks.prepare(task, config)
        self.task, self.config = task, config
        teacher = None
        if config.do_train and config.teacher:
            teacher = Teacher(
                config, task.create_model, task.loss, task.output_names
            )
        self.splits = Splits(task, config, bert_config)
        self.metric = config.metric_for_best or task.metrics[0]
        # {(folder of a run, step): results} of all evaluations so far.
        self.evaluated: dict[tuple[str, int], dict[str, float]] = {}
        training: dict[str, Any] = {}
        if config.do_train:
            training = self._describe_training(teacher)
        else:
            training["settings"] = models[0].settings
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
        self.steps_per_epoch = max(num_examples // config.batch_sizes.final, 1)
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
        if teacher and not config.distill_layers:
            # Compare these settings with model.json before the teacher computes
            # its outputs, which is slow. Opening a run checks all settings.
            for variant in self._variants():
                variant.open_run().check(variant, settings, are_all=False)
            records = splits.records["train"] = teacher.add_outputs(records)
        return {
            "num_steps": num_steps,
            "records": records,
            "settings": settings,
        }

    def _train(self, config: FineTuningConfig) -> Trainer:
        """Opens a run, and trains its model if --do_train is set."""
        callbacks: list[BestStep] = []
        if config.keeps_best:
            callbacks.append(
                BestStep(
                    lambda trainer: self._evaluate(trainer, trainer.step),
                    self.steps_per_epoch,
                    self.metric,
                    config.open_run().best,
                    config.early_stopping_patience,
                )
            )
        trainer = self.setup.open(config, callbacks)
        self.setup.train(trainer)
        if callbacks and callbacks[0].is_of_run and config.load_best:
            trainer.restore_best()
        return trainer

    def _variants(self) -> list[FineTuningConfig]:
        """Returns the configuration of each of the --num_train_runs runs."""
        if self.config.num_train_runs == 1 or not self.config.do_train:
            return [self.config]
        return [
            self.config.varied(
                output_dir=os.path.join(self.config.output_dir, f"run_{n}"),
                seed=self.config.seed + n - 1,
            )
            for n in range(1, self.config.num_train_runs + 1)
        ]

    def train(self) -> tuple[Trainer, dict[str, float]]:
        """Trains --num_train_runs times with different seeds, and evaluates.

        A single run writes to --output_dir, and is evaluated only if --do_eval
        is set. Several runs are always evaluated. Run n writes to the folder
        `run_n` of --output_dir, uses the seed --seed + n - 1, and resumes like
        any run. The weights of the best run are also saved in --output_dir
        itself.

        Returns:
            the best run's Trainer and results. The results of several runs also
            contain `NAME_mean` and `NAME_deviation` (sample standard deviation
            over the runs) of each result NAME, and `best_run`, the number of
            the best run.
        """
        variants = self._variants()
        if len(variants) == 1:
            trainer = self._train(variants[0])
            results = self.evaluate(trainer) if self.config.do_eval else {}
            return trainer, results
        all_results = []
        for number, config in enumerate(variants, start=1):
            logging.info("***** Run %d of %d *****", number, len(variants))
            trainer = self._train(config)
            all_results.append(self.evaluate(trainer))
            trainer.write_results("eval_results.txt", all_results[-1])
            trainer.summary.write(trainer.global_step)
        values = np.array([each[self.metric] for each in all_results])
        values *= sign_of(self.metric)
        # Rank a NaN result below all others.
        best = int(np.argmax(np.nan_to_num(values, nan=-np.inf)))
        if best != len(all_results) - 1:
            trainer = self._train(variants[best])
        # From here on, write to --output_dir, not to the best run's folder.
        trainer.config = trainer.summary.config = self.config
        trainer.run = self.config.open_run()
        # In model.json, record the command's --seed, not the best run's.
        changed = {**trainer.summary.settings, "seed": self.config.seed}
        trainer.run.check(self.config, changed, are_all=False)
        trainer.run.write(trainer, trainer.run.path)
        trainer.save_weights(self.config.output_dir, trainer.global_step)
        results = all_results[best] | {"best_run": best + 1}
        for name in all_results[0].keys() - {"global_step"}:
            column = [each[name] for each in all_results]
            results[f"{name}_mean"] = float(np.mean(column))
            results[f"{name}_deviation"] = float(np.std(column, ddof=1))
        return trainer, results

    def evaluate(self, trainer: Trainer) -> dict[str, float]:
        """Returns the scores of a trainer's weights on the dev splits.

        If training already evaluated these weights, returns those scores.
        """
        key = trainer.config.output_dir, trainer.global_step
        if key in self.evaluated:
            logging.info("Already evaluated: %s", trainer.described_step)
            return self.evaluated[key]
        logging.info("Evaluating %s", self.describe(trainer))
        results = self._evaluate(trainer, trainer.global_step)
        trainer.history.add("eval", trainer.global_step, results)
        return results

    def describe(self, trainer: Trainer) -> str:
        """Returns a description of the weights in use, for the log."""
        if self.members:
            return f"an ensemble of {len(self.members)} models"
        return trainer.described_step

    def _identity(self, step: int) -> dict[str, float]:
        """Returns {"global_step": step}, an entry of the results.

        With --ensemble, returns {"ensemble_size": number of models} instead.
        """
        if self.members:
            return {"ensemble_size": len(self.members)}
        return {"global_step": step}

    def predict(
        self, trainer: Trainer, purpose: str, label: str
    ) -> Iterator[tuple[str, Batches]]:
        """Yields (name of a split, its batches with the model's outputs).

        `purpose` is "eval" or "predict", and selects the splits. `label` is the
        text of the progress bar.
        """
        size = getattr(self.config, f"{purpose}_batch_size")
        for name in self.splits.of(purpose):
            yield name, self._predict_split(trainer, name, size, label)

    def _predict_split(
        self, trainer: Trainer, name: str, batch_size: int, label: str
    ) -> Batches:
        """Yields the batches of a split, each with the model's outputs.

        The members of an ensemble are loaded into the model one after the
        other. The outputs of all members but the last stay in memory.
        """
        task = self.task
        earlier: list[list[Any]] = []
        for member in self.members or [""]:
            if member:
                logging.info("Predicting with the ensemble's model %s", member)
                report = modeling.load_checkpoint(
                    trainer.model, member, labels=task.output_names
                )
                if missing := report.missing:
                    raise ValueError(
                        f"--ensemble: {member} contains no {missing[0]}, a "
                        "weight of this task's model; choose models that were "
                        "fine-tuned on this task"
                    )
            batches = task.pool(
                name,
                trainer.predict(
                    self.splits.create_dataset(name, batch_size),
                    -(-self.splits.num_records[name] // batch_size),
                    label,
                ),
            )
            if len(earlier) + 1 < len(self.members):
                earlier.append([outputs for _, outputs in batches])
        for number, (features, outputs) in enumerate(batches):
            if earlier:
                outputs = [each[number] for each in earlier] + [outputs]
                outputs = task.combine(outputs)
            yield features, outputs

    def _evaluate(self, trainer: Trainer, step: int) -> dict[str, float]:
        results = self._identity(step)
        for name, batches in self.predict(trainer, "eval", "Evaluating"):
            if self.task.has_eval_loss:
                passing = LossFigures(self.task.loss, batches)
                scores = self.task.evaluate(name, passing) | passing.figures()
            else:
                scores = self.task.evaluate(name, batches)
            results |= _suffixed(scores, name)
        self.evaluated[trainer.config.output_dir, step] = results
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
            scores |= self._identity(step)
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
