"""One training run: what every training script shares."""

import contextlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import keras
import tensorflow as tf
from absl import logging

import modeling
from files.atomic import remove_partial_files, write_text
from files.overlaps import WHOLE_FILES
from training import cluster, costs
from training.clock import Clock
from training.options import LoopOptions, TrainingOptions
from training.outputs import (
    checkpointing,
    history,
    run_settings,
    summary,
    weights,
)
from training.steps import building, distillation, distribution, hooks

_AS_IS = contextlib.nullcontext()


class Run:
    """A training run: model, trainer and current step.

    The weights come from the newest checkpoint of `output_dir`, else from
    --init_checkpoint, else they are random (training only).

    Args:
        options: TrainingOptions.
        plan: building.Plan.
        restores_best: start from the best checkpoint instead of the newest, if
            there is one; for runs that do not train.

    Attributes:
        trainer: the loop.Trainer.
        model: its model.
        global_step: steps that the weights were trained.
        has_best: whether the weights are from the best evaluation.
        summary: the run's summary.Summary.
        clock: Clock of its training.
        history: history.History of the run.
        averages: averaging.WeightAverages of its weights, or None.
    """

    def __init__(
        self,
        options: TrainingOptions,
        plan: building.Plan,
        restores_best: bool = False,
    ) -> None:
        self.options = options
        self.plan = plan
        self.batch_sizes = options.batch_sizes
        self.strategy = distribution.strategy_of(options)
        self.is_chief = cluster.is_chief(
            options.distribution_strategy, options.use_tpu
        )
        self.summary = summary.Summary(options)
        keras.utils.set_random_seed(options.seed)
        if options.deterministic:
            tf.config.experimental.enable_op_determinism()
        distribution.set_precision(options.mixed_precision)
        self.trainer = building.create_trainer(options, plan, self.strategy)
        self.model = self.trainer.model
        self.averages = self.trainer.averages
        self.clock = Clock(options.max_hours)
        self.history = history.History(
            options.output_dir,
            self.clock,
            self.batch_sizes,
            has_scalars=options.summary_steps > 0,
            is_chief=self.is_chief,
        )
        variables = modeling.named_variables(self.model)
        if self.averages:
            variables |= self.averages.saved
        if distiller := self.trainer.distiller:
            variables |= {v.path: v for v in distiller.own_variables}
        self.checkpointer = checkpointing.Checkpointer(
            options.output_dir,
            variables,
            self.trainer.optimizer,
            keep_checkpoint_max=options.keep_checkpoint_max,
            is_chief=self.is_chief,
            before_save=lambda step: self.history.add("checkpoint", step, {}),
        )
        self.has_best = False
        if restores_best:
            self.restore_best()
        if not self.has_best:
            self.global_step = self._restore()
        self.clock.resume(self.history.hours_at(self.global_step))
        if plan.num_train_steps is not None:
            self._check_settings()

    def _check_settings(self) -> None:
        options, plan = self.options, self.plan
        parts = options.gradient_accumulation_steps
        for size, flag in (
            (self.batch_sizes.final, "--train_batch_size"),
            *((n, "--batch_size_warmup") for n, _ in self.batch_sizes.warmup),
        ):
            distribution.check_batch_size(self.strategy, size // parts, flag)
        self.summary.settings = {
            "bert_config": self.model.config.to_dict(),
            "batch_size": self.batch_sizes.final,
            "max_seq_length": plan.max_seq_length,
            "optimizer": options.optimizer,
            "freeze_layers": options.freeze_layers,
            "ema_decay": options.ema_decay or None,
            "seed": options.seed,
            **plan.settings,
            **(plan.teacher.settings if plan.teacher else {}),
        }
        run_settings.check(
            options.output_dir, self.summary.settings, self.is_chief
        )

    def _restore(self) -> int:
        step = self.checkpointer.restore()
        if step is not None:
            return step
        if start := distillation.start_of(self.options):
            modeling.load_checkpoint(
                self.model, start, distillation.init_layers(self.options)
            )
        else:
            logging.info("No --init_checkpoint: starting from random weights.")
        if self.averages:
            self.averages.start()
        return 0

    def train(
        self,
        create_dataset: Callable[[int, int], tf.data.Dataset],
        describe_batch: Callable[[int, int], str] | None = None,
        evaluation: hooks.Evaluation | None = None,
        num_predictions: int = 0,
    ) -> None:
        """Trains from the current step to the last.

        With --ema_decay the model has the averages as its weights afterwards.

        Args:
            create_dataset: (batch_size, skip_records) -> global batches.
            describe_batch: (batch_size, skip_records) -> text that names the
                records of the batch, for non-finite steps.
            evaluation: hooks.Evaluation to run while training, or None.
            num_predictions: masked positions in an example.
        """
        num_train_steps = self.plan.num_train_steps
        if num_train_steps is None:
            raise ValueError("A Run needs num_train_steps to train")
        if not self._has_ended(num_train_steps, evaluation):
            self._train(
                num_train_steps,
                create_dataset,
                describe_batch,
                evaluation,
                num_predictions,
            )
            self.global_step = self.trainer.step
        if self.averages:
            self.averages.apply()
            self._create_weights_checkpointer(self.averages_dir).save(
                self.global_step
            )

    def _has_ended(
        self, num_train_steps: int, evaluation: hooks.Evaluation | None
    ) -> bool:
        """Returns whether training has already ended, and logs why."""
        folder = self.options.output_dir
        if self.global_step >= num_train_steps:
            logging.info(
                "Nothing left to do: %s is at step %d of %d.",
                folder,
                self.global_step,
                num_train_steps,
            )
        elif self.clock.spent >= 1:
            logging.info(
                "Nothing left to do: %s has trained for --max_hours=%s.",
                folder,
                self.options.max_hours,
            )
        else:
            return bool(evaluation and evaluation.has_ended(self.global_step))
        return True

    def _train(
        self,
        num_train_steps: int,
        create_dataset: Callable[[int, int], tf.data.Dataset],
        describe_batch: Callable[[int, int], str] | None,
        evaluation: hooks.Evaluation | None,
        num_predictions: int,
    ) -> None:
        options = self.options
        logging.info("***** Running training *****")
        logging.info("  Batch size = %d", self.batch_sizes.final)
        logging.info("  Steps = %d", num_train_steps)
        sizes = (
            self.model,
            options,
            self.plan.max_seq_length,
            num_predictions,
        )
        costs.check_memory(*sizes, distribution.num_workers(self.strategy))
        self.history.resume(self.global_step)
        self.history.add_hyperparameters(options.hyperparameters)
        made: list[hooks.Hook] = [self.history]
        if evaluation:
            made.append(evaluation)
        if options.summary_steps and self.is_chief:
            made.append(self._create_summaries(num_predictions))
        with (
            self.summary.timed("training_seconds"),
            self.clock.running(),
            costs.memory_advice(*sizes),
        ):
            self.trainer.train(
                distribution.distribute(
                    self.strategy,
                    self.batch_sizes.batches(create_dataset, self.global_step),
                ),
                num_train_steps,
                self.batch_sizes,
                self.checkpointer,
                LoopOptions(
                    save_checkpoints_steps=options.save_checkpoints_steps,
                    steps_per_call=options.steps_per_call,
                    max_nonfinite_steps=options.max_nonfinite_steps,
                    time_spent=lambda: self.clock.spent,
                ),
                made,
                describe_batch
                and (lambda step: describe_batch(*self._records_of(step))),
            )

    def _create_summaries(self, num_predictions: int) -> hooks.Summaries:
        tokens = flops = None
        if not self.options.unpads:
            # Otherwise a step's work depends on the length of its batch.
            tokens = self.plan.max_seq_length
            flops = costs.training_flops(
                self.model.config, tokens, num_predictions
            )
        return hooks.Summaries(
            self.options.summary_steps,
            self.batch_sizes,
            tokens,
            flops,
            self.options.mixed_precision,
            self.strategy.num_replicas_in_sync,
            self.history,
        )

    def _records_of(self, step: int) -> tuple[int, int]:
        """Returns a step's batch size, and the number of records before it."""
        return self.batch_sizes.at(step), self.batch_sizes.examples(step)

    def create_evaluation(
        self,
        evaluate: Callable[[], dict[str, float]],
        every: int,
        metric: str,
        **kwargs: Any,
    ) -> hooks.Evaluation:
        """Returns a hooks.Evaluation that keeps this run's best weights."""

        def recorded() -> dict[str, float]:
            with self.averages.applied() if self.averages else _AS_IS:
                results = evaluate()
            self.history.add("eval", self.trainer.step, results)
            return results

        kept = self.averages.evaluated if self.averages else {}
        checkpointer = self._create_weights_checkpointer(self.best_dir, kept)
        return hooks.Evaluation(recorded, every, metric, checkpointer, **kwargs)

    def restore_best(self) -> None:
        """Restores the weights of the best evaluation during training.

        Keeps the last weights if training ended before any evaluation.
        """
        step = self._create_weights_checkpointer(self.best_dir).restore()
        if step is not None:
            self.global_step, self.has_best = step, True

    @property
    def described_step(self) -> str:
        """Describes the weights by their step, for the log."""
        if not self.global_step:
            return "the initial weights"
        which = "best" if self.has_best else "last"
        return f"step {self.global_step}, the {which}"

    @property
    def best_dir(self) -> Path:
        """Folder of the best weights."""
        return Path(self.options.output_dir) / "best"

    @property
    def averages_dir(self) -> Path:
        """Folder of the weights' averages, after training."""
        return Path(self.options.output_dir) / "averages"

    def _create_weights_checkpointer(
        self,
        folder: Path,
        others: Mapping[str, keras.Variable] | None = None,
    ) -> checkpointing.Checkpointer:
        """Returns a Checkpointer that keeps only the newest weights.

        Args:
            folder: where to.
            others: {name: variable} to save instead of the model's.
        """
        return checkpointing.Checkpointer(
            folder,
            modeling.named_variables(self.model) | dict(others or {}),
            keep_checkpoint_max=1,
            is_chief=self.is_chief,
        )

    def save_as(self, options: TrainingOptions) -> None:
        """Switches to another folder and saves these weights there.

        Args:
            options: options with the new folder, used for all later output.
        """
        self.options = self.summary.options = options
        if self.is_chief:
            folder = options.output_dir
            checkpointing.remove_checkpoints(
                folder, checkpointing.checkpoint_steps(folder)
            )
        checkpointing.Checkpointer(
            options.output_dir,
            modeling.named_variables(self.model),
            is_chief=self.is_chief,
        ).save(self.global_step)

    def write_results(self, name: str, results: Mapping[str, float]) -> None:
        """Writes `key = value` lines like the original, and logs them."""
        lines = [f"{key} = {results[key]}" for key in sorted(results)]
        logging.info("***** Eval results *****")
        for line in lines:
            logging.info("  %s", line)
        self.summary.add(name, results)
        if self.is_chief:
            write_text(
                Path(self.options.output_dir) / name, "\n".join(lines) + "\n"
            )

    def write_summary(self) -> None:
        """Writes summary.json."""
        if self.is_chief:
            self.summary.write(self.options.output_dir, self.global_step)

    def finish(self) -> None:
        """Writes --export_weights and summary.json, at the end of a script."""
        if self.is_chief:
            weights.export_weights(self.model, self.options)
            # Those of a run that was killed and has now come to its end.
            remove_partial_files(self.options.output_dir, WHOLE_FILES)
        self.write_summary()
