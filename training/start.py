"""Starts a run: finds its weights, and creates model and optimizer."""

import contextlib
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import keras
import tensorflow as tf

import modeling
from data.io import tfrecords
from data.text.tokenization import FullTokenizer
from modeling.checkpoints.tf1 import check_release
from modeling.losses import Loss
from training import (
    devices,
    fingerprints,
    model_checks,
    model_descriptions,
    model_folder,
)
from training.callbacks import Callback, distillation
from training.callbacks.averages import WeightAverages
from training.callbacks.best_step import may_use
from training.callbacks.endings import StopSignals, TimeLimit
from training.callbacks.history import History
from training.callbacks.memory_check import MemoryCheck
from training.callbacks.nonfinite import NonFinite
from training.callbacks.progress import ProgressBar, Summaries
from training.config import FineTuningConfig, TrainingConfig
from training.optimizers import optimization
from training.run_folder import BEST, are_same, checkpoint_steps, folder_of
from training.summary import fingerprint_of
from training.trainer import Trainer


def create_trainer(
    config: TrainingConfig,
    create_model: Callable[..., keras.Model],
    loss: Loss | None,
    shape: tuple[int, int],
    num_steps: tuple[int, int] | None = None,
    settings: Mapping[str, Any] | None = None,
    data: Mapping[str, Any] | None = None,
    teacher: distillation.Teacher | None = None,
    records: tfrecords.Records | None = None,
    more_callbacks: Sequence[Callback] = (),
    tokenizer: FullTokenizer | None = None,
    labels: Sequence[str] | None = None,
    output_names: Sequence[Sequence[str]] = (),
) -> Trainer:
    """Returns the Trainer of a run, at the step where training continues.

    The weights come from the newest checkpoint in `output_dir`, else from
    --init_checkpoint. Otherwise they are random.

    Args:
        config: the flags.
        create_model: function (**options) -> the task's model. `options` are
            the arguments that every model accepts.
        loss: the task's loss. None if the model only predicts.
        shape: (number of WordPieces, number of masked positions) of a padded
            example.
        num_steps: (training steps, warmup steps), or None without training.
        settings: settings that must not change when the run is resumed, as in
            `ModelFolder.settings`.
        data: descriptions of the dev set and the test set, for
            `fingerprint_of`.
        teacher: the teacher to distill. None = train without a teacher.
        records: the records to train on, which error messages describe.
        more_callbacks: callbacks of the task, such as BestStep.
        tokenizer: tokenizer to save with the weights. None = save no tokenizer.
        labels: names of the model's outputs to save with the weights. None =
            save no names.
        output_names: value of the argument `labels` of
            `modeling.load_checkpoint`.

    Raises:
        ValueError: a flag does not fit the model, the devices or the run in
            the folder.
    """
    strategy = devices.strategy_of(config)
    keras.utils.set_random_seed(config.seed)
    if config.deterministic:
        tf.config.experimental.enable_op_determinism()
    devices.set_precision(config.mixed_precision)
    optimizer = time_spent = None
    with strategy.scope():
        model = create_model(
            use_one_hot_embeddings=config.is_tpu,
            gradient_checkpointing=config.gradient_checkpointing,
            unpad=config.unpads,
            seed=config.seed,
        )
        model.build()
        if num_steps:
            _freeze_layers(model, config.freeze_layers)
            if config.lr_schedule == "time":
                time_spent = tf.Variable(0.0, trainable=False, dtype="float64")
            optimizer = optimization.create_optimizer(
                config, *num_steps, model.config.num_hidden_layers, time_spent
            )
            if config.mixed_precision == "float16":
                # Small gradients underflow in float16 without a loss scale.
                optimizer = keras.optimizers.LossScaleOptimizer(optimizer)
    clock = TimeLimit(config.max_hours, time_spent)
    callbacks: list[Callback] = [History(config, clock), *more_callbacks]
    if num_steps:
        # The workers average one vote for each callback, so all workers need
        # the same number of callbacks.
        summaries = Summaries() if config.is_chief else Callback()
        callbacks = [
            *([teacher] if teacher else []),
            MemoryCheck(),
            NonFinite(records),
            ProgressBar(),
            *([WeightAverages()] if config.ema_decay else []),
            *callbacks,
            *([summaries] if config.summary_steps else []),
            clock,
            StopSignals(),
        ]
    trainer = Trainer(
        model, loss, optimizer, config, callbacks, strategy, shape
    )
    if config.is_chief and config.export_weights:
        # Before the long training, check that --export_weights can be written.
        check_release(config.export_weights, tokenizer, labels)
    summary = trainer.summary
    if num_steps:
        summary.settings = {
            "bert_config": model.config.to_dict(),
            "batch_size": config.batch_sizes.final,
            "max_seq_length": shape[0],
            "optimizer": config.optimizer,
            "freeze_layers": config.freeze_layers,
            "ema_decay": config.ema_decay or None,
            "seed": config.seed,
            **(settings or {}),
            **(teacher.settings if teacher else {}),
        }
    else:
        start = config.init_checkpoint
        if config.has_checkpoint or not start:
            start = config.output_dir
        summary.settings = model_folder.read(start).settings
    summary.fingerprint = fingerprint_of(summary.settings, data or {})
    trainer.history.fingerprint = {
        part: checksum
        for part, checksum in summary.fingerprint.items()
        if part != "test_set"
    }
    has_best = config.prefers_best and may_use(
        config.best_dir, summary.settings
    )
    if not (has_best and trainer.restore_best()):
        trainer.restore_or_load(output_names)
    if num_steps:
        _check_batch_sizes(config, strategy)
        settings = dict(summary.settings)
        start = config.init_checkpoint
        if start and not are_same(folder_of(start), config.output_dir):
            # A resumed run does not need its initial checkpoint, which may be
            # deleted.
            with contextlib.suppress(OSError):
                found = fingerprints.fingerprint_checkpoint(start)
                settings["init_checkpoint"] = found
        summary.settings, changes = model_checks.check_same(config, settings)
        is_described = Path(config.output_dir, model_folder.FILE).is_file()
        if is_described and trainer.global_step >= num_steps[0]:
            # Do not overwrite the description of a finished run.
            summary.settings = model_folder.read(config.output_dir).settings
        elif config.is_chief:
            model_descriptions.write_run(
                config, model, summary.settings, changes, tokenizer, labels
            )
    return trainer


