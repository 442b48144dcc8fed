"""One training run: what every training script shares."""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import keras
import tensorflow as tf
from absl import logging

import modeling
from training import (
    checkpointing,
    distribution,
    history,
    hooks,
    loop,
    optimization,
    report,
    weights,
)
from training.clock import Clock
from training.options import TrainingOptions


class Run:
    """A model, what trains it, and the step that both are at.

    The weights come from the newest checkpoint of `output_dir`, else from
    --init_checkpoint, else they are random (training only).

    Args:
        options: TrainingOptions.
        create_model: (**arguments of every model) -> the task's model.
        loss: the task's loss.
        num_train_steps: length of training; None where there is none.
        num_warmup_steps: length of the warmup.
        max_seq_length: length of the inputs, in WordPieces.
        settings: what must not change when a run is resumed (see
            checkpointing.check_settings).
        restores_best: start from the best checkpoint, if there is one,
            instead of the newest; for a run that does not train.

    Attributes:
        trainer: the loop.Trainer.
        global_step: steps that the weights were trained for.
        has_best: whether they are those of the best evaluation.
        report: report.Report of the run.
        clock: Clock of its training.
        history: history.History of the run.
    """

    def __init__(
        self,
        options: TrainingOptions,
        create_model: Callable[..., keras.Model],
        loss: Any,
        num_train_steps: int | None,
        num_warmup_steps: int,
        max_seq_length: int,
        settings: Mapping[str, Any] | None = None,
        restores_best: bool = False,
    ) -> None:
        self.options = options
        self.num_train_steps = num_train_steps
        self.batch_sizes = options.batch_sizes
        self.max_seq_length = max_seq_length
        self.strategy = distribution.strategy_of(options)
        self.is_chief = distribution.is_chief(self.strategy)
        self.report = report.Report(options)
        keras.utils.set_random_seed(options.seed)
        if options.deterministic:
            tf.config.experimental.enable_op_determinism()
        distribution.set_precision(options.mixed_precision)
        optimizer = time_spent = None
        with self.strategy.scope():
            self.model = create_model(
                use_one_hot_embeddings=options.is_tpu,
                gradient_checkpointing=options.gradient_checkpointing,
                unpad=options.unpads,
                seed=options.seed,
            )
            self.model.build()
            if num_train_steps is not None:
                optimization.freeze_layers(self.model, options.freeze_layers)
                if options.lr_schedule == "time":
                    time_spent = tf.Variable(
                        0.0, trainable=False, dtype=tf.float64
                    )
                optimizer = distribution.scale_losses(
                    optimization.optimizer_of(
                        options,
                        self.model.config.num_hidden_layers,
                        num_train_steps,
                        num_warmup_steps,
                        time_spent,
                    ),
                    options.mixed_precision,
                )
        self.trainer = loop.Trainer(
            self.model,
            loss,
            optimizer,
            self.strategy,
            clip_norm=options.clip_norm,
            gradient_accumulation_steps=options.gradient_accumulation_steps,
            jit_compile=options.jit_compile,
            time_spent=time_spent,
        )
        self.clock = Clock(options.max_hours)
        self.history = history.History(
            options.output_dir,
            self.clock,
            self.batch_sizes,
            has_scalars=options.summary_steps > 0,
            is_chief=self.is_chief,
        )
        self.checkpointer = checkpointing.Checkpointer(
            options.output_dir,
            modeling.named_variables(self.model),
            optimizer,
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
        if optimizer is not None:
            self._check_settings(settings or {})

    def _check_settings(self, settings: Mapping[str, Any]) -> None:
        options = self.options
        parts = options.gradient_accumulation_steps
        for size, flag in (
            (self.batch_sizes.final, "--train_batch_size"),
            *((n, "--batch_size_warmup") for n, _ in self.batch_sizes.warmup),
        ):
            distribution.check_batch_size(self.strategy, size // parts, flag)
        self.report.settings = {
            "bert_config": self.model.config.to_dict(),
            "batch_size": self.batch_sizes.final,
            "max_seq_length": self.max_seq_length,
            "optimizer": options.optimizer,
            "freeze_layers": options.freeze_layers,
            "seed": options.seed,
            **settings,
        }
        checkpointing.check_settings(
            options.output_dir, self.report.settings, self.is_chief
        )

    def _restore(self) -> int:
        step = self.checkpointer.restore()
        if step is not None:
            return step
        if self.options.init_checkpoint:
            modeling.load_checkpoint(self.model, self.options.init_checkpoint)
        else:
            logging.info("No --init_checkpoint: starting from random weights.")
        return 0

    def train(
        self,
        create_dataset: Callable[[int, int], tf.data.Dataset],
        describe_batch: Callable[[int, int], str] | None = None,
        evaluation: hooks.Evaluation | None = None,
        num_predictions: int = 0,
    ) -> None:
        """Trains to the last step, on the batches that follow the step's.

        Args:
            create_dataset: (batch_size, skip_records) -> global batches.
            describe_batch: (batch_size, skip_records) -> text that names the
                records of the batch, for a step that was not finite.
            evaluation: hooks.Evaluation to run while training, or None.
            num_predictions: masked positions in an example.
        """
        options, num_train_steps = self.options, self.num_train_steps
        if num_train_steps is None:
            raise ValueError("A Run needs num_train_steps to train")
        if self.global_step >= num_train_steps:
            logging.info(
                "Nothing left to do: %s is at step %d of %d.",
                options.output_dir,
                self.global_step,
                num_train_steps,
            )
            return
        if self.clock.spent >= 1:
            logging.info(
                "Nothing left to do: %s has trained for --max_hours=%s.",
                options.output_dir,
                options.max_hours,
            )
            return
        if evaluation and evaluation.has_ended(self.global_step):
            return
        logging.info("***** Running training *****")
        logging.info("  Batch size = %d", self.batch_sizes.final)
        logging.info("  Steps = %d", num_train_steps)
        sizes = (self.model, options, self.max_seq_length, num_predictions)
        report.check_memory(*sizes, distribution.num_workers(self.strategy))
        self.history.resume(self.global_step)
        made: list[hooks.Hook] = [self.history]
        if evaluation:
            made.append(evaluation)
        if options.summary_steps and self.is_chief:
            tokens = flops = None
            if not options.unpads:
                # Else the work of a step depends on the length of its batch.
                tokens = self.max_seq_length
                flops = report.training_flops(
                    self.model.config, self.max_seq_length, num_predictions
                )
            made.append(
                hooks.Summaries(
                    options.summary_steps,
                    self.batch_sizes,
                    tokens,
                    flops,
                    options.mixed_precision,
                    self.strategy.num_replicas_in_sync,
                    self.history,
                )
            )

        with (
            self.report.timed("training_seconds"),
            self.clock.running(),
            _memory_advice(*sizes),
        ):
            self.trainer.train(
                distribution.distribute(
                    self.strategy,
                    self.batch_sizes.batches(create_dataset, self.global_step),
                ),
                num_train_steps,
                self.batch_sizes,
                self.checkpointer,
                options.save_checkpoints_steps,
                steps_per_call=options.steps_per_call,
                max_nonfinite_steps=options.max_nonfinite_steps,
                describe_batch=describe_batch
                and (lambda step: describe_batch(*self._records_of(step))),
                hooks=made,
                time_spent=lambda: self.clock.spent,
            )
        self.global_step = self.trainer.step

    def _records_of(self, step: int) -> tuple[int, int]:
        """Returns the records of a step's batch, and those before it."""
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
            results = evaluate()
            self.history.add("eval", self.trainer.step, results)
            return results

        return hooks.Evaluation(
            recorded, every, metric, self._best_checkpointer(), **kwargs
        )

    def restore_best(self) -> None:
        """Restores the weights of the best evaluation while training.

        Keeps the last ones where training ended before any evaluation.
        """
        step = self._best_checkpointer().restore()
        if step is not None:
            self.global_step, self.has_best = step, True

    @property
    def described_step(self) -> str:
        """Text that names the step of the weights, for the log."""
        if not self.global_step:
            return "the initial weights"
        which = "best" if self.has_best else "last"
        return f"step {self.global_step}, the {which}"

    @property
    def best_dir(self) -> Path:
        """Folder of the best weights while training."""
        return Path(self.options.output_dir) / "best"

    def _best_checkpointer(self) -> checkpointing.Checkpointer:
        return checkpointing.Checkpointer(
            self.best_dir,
            modeling.named_variables(self.model),
            keep_checkpoint_max=1,
            is_chief=self.is_chief,
        )

    def save_as(self, options: TrainingOptions) -> None:
        """Moves to another folder, with these weights as its checkpoint.

        Args:
            options: those of the folder; what is written from now on goes
                there.
        """
        self.options = self.report.options = options
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
        """Writes `key = value` lines as the original does, and logs them."""
        lines = [f"{key} = {results[key]}" for key in sorted(results)]
        logging.info("***** Eval results *****")
        for line in lines:
            logging.info("  %s", line)
        self.report.add(name, results)
        if self.is_chief:
            checkpointing.write_text(
                Path(self.options.output_dir) / name, "\n".join(lines) + "\n"
            )

    def write_summary(self) -> None:
        """Writes summary.json."""
        if self.is_chief:
            self.report.write(self.options.output_dir, self.global_step)

    def finish(self) -> None:
        """Writes --export_weights and summary.json, at the end of a script."""
        if self.is_chief:
            weights.export_weights(self.model, self.options)
        self.write_summary()


@contextlib.contextmanager
def _memory_advice(*sizes: Any) -> Iterator[None]:
    try:
        yield
    except tf.errors.ResourceExhaustedError as error:
        raise MemoryError(report.out_of_memory(*sizes)) from error
