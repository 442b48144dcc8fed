"""The one flow of the fine-tuning scripts; see `run`.

Nothing here names a task: a script passes its `Task` (task.py).
"""

import functools
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from absl import logging

import modeling
from files.run_files import is_result
from training import devices, run_settings, start
from training.callbacks.best_step import BestStep
from training.callbacks.distillation import Teacher
from training.checkpointing import checkpoint_steps
from training.config import FineTuningConfig
from training.input import Splits, suffix_of
from training.task import Batches, Task
from training.trainer import Trainer


def run(task: Task, config: FineTuningConfig) -> None:
    """Trains, evaluates, predicts and exports a task as the flags say.

    Raises:
        ValueError: a flag contradicts another, or a file.
        OSError: a file is missing, or cannot be written.
    """
    devices.pack_weights(config)
    # ----- Check the flags and files, then write the records. -----
    members = find_members(config)
    if members:
        config = config.varied(init_checkpoint=members[0])
    flow = _Flow(task, config, members)
    earlier = flow.find_results()
    # ----- Train, once or several times, and evaluate. -----
    if config.do_train and config.num_train_runs > 1:
        trainer, results = flow.train_several()
    else:
        trainer = flow.train(config)
        if config.quantizes:
            trainer.quantize(
                flow.splits.create_dataset(
                    flow.splits.of("eval")[0], config.eval_batch_size
                ),
                config.quantize_ranges == "static",
            )
        results = flow.evaluate(trainer) if config.do_eval else {}
    if results:
        trainer.write_results("eval_results.txt", results)
    if not trainer.is_chief:
        # Only the chief writes.
        return
    # ----- Report, predict and export. -----
    if config.do_eval:
        for name in flow.splits.of("eval"):
            batches = flow.predict(
                trainer, name, config.eval_batch_size, "Reporting"
            )
            task.write_report(name, batches, config.output_dir)
    if config.do_predict:
        logging.info("Predicting with %s", flow.describe(trainer))
        flow.write_predictions(trainer, results)
        warn_of_earlier(config.output_dir, earlier, flow.find_results())
    if config.export_dir:
        logging.info("Exporting %s", trainer.described_step)
        task.export(config.export_dir, trainer.model)
    trainer.finish(task.tokenizer)


