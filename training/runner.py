"""One training run: what every training script shares."""

import contextlib
import functools
import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import keras
import tensorflow as tf
from absl import logging

import modeling
from training import (
    checkpointing,
    distribution,
    hooks,
    loop,
    optimization,
    report,
    weights,
)
from training.options import DeviceOptions, TrainingOptions


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
        self.batch_size = options.batch_size
        self.max_seq_length = max_seq_length
        self.strategy = create_strategy(options)
        self.is_chief = distribution.is_chief(self.strategy)
        self.report = report.Report(options)
        keras.utils.set_random_seed(options.seed)
        if options.deterministic:
            tf.config.experimental.enable_op_determinism()
        distribution.set_precision(options.mixed_precision)
        optimizer = None
        with self.strategy.scope():
            self.model = create_model(
                use_one_hot_embeddings=options.is_tpu,
                gradient_checkpointing=options.gradient_checkpointing,
                unpad=options.unpads,
                seed=options.seed,
            )
            self.model.build()
            if num_train_steps is not None:
                _freeze_layers(self.model, options.freeze_layers)
                optimizer = self._create_optimizer(
                    num_train_steps, num_warmup_steps
                )
        self.trainer = loop.Trainer(
            self.model,
            loss,
            optimizer,
            self.strategy,
            clip_norm=options.clip_norm,
            gradient_accumulation_steps=options.gradient_accumulation_steps,
            jit_compile=options.jit_compile,
        )
        self.checkpointer = checkpointing.Checkpointer(
            options.output_dir,
            modeling.named_variables(self.model),
            optimizer,
            keep_checkpoint_max=options.keep_checkpoint_max,
            is_chief=self.is_chief,
        )
        self.has_best = False
        if restores_best:
            self.restore_best()
        if not self.has_best:
            self.global_step = self._restore()
        if optimizer is not None:
            self._check_settings(settings or {})

    @property
    def num_records_seen(self) -> int:
        """Records that training has taken so far."""
        return self.global_step * self.batch_size

    def _create_optimizer(
        self, num_train_steps: int, num_warmup_steps: int
    ) -> keras.optimizers.Optimizer:
        options = self.options
        if num_warmup_steps > num_train_steps:
            logging.warning(
                "The warmup of %d steps is longer than the training of %d: "
                "the learning rate stays below its peak.",
                num_warmup_steps,
                num_train_steps,
            )
        factors = None
        if options.layerwise_lr_decay != 1.0:
            factors = optimization.layerwise_factors(
                self.model.config.num_hidden_layers, options.layerwise_lr_decay
            )
        optimizer = optimization.create_optimizer(
            options.learning_rate,
            num_train_steps,
            num_warmup_steps,
            optimizer=options.optimizer,
            lr_schedule=options.lr_schedule,
            poly_power=options.poly_power,
            learning_rate_factors=factors,
            aggregate_gradients=False,
            beta_1=options.adam_beta_1,
            beta_2=options.adam_beta_2,
            weight_decay=options.weight_decay,
        )
        return distribution.scale_losses(optimizer, options.mixed_precision)

    def _check_settings(self, settings: Mapping[str, Any]) -> None:
        options = self.options
        distribution.check_batch_size(
            self.strategy, options.train_batch_size, "--train_batch_size"
        )
        self.report.settings = {
            "bert_config": self.model.config.to_dict(),
            "batch_size": self.batch_size,
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
        if evaluation and evaluation.has_ended(self.global_step):
            return
        logging.info("***** Running training *****")
        logging.info("  Batch size = %d", self.batch_size)
        logging.info("  Steps = %d", num_train_steps)
        sizes = (self.model, options, self.max_seq_length, num_predictions)
        report.check_memory(*sizes, distribution.num_workers(self.strategy))
        made: list[hooks.Hook] = [evaluation] if evaluation else []
        if options.summary_steps and self.is_chief:
            tokens = flops = None
            if not options.unpads:
                # Else the work of a step depends on the length of its batch.
                tokens = self.batch_size * self.max_seq_length
                flops = self.batch_size * report.training_flops(
                    self.model.config, self.max_seq_length, num_predictions
                )
            made.append(
                hooks.Summaries(
                    options.output_dir,
                    options.summary_steps,
                    self.batch_size,
                    tokens,
                    flops,
                    options.mixed_precision,
                    self.strategy.num_replicas_in_sync,
                )
            )
        dataset = create_dataset(self.batch_size, self.num_records_seen)
        with (
            self.report.timed("training_seconds"),
            _memory_advice(*sizes),
        ):
            self.trainer.train(
                distribution.distribute(self.strategy, dataset),
                num_train_steps,
                self.batch_size,
                self.checkpointer,
                options.save_checkpoints_steps,
                steps_per_call=options.steps_per_call,
                max_nonfinite_steps=options.max_nonfinite_steps,
                describe_batch=describe_batch
                and functools.partial(describe_batch, self.batch_size),
                hooks=made,
            )
        self.global_step = self.trainer.step

    def create_evaluation(
        self,
        evaluate: Callable[[], dict[str, float]],
        every: int,
        metric: str,
        **kwargs: Any,
    ) -> hooks.Evaluation:
        """Returns a hooks.Evaluation that keeps this run's best weights."""
        return hooks.Evaluation(
            evaluate, every, metric, self._best_checkpointer(), **kwargs
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


def _freeze_layers(model: keras.Model, num_layers: int) -> None:
    """Leaves the embeddings and the lowest blocks out of training."""
    if not num_layers:
        return
    blocks = model.bert.encoder.blocks
    if num_layers > len(blocks):
        raise ValueError(
            f"--freeze_layers={num_layers}, but the model has {len(blocks)}"
        )
    for layer in [model.bert.embeddings, *blocks[:num_layers]]:
        layer.trainable = False


def create_strategy(options: DeviceOptions) -> tf.distribute.Strategy:
    """Returns the strategy that the device flags ask for."""
    strategy = distribution.create_strategy(
        options.distribution_strategy,
        use_tpu=options.use_tpu,
        tpu_name=options.tpu_name,
        tpu_zone=options.tpu_zone,
        gcp_project=options.gcp_project,
        master=options.master,
    )
    cores = strategy.num_replicas_in_sync
    if options.use_tpu and cores != options.num_tpu_cores:
        logging.warning(
            "The TPU has %d cores, --num_tpu_cores=%d; using all it has.",
            cores,
            options.num_tpu_cores,
        )
    return strategy


def fingerprint(files: Iterable[str]) -> list[list]:
    """Returns [name, bytes, checksum] of files, to notice another input.

    The checksum is of the first and the last 64 KiB, so that it costs the
    same for files of any size.
    """
    found = []
    for file in files:
        size = tf.io.gfile.stat(file).length
        with tf.io.gfile.GFile(file, "rb") as reader:
            checksum = zlib.crc32(reader.read(1 << 16))
            reader.seek(max(size - (1 << 16), 0))
            checksum = zlib.crc32(reader.read(), checksum)
        found.append([os.path.basename(file), size, checksum])
    return found