def train(
    trainer: Trainer, records: tfrecords.Records, num_train_steps: int
) -> None:
    """Trains on records, from the trainer's current step to the last."""
    config = trainer.config

    def create_dataset(batch_size: int, skip_records: int) -> tf.data.Dataset:
        return tfrecords.create_dataset(
            records,
            batch_size,
            is_training=True,
            seed=config.seed,
            skip_records=skip_records,
            trim=config.unpads,
        )

    trainer.fit(create_dataset, num_train_steps)


def _freeze_layers(model: keras.Model, num_layers: int) -> None:
    """Freezes the embeddings and the lowest `num_layers` blocks."""
    if not num_layers:
        return
    blocks = model.bert.encoder.blocks
    if num_layers > len(blocks):
        raise ValueError(
            f"--freeze_layers={num_layers} is more than the model's "
            f"{len(blocks)} blocks. Set a smaller number"
        )
    for layer in [model.bert.embeddings, *blocks[:num_layers]]:
        layer.trainable = False


def _check_batch_sizes(
    config: TrainingConfig, strategy: tf.distribute.Strategy
) -> None:
    """Checks that the devices can split each batch evenly."""
    sizes, replicas = config.batch_sizes, strategy.num_replicas_in_sync
    for size, flag in (
        (sizes.final, "--train_batch_size"),
        *((n, "--batch_size_warmup") for n, _ in sizes.warmup),
    ):
        size //= config.gradient_accumulation_steps
        if size % replicas:
            raise ValueError(
                f"{flag}={size} cannot be split evenly over {replicas} "
                f"devices; set a multiple of {replicas}"
            )


def find_members(config: FineTuningConfig) -> list[str]:
    """Returns the checkpoints that --ensemble lists, [] without the flag.

    Raises:
        ValueError: another flag contradicts --ensemble, or the models have
            different labels.
        OSError: a checkpoint is missing.
    """
    if config.ensemble is None:
        return []
    if config.init_checkpoint:
        raise ValueError(
            "--ensemble evaluates and predicts with models that are trained "
            "already; remove --init_checkpoint"
        )
    if config.has_checkpoint:
        raise ValueError(
            f"--output_dir={config.output_dir} contains a trained model; "
            "choose another folder for the files of the ensemble"
        )
    folders = config.ensemble.split(",")
    members, labels, found_files = [], [], set()
    for folder in folders:
        best = Path(folder) / BEST
        is_used = config.load_best and may_use(
            best, model_folder.read(folder).settings
        )
        path = modeling.find_checkpoint(folder, is_used)
        # Detect several paths to the same checkpoint.
        found_files.add(os.path.realpath(path))
        # If the last step is used, list the folder, not the checkpoint. Loading
        # a folder also considers the averages in the last checkpoint.
        is_last = config.load_best and not checkpoint_steps(best)
        members.append(folder if is_last else path)
        labels.append(modeling.load_labels(folder))
    if len(found_files) < max(len(members), 2):
        raise ValueError(
            f"--ensemble={config.ensemble}: list at least two models, and no "
            "model twice"
        )
    for folder, found in zip(folders, labels, strict=True):
        if found != labels[0] and not modeling.find_order(
            found or (), [labels[0] or ()]
        ):
            raise ValueError(
                f"--ensemble: {folder} has the labels {found}, but "
                f"{folders[0]} has {labels[0]}; list models of one task"
            )
    return members