class _Flow:
    """The steps of `run`, over one task and its splits."""

    def __init__(
        self, task: Task, config: FineTuningConfig, members: Sequence[str]
    ) -> None:
        self.task, self.config, self.members = task, config, members
        self.bert_config = prepare(task, config)
        self.teacher: Teacher | None = None
        if config.do_train and config.teacher:
            self.teacher = Teacher(
                config, task.create_model, task.loss, task.labels
            )
        self.splits = Splits(task, config)
        self.metric = config.metric_for_best or task.metrics[0]
        self.is_loss = self.metric.startswith("eval_loss")
        # Results of evaluations so far, by folder and step.
        self.evaluated: dict[tuple[str, int], dict[str, float]] = {}
        self.num_steps: tuple[int | None, int] = None, 0
        self.settings: dict[str, Any] = {}
        if config.do_train:
            self._plan_training()

    def _plan_training(self) -> None:
        """Finds the length of the training, and what a resume must keep."""
        task, config = self.task, self.config
        num_records = self.splits.num_records["train"]
        self.num_steps = config.num_steps(
            self.splits.num_examples["train"]
            if task.counts_examples
            else num_records
        )
        self.steps_per_epoch = max(num_records // config.batch_size, 1)
        self.settings = {
            **task.settings,
            **{name: True for name, is_on in config.network.items() if is_on},
            "train_records": run_settings.fingerprint(
                self.splits.files("train")
            ),
        }
        if self.teacher and not config.distill_layers:
            # Before the long computation; the run itself checks them all.
            settings = self.settings | self.teacher.settings
            for variant in self._variants():
                run_settings.check(variant.output_dir, settings, are_all=False)
            self.splits.add_teacher(self.teacher)

    def train(self, config: FineTuningConfig) -> Trainer:
        """Returns a trainer, which has trained if the flags say so."""
        task, callbacks = self.task, []
        if config.evaluates_while_training:
            callbacks.append(
                BestStep(
                    lambda trainer: self._evaluate(trainer, trainer.step),
                    self.steps_per_epoch,
                    self.metric,
                    Path(config.output_dir) / "best",
                    config.early_stopping_patience,
                    higher_is_better=not self.is_loss,
                )
            )
        trainer = start.create_trainer(
            config,
            functools.partial(
                task.create_model, self.bert_config, **config.network
            ),
            task.train_loss or task.loss,
            config.max_seq_length * task.sequences_per_example,
            *self.num_steps,
            settings=self.settings,
            teacher=self.teacher,
            describe_batch=functools.partial(
                self.splits.describe_batch, config.seed
            ),
            more_callbacks=callbacks,
            prefers_best=config.load_best and not config.do_train,
        )
        num_train_steps, _ = self.num_steps
        if num_train_steps is None:
            return trainer
        if task.labels and config.is_chief:
            # Each of these is a model folder of its own.
            folders = {self.config.output_dir, config.output_dir}
            if config.ema_decay:
                folders.add(os.path.join(config.output_dir, "averages"))
            if callbacks:
                folders.add(os.path.join(config.output_dir, "best"))
            for folder in folders:
                modeling.save_labels(folder, task.labels)
        trainer.fit(
            functools.partial(
                self.splits.create_dataset, "train", seed=config.seed
            ),
            num_train_steps,
        )
        if callbacks and config.load_best:
            trainer.restore_best()
        return trainer

    def _variants(self) -> list[FineTuningConfig]:
        """Returns the configuration of each training."""
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

        Run number n has the folder `run_n` of --output_dir and the seed
        --seed + n - 1, and resumes like any other run. The best one's weights
        are put into --output_dir itself.

        Returns:
            the best run's Trainer, and its results, each with `NAME_mean` and
            `NAME_deviation` (of the sample) over the runs, and `best_run`.
        """
        variants = self._variants()
        all_results = []
        for number, config in enumerate(variants, start=1):
            logging.info("***** Run %d of %d *****", number, len(variants))
            trainer = self.train(config)
            all_results.append(self.evaluate(trainer))
            trainer.write_results("eval_results.txt", all_results[-1])
            trainer.write_summary()
        sign = -1 if self.is_loss else 1
        values = sign * np.array([each[self.metric] for each in all_results])
        # NaN counts as the worst.
        best = int(np.argmax(np.nan_to_num(values, nan=-np.inf)))
        if best != len(all_results) - 1:
            trainer = self.train(variants[best])
        trainer.save_as(self.config)
        results = all_results[best] | {"best_run": best + 1}
        for name in all_results[0].keys() - {"global_step"}:
            column = [each[name] for each in all_results]
            results[f"{name}_mean"] = float(np.mean(column))
            results[f"{name}_deviation"] = float(np.std(column, ddof=1))
        return trainer, results

    def evaluate(self, trainer: Trainer) -> dict[str, float]:
        """Returns the scores of a run's weights on all splits to evaluate.

        Reuses the scores of the same step from training.
        """
        key = trainer.config.output_dir, trainer.global_step
        if key in self.evaluated:
            logging.info("Evaluated while training: %s", trainer.described_step)
            return self.evaluated[key]
        logging.info("Evaluating %s", self.describe(trainer))
        results = self._evaluate(trainer, trainer.global_step)
        trainer.history.add("eval", trainer.global_step, results)
        return results

    def describe(self, trainer: Trainer) -> str:
        """Describes the weights, for the log."""
        if self.members:
            return f"an ensemble of {len(self.members)} models"
        return trainer.described_step

    def _identity(self, step: int) -> dict[str, float]:
        """Returns what identifies the weights: the step or ensemble size."""
        if self.members:
            return {"ensemble_size": len(self.members)}
        return {"global_step": step}

    def predict(
        self, trainer: Trainer, name: str, batch_size: int, label: str
    ) -> Batches:
        """Returns the batches of a split, each with the model's outputs."""
        predict_one = functools.partial(
            predict, trainer, self.splits, name, batch_size, label
        )
        if not self.members:
            return predict_one()
        return predict_together(
            trainer.model, self.members, self.task, predict_one
        )

    def _evaluate(self, trainer: Trainer, step: int) -> dict[str, float]:
        results = self._identity(step)
        for name in self.splits.of("eval"):
            batches = self.predict(
                trainer, name, self.config.eval_batch_size, "Evaluating"
            )
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
    ) -> None:
        """Writes the predictions, and their scores if any.

        Args:
            trainer: the Trainer of the weights.
            results: the scores of its evaluation, {} if there was none.
        """
        config, step = self.config, trainer.global_step
        for name in self.splits.of("predict"):
            batches = self.predict(
                trainer, name, config.predict_batch_size, "Predicting"
            )
            scores = self.task.write_predictions(
                name, batches, config.output_dir
            )
            if not scores:
                continue
            scores |= self._identity(step)
            if name in self.task.splits["eval"]:
                trainer.write_results("eval_results.txt", results | scores)
                trainer.history.add_samples(
                    step, f"samples{suffix_of(name)}", self.task.samples
                )
                trainer.history.add("eval", step, scores)
            else:
                trainer.write_results(
                    f"test_eval_results{suffix_of(name)}.txt", scores
                )

    def find_results(self) -> dict[str, tuple[int, int]]:
        """Returns the results in the folder that predicting may replace."""
        evaluated = {*self.task.splits["eval"]}
        is_scored = not evaluated.isdisjoint(self.splits.of("predict"))
        others = ("eval_results.txt",) if is_scored else ()
        return find_results(self.config.output_dir, others)


