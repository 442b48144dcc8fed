"""The one driver of the fine-tuning scripts; see `run`.

Nothing here names a task: a script gives its `Task` (task.py).
"""

import functools
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from absl import logging

import modeling
from training import metrics
from training.options import FineTuningOptions
from training.outputs import run_settings
from training.steps import building, distillation, runner
from training.tasks import ensembles, preparation
from training.tasks.earlier_results import EarlierResults
from training.tasks.splits import Splits, suffix_of
from training.tasks.task import Batches, Task


def run(task: Task, options: FineTuningOptions) -> None:
    """Trains, evaluates, predicts and exports a task as the options say.

    Raises:
        ValueError: an option contradicts another, or a file.
        OSError: a file is missing, or cannot be written.
    """
    members = ensembles.find_members(options)
    if members:
        options = options.varied(init_checkpoint=members[0])
    driver = _Driver(task, options, members)
    earlier = EarlierResults(options.output_dir, driver.files_of_scores())
    if options.do_train and options.num_train_runs > 1:
        trained, results = driver.train_several()
    else:
        trained = driver.train(options)
        if options.quantizes:
            driver.quantize(trained)
        results = driver.evaluate(trained) if options.do_eval else {}
    if results:
        trained.write_results("eval_results.txt", results)
    if not trained.is_chief:
        # Only the chief writes.
        return
    if options.do_eval and task.writes_report:
        driver.write_reports(trained)
    if options.do_predict:
        logging.info("Predicting with %s", driver.describe(trained))
        driver.predict(trained, results)
        earlier.warn()
    if options.export_dir:
        logging.info("Exporting %s", trained.described_step)
        task.export(options.export_dir, trained.model)
    trained.finish()