def find_results(
    folder: str | os.PathLike[str], others: Sequence[str] = ()
) -> dict[str, tuple[int, int]]:
    """Returns {name: what a rewrite changes} of a folder's results.

    Args:
        folder: folder of a run.
        others: names of more files that count.
    """
    path = Path(folder)
    return {
        file.name: (file.stat().st_ino, file.stat().st_mtime_ns)
        for file in (path.iterdir() if path.is_dir() else ())
        if is_result(file.name) or file.name in others
    }


def warn_of_earlier(
    folder: str, before: Mapping[str, Any], after: Mapping[str, Any]
) -> None:
    """Warns of results, see `find_results`, that a run has not rewritten.

    A run without --version_2_with_negative writes no null_odds.json; an earlier
    run's could be mistaken for a part of the new answers. We keep such a file,
    because the user may own it, and log a warning.
    """
    left = sorted(before.items() & after.items())
    if left:
        logging.warning(
            "%s in %s are left over from an earlier run; move or remove them.",
            ", ".join(name for name, _ in left),
            folder,
        )


def predict(
    trainer: Trainer,
    splits: Splits,
    name: str,
    batch_size: int,
    label: str = "Predicting",
) -> Batches:
    """Yields the batches of a split, each with the model's outputs."""
    return trainer.predict(
        splits.create_dataset(name, batch_size),
        -(-splits.num_records[name] // batch_size),
        label,
    )


def prepare(task: Task, config: FineTuningConfig) -> modeling.BertConfig:
    """Refuses contradictory flags before any long work; prepares the task.

    Returns:
        configuration of the model.

    Raises:
        ValueError: a flag contradicts another, or a file.
        OSError: a file is missing, or an output cannot be written.
    """
    bert_config = start.check(config)
    if config.do_train:
        check_num_train_runs(config)
    else:
        check_networks(config)
    saved_labels = _read_labels(config)
    task.prepare(bert_config, saved_labels)
    if task.labels and saved_labels and list(task.labels) != list(saved_labels):
        raise ValueError(
            f"the model was trained with the labels {saved_labels}, in this "
            f"order; the task has {list(task.labels)}. Give the task it was "
            "trained for, or train into another --output_dir"
        )
    if task.labels and config.do_train:
        check_labels_of_start(config, task.labels)
    names = [
        f"{name}{suffix_of(split)}"
        for split in task.splits["eval"]
        for name in (*task.metrics, *["eval_loss"] * task.has_eval_loss)
    ]
    if config.metric_for_best and config.metric_for_best not in names:
        raise ValueError(
            f"--metric_for_best={config.metric_for_best} is not known; give "
            f"one of {', '.join(names)}"
        )
    return bert_config


def check_num_train_runs(config: FineTuningConfig) -> None:
    """Refuses to mix single and multiple runs in a folder."""
    folder = Path(config.output_dir)
    if config.num_train_runs > 1:
        if (folder / run_settings.FILE).is_file():
            raise ValueError(
                f"--output_dir={folder} holds a single run; give another one "
                f"for --num_train_runs={config.num_train_runs}"
            )
    elif (folder / "run_1").is_dir():
        raise ValueError(
            f"--output_dir={folder} holds several runs; give "
            "--num_train_runs to resume them, or another --output_dir"
        )


def check_networks(config: FineTuningConfig) -> None:
    """Refuses weights that were trained with other flags of the network."""
    if config.ensemble:
        given = [("--ensemble", path) for path in config.ensemble.split(",")]
    elif config.init_checkpoint and not checkpoint_steps(config.output_dir):
        given = [("--init_checkpoint", config.init_checkpoint)]
    else:
        given = [("--output_dir", config.output_dir)]
    for flag, path in given:
        run_settings.check_network(path, config.network, flag)


def _read_labels(config: FineTuningConfig) -> list[str] | None:
    """Returns the labels saved with the initial model, or None.

    They are in `labels.txt` next to its checkpoint, or in the config.json of a
    Hugging Face model. New training does not use the labels of its
    --init_checkpoint.
    """
    if checkpoint_steps(config.output_dir):
        return modeling.load_labels(config.output_dir)
    if config.init_checkpoint and not config.do_train:
        return modeling.load_labels(config.init_checkpoint)
    return None


def check_labels_of_start(
    config: FineTuningConfig, labels: Sequence[str]
) -> None:
    """Refuses to replace the labels of --init_checkpoint by others.

    Raises:
        ValueError: --init_checkpoint is in --output_dir and has other labels.
    """
    start, folder = config.init_checkpoint, config.output_dir
    if not start or checkpoint_steps(folder):
        return
    if not os.path.isdir(start):
        start = os.path.dirname(start) or "."
    is_there = os.path.isdir(start) and os.path.isdir(folder)
    if is_there and os.path.samefile(start, folder):
        found = modeling.load_labels(start)
        if found and found != list(labels):
            raise ValueError(
                f"--output_dir={folder} holds the model of --init_checkpoint, "
                f"which has the labels {found}; they would be overwritten; "
                "use another --output_dir"
            )


def find_members(config: FineTuningConfig) -> list[str]:
    """Returns the checkpoints of --ensemble; [] if it is not given.

    Raises:
        ValueError: another flag contradicts it, or the models are not of one
            task.
        OSError: a checkpoint is missing.
    """
    if config.ensemble is None:
        return []
    if config.init_checkpoint:
        raise ValueError(
            "--ensemble evaluates and predicts with models that are trained "
            "already; leave out --init_checkpoint"
        )
    if checkpoint_steps(config.output_dir):
        raise ValueError(
            f"--output_dir={config.output_dir} holds a model of its own; "
            "give another one for what the ensemble writes"
        )
    members, labels = [], []
    folders = config.ensemble.split(",")
    for folder in folders:
        best = os.path.join(folder, "best")
        has_best = config.load_best and checkpoint_steps(best)
        members.append(modeling.find_checkpoint(best if has_best else folder))
        labels.append(modeling.load_labels(members[-1]))
    if len(set(members)) < max(len(members), 2):
        raise ValueError(
            f"--ensemble={config.ensemble}: give two models or more, each "
            "of them once"
        )
    for folder, found in zip(folders, labels, strict=True):
        if found != labels[0]:
            raise ValueError(
                f"--ensemble: {folder} has the labels {found}, and "
                f"{folders[0]} has {labels[0]}; give models of one task"
            )
    return members


def predict_together(
    model: Any,
    members: Sequence[str],
    task: Task,
    predict_one: Callable[[], Batches],
) -> Batches:
    """Yields the batches of a split, each with the ensemble's outputs.

    The paper's ensembles are models of other seeds, or of other pretraining
    checkpoints. They predict one after the other in one model's memory, and
    `Task.combine` combines their outputs. The outputs of all members but the
    last are kept in memory.

    Args:
        model: the task's model, which gets each member's weights in turn.
        members: the checkpoints, see `find_members`.
        task: the task, which combines the outputs.
        predict_one: () -> the batches with the model's outputs.

    Raises:
        ValueError: a member lacks weights of the model.
    """
    earlier: list[list[Any]] = []
    for member in members[:-1]:
        _load(model, member)
        earlier.append([outputs for _, outputs in predict_one()])
    _load(model, members[-1])
    for number, (features, outputs) in enumerate(predict_one()):
        all_outputs = [batches[number] for batches in earlier]
        yield features, task.combine([*all_outputs, outputs])


def _load(model: Any, member: str) -> None:
    logging.info("Predicting with %s of the ensemble", member)
    if missing := modeling.load_checkpoint(model, member).missing:
        raise ValueError(
            f"--ensemble: {member} lacks {missing[0]}; give models that are "
            "fine-tuned on this task"
        )


class LossFigures:
    """Passes batches of evaluation through, computing the loss on the way."""

    def __init__(self, loss: Any, batches: Batches) -> None:
        self._loss, self._batches = loss, batches
        # {part: [(sum, weight) of each batch]}.
        self._parts: dict[str, list[tuple[float, float]]] = {}

    def __iter__(self) -> Iterator:
        """Yields the batches."""
        for features, outputs in self._batches:
            sums = self._loss.sums(outputs, features)
            weights = self._loss.weights(features)
            for name, value in sums.items():
                pair = float(value), float(weights[name])
                self._parts.setdefault(name, []).append(pair)
            yield features, outputs

    def figures(self) -> dict[str, float]:
        """Returns `eval_loss`, the mean; and `loss`, the mean over batches.

        Each is the sum over the parts of the loss; NaN if no batch was read.
        """
        if not self._parts:
            return {"eval_loss": float("nan"), "loss": float("nan")}
        figures = {"eval_loss": 0.0, "loss": 0.0}
        for pairs in self._parts.values():
            sums, weights = np.array(pairs).T
            figures["eval_loss"] += float(sums.sum() / max(weights.sum(), 1.0))
            figures["loss"] += float(np.mean(sums / np.maximum(weights, 1.0)))
        return figures