class _Driver:
    """The steps of `run`, over one task and its splits."""

    def __init__(
        self, task: Task, options: FineTuningOptions, members: Sequence[str]
    ) -> None:
        self.task, self.options, self.members = task, options, members
        self.config = preparation.prepare(task, options)
        self.teacher: distillation.Teacher | None = None
        if options.do_train and options.teacher:
            self.teacher = distillation.Teacher(
                options, task.create_model, task.loss, task.labels
            )
        self.splits = Splits(task, options)
        self.metric = options.metric_for_best or task.metrics[0]
        self.is_loss = self.metric.startswith("eval_loss")
        # Results of evaluations so far, by folder and step.
        self.evaluated: dict[tuple[str, int], dict[str, float]] = {}
        self.steps: tuple[int | None, int] = None, 0
        self.settings: dict[str, Any] = {}
        if options.do_train:
            num_records = self.splits.num_records["train"]
            self.steps = options.num_steps(
                task.num_train_examples(
                    self.splits.num_examples["train"], num_records
                )
            )
            self.steps_per_epoch = max(num_records // options.batch_size, 1)
            self.settings = {
                **task.settings,
                **{name: True for name, on in options.network.items() if on},
                "train_records": run_settings.fingerprint(
                    self.splits.files("train")
                ),
            }
            if self.teacher and not options.distill_layers:
                # Before the long computation; the run itself checks them all.
                for variant in self._variants():
                    run_settings.check_some(
                        variant.output_dir,
                        self.settings | self.teacher.settings,
                    )
                self.splits.add_teacher(self.teacher)

    def train(self, options: FineTuningOptions) -> runner.Run:
        """Returns a run, trained if the options say so."""
        num_train_steps, num_warmup_steps = self.steps
        run = runner.Run(
            options,
            building.Plan(
                create_model=functools.partial(
                    self.task.create_model, self.config, **self.options.network
                ),
                loss=self.task.train_loss or self.task.loss,
                num_train_steps=num_train_steps,
                num_warmup_steps=num_warmup_steps,
                # WordPieces of one example.
                max_seq_length=options.max_seq_length
                * self.task.sequences_per_example,
                settings=self.settings,
                teacher=self.teacher,
            ),
            restores_best=options.load_best and not options.do_train,
        )
        if not options.do_train:
            return run
        evaluation = None
        folders: set[str | Path] = {self.options.output_dir, options.output_dir}
        if run.averages:
            folders.add(run.averages_dir)
        if options.evaluates_while_training:
            # `best` is a model folder of its own.
            folders.add(run.best_dir)
            evaluation = run.create_evaluation(
                lambda: self._evaluate(run, run.trainer.step),
                self.steps_per_epoch,
                self.metric,
                patience=options.early_stopping_patience,
                higher_is_better=not self.is_loss,
            )
        if self.task.labels and run.is_chief:
            for folder in folders:
                modeling.save_labels(folder, self.task.labels)
        run.train(
            functools.partial(
                self.splits.create_dataset, "train", seed=options.seed
            ),
            functools.partial(self.splits.describe_batch, options.seed),
            evaluation,
        )
        if evaluation and options.load_best:
            run.restore_best()
        return run

    def _variants(self) -> list[FineTuningOptions]:
        """Returns the options of each training."""
        if self.options.num_train_runs == 1:
            return [self.options]
        return [
            self.options.varied(
                output_dir=os.path.join(self.options.output_dir, f"run_{n}"),
                seed=self.options.seed + n - 1,
            )
            for n in range(1, self.options.num_train_runs + 1)
        ]

    def train_several(self) -> tuple[runner.Run, dict[str, float]]:
        """Trains --num_train_runs times with different seeds.

        Run number n has the folder `run_n` of --output_dir and the seed
        --seed + n - 1, and resumes like any other run. The best one's weights
        are put into --output_dir itself.

        Returns:
            the best runner.Run, and its figures, each with `NAME_mean` and
            `NAME_deviation` (of the sample) over the runs, and `best_run`.
        """
        variants = self._variants()
        results = []
        for number, options in enumerate(variants, start=1):
            logging.info("***** Run %d of %d *****", number, len(variants))
            run = self.train(options)
            results.append(self.evaluate(run))
            run.write_results("eval_results.txt", results[-1])
            run.write_summary()
        best = self._best_of(results)
        if best != len(results) - 1:
            run = self.train(variants[best])
        run.save_as(self.options)
        summary = results[best] | {"best_run": best + 1}
        for name in results[0].keys() - {"global_step"}:
            figures = [figures[name] for figures in results]
            summary[f"{name}_mean"] = float(np.mean(figures))
            summary[f"{name}_deviation"] = float(np.std(figures, ddof=1))
        return run, summary

    def _best_of(self, results: Sequence[Mapping[str, float]]) -> int:
        """Returns the index of the best of several figures.

        NaN counts as the worst.
        """
        sign = -1 if self.is_loss else 1
        values = sign * np.array([figures[self.metric] for figures in results])
        return int(np.argmax(np.nan_to_num(values, nan=-np.inf)))

    def quantize(self, run: runner.Run) -> None:
        """Switches a run's model to --quantize."""
        (name, *_) = self.splits.of("eval")
        run.trainer.quantize(
            self.splits.create_dataset(name, self.options.eval_batch_size),
            self.options.quantize_ranges == "static",
        )

    def evaluate(self, run: runner.Run) -> dict[str, float]:
        """Returns the figures of a run's weights on all splits to evaluate.

        Reuses the figures of the same step from training.
        """
        key = run.options.output_dir, run.global_step
        if key in self.evaluated:
            logging.info("Evaluated while training: %s", run.described_step)
            return self.evaluated[key]
        logging.info("Evaluating %s", self.describe(run))
        results = self._evaluate(run, run.global_step)
        run.history.add("eval", run.global_step, results)
        return results

    def describe(self, run: runner.Run) -> str:
        """Describes the weights, for the log."""
        if self.members:
            return f"an ensemble of {len(self.members)} models"
        return run.described_step

    def _identity(self, step: int) -> dict[str, float]:
        """Returns what identifies the weights: the step or ensemble size."""
        if self.members:
            return {"ensemble_size": len(self.members)}
        return {"global_step": step}

    def _predict(
        self, run: runner.Run, name: str, batch_size: int, label: str
    ) -> Batches:
        predict_one = functools.partial(
            predict, run, self.splits, name, batch_size, label
        )
        if not self.members:
            return predict_one()
        return ensembles.predict(
            run.model, self.members, self.task, predict_one
        )

    def _evaluate(self, run: runner.Run, step: int) -> dict[str, float]:
        results = self._identity(step)
        for name in self.splits.of("eval"):
            batches = self._predict(
                run, name, self.options.eval_batch_size, "Evaluating"
            )
            if self.task.has_eval_loss:
                passing = metrics.LossFigures(self.task.loss, batches)
                figures = self.task.evaluate(name, passing) | passing.figures()
            else:
                figures = self.task.evaluate(name, batches)
            suffix = suffix_of(name)
            self._show_samples(run, step, name)
            results |= {f"{key}{suffix}": figures[key] for key in figures}
        self.evaluated[run.options.output_dir, step] = results
        return results

    def _show_samples(self, run: runner.Run, step: int, name: str) -> None:
        tag = f"samples{suffix_of(name)}"
        run.history.add_samples(step, tag, self.task.samples)

    def write_reports(self, run: runner.Run) -> None:
        """Writes the task's reports on the evaluated splits."""
        options = self.options
        for name in self.splits.of("eval"):
            batches = self._predict(
                run, name, options.eval_batch_size, "Reporting"
            )
            self.task.write_report(name, batches, options.output_dir)

    def predict(self, run: runner.Run, results: dict[str, float]) -> None:
        """Writes the predictions, and their scores if any.

        Args:
            run: runner.Run.
            results: the figures of its evaluation, {} if there was none.
        """
        options = self.options
        for name in self.splits.of("predict"):
            scores = self.task.write_predictions(
                name,
                self._predict(
                    run, name, options.predict_batch_size, "Predicting"
                ),
                options.output_dir,
            )
            if not scores:
                continue
            scores |= self._identity(run.global_step)
            if name in self.task.splits("eval"):
                run.write_results("eval_results.txt", results | scores)
                self._show_samples(run, run.global_step, name)
                run.history.add("eval", run.global_step, scores)
            else:
                run.write_results(
                    f"test_eval_results{suffix_of(name)}.txt", scores
                )

    def files_of_scores(self) -> tuple[str, ...]:
        """Returns the files that predicting an evaluated split writes."""
        evaluated = {*self.task.splits("eval")}
        if evaluated.isdisjoint(self.splits.of("predict")):
            return ()
        return ("eval_results.txt",)


def predict(
    run: runner.Run,
    splits: Splits,
    name: str,
    batch_size: int,
    label: str = "Predicting",
) -> Batches:
    """Yields the batches of a split, each with the model's outputs.

    Args:
        run: the model's Run.
        splits: the task's Splits.
        name: of the split.
        batch_size: examples in a batch.
        label: text of the progress bar.
    """
    return run.trainer.predict(
        splits.create_dataset(name, batch_size),
        -(-splits.num_records[name] // batch_size),
        label,
    )
