"""Starts a run: creates model, optimizer and Trainer, and loads weights."""

import contextlib
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import keras
import tensorflow as tf

from data.io import tfrecords
from data.text.tokenization import FullTokenizer
from modeling.checkpoints.folders import find_best
from modeling.losses import Loss
from modeling.presets import FILE, Preset, folder_of
from training import devices, distillation, fingerprints, run_folder
from training.callbacks import Callback
from training.callbacks.summaries import Summaries
from training.config import TrainingConfig
from training.optimizers import optimization
from training.train_step import TrainStep
from training.trainer import Trainer


def open_run(
    config: TrainingConfig,
    create_model: Callable[..., keras.Model],
    loss: Loss,
    preset: Preset | None,
    num_steps: tuple[int, int] | None,
    settings: Mapping[str, Any] = {},
    dev_set: int = 0,
    *,
    teacher: distillation.Teacher | None = None,
    tokenizer: FullTokenizer | None = None,
    output_names: Sequence[Sequence[str]] = (),
) -> Trainer:
    """Creates the Trainer of a run, and restores or loads its weights.

    The weights come from the newest checkpoint in --output_dir, else from
    --init_checkpoint. Otherwise they are random.

    Args:
        config: the flags of the run.
        create_model: function (**options) -> the task's model. `options` are
            the arguments that every model accepts.
        loss: the task's loss.
        preset: Preset of the weights, None for random weights.
        num_steps: (training steps, warmup steps), or None without training.
        settings: settings of the task that must not change when a run is
            resumed. Not used without training.
        dev_set: checksum of the dev set.
        teacher: the teacher to distill. None = train without a teacher.
        tokenizer: tokenizer to save with the weights. None = save no tokenizer.
        output_names: lists of possible names of the model's outputs, for the
            argument `labels` of `modeling.load_checkpoint`. The first is saved
            with the weights.

    Raises:
        ValueError: a flag does not fit the model, the devices or the run in
            the folder.
    """
    strategy = devices.strategy_of(config)
    replicas = strategy.num_replicas_in_sync
    if num_steps and config.train_batch_size % replicas:
        raise ValueError(
            f"--train_batch_size={config.train_batch_size} cannot be split "
            f"evenly over {replicas} devices; set a multiple of {replicas}"
        )
    keras.utils.set_random_seed(config.seed)
    if config.deterministic:
        tf.config.experimental.enable_op_determinism()
    devices.set_precision(config.mixed_precision)
    step = None
    with strategy.scope():
        model = create_model(
            use_one_hot_embeddings=config.is_tpu,
            gradient_checkpointing=config.gradient_checkpointing,
            unpad=config.unpads,
            seed=config.seed,
        )
        model.build()
        if num_steps:
            if config.freeze_layers:
                _freeze_layers(model, config.freeze_layers)
            optimizer = optimization.create_optimizer(
                config, *num_steps, model.config.num_hidden_layers
            )
            if config.mixed_precision == "float16":
                # Small gradients underflow in float16 without a loss scale.
                optimizer = keras.optimizers.LossScaleOptimizer(optimizer)
            trained = model
            if teacher:
                trained, loss = teacher.distill(model)
            step = TrainStep(trained, loss, optimizer, config, strategy)
    if num_steps:
        settings = {
            "bert_config": model.config.to_dict(),
            **config.network,
            **({"tokenizer": tokenizer.identity} if tokenizer else {}),
            **_describe_starts(config, preset),
            **settings,
        }
        saved = preset.training if preset and preset.is_resumed else {}
        settings = run_folder.check_settings(config, saved, settings)
    else:
        settings = preset.training if preset else {}
    trainer = Trainer(
        model,
        config,
        step,
        settings=settings,
        dev_set=dev_set,
        tokenizer=tokenizer,
        labels=output_names[0] if output_names else None,
    )
    has_best = config.prefers_best and find_best(config.output_dir)
    if not (has_best and trainer.restore_best()):
        trainer.restore_or_load(output_names)
    if num_steps and config.is_chief:
        _write_description(trainer, num_steps[0])
    return trainer


# Identifies the checkpoints of --teacher and --init_checkpoint.
def _describe_starts(
    config: TrainingConfig, preset: Preset | None
) -> dict[str, Any]:
    start, teacher = config.init_checkpoint, config.teacher
    found: dict[str, Any] = {
        "teacher": teacher and fingerprints.fingerprint_checkpoint(teacher)
    }
    # A resumed run needs no --init_checkpoint, which may have been deleted.
    if not start and not (preset and preset.is_resumed):
        found["init_checkpoint"] = None
    elif start:
        folders = config.output_dir, folder_of(start)
        if len(set(map(os.path.realpath, folders))) == 2:
            with contextlib.suppress(OSError):
                checksum = fingerprints.fingerprint_checkpoint(start)
                found["init_checkpoint"] = checksum
    return found


# Writes the files that describe the weights that a run will save.
def _write_description(trainer: Trainer, num_steps: int) -> None:
    config, folder = trainer.config, Path(trainer.config.output_dir)
    model, settings = trainer.model, trainer.settings
    if trainer.global_step >= num_steps and (folder / FILE).is_file():
        # Keep the description that a finished run wrote.
        return
    for each in [folder, *[trainer.best_folder] * config.keeps_best]:
        run_folder.write(
            each, config, model, settings, trainer.tokenizer, trainer.labels
        )
    if trainer.history.best_step is not None:
        run_folder.set_best_step(folder, trainer.history.best_step)


def train(
    trainer: Trainer,
    records: tfrecords.Records,
    num_steps: int,
    shape: tuple[int, int],
    callbacks: Sequence[Callback] = (),
) -> None:
    """Trains to step `num_steps`.

    Args:
        trainer: result of `open_run`.
        records: the records to train on.
        num_steps: number of the last step.
        shape: (number of WordPieces, number of masked positions) of an example.
        callbacks: callbacks of the task, such as BestStep.
    """
    config = trainer.config
    if config.is_chief and config.summary_steps:
        callbacks = [*callbacks, Summaries(trainer, shape)]

    def create_dataset(batch_size: int, skip_records: int) -> tf.data.Dataset:
        return tfrecords.create_dataset(
            records,
            batch_size,
            is_training=True,
            seed=config.seed,
            skip_records=skip_records,
            trim=config.unpads,
        )

    trainer.fit(create_dataset, num_steps, callbacks)


# Freezes the embeddings and the lowest `num_layers` blocks.
def _freeze_layers(model: keras.Model, num_layers: int) -> None:
    blocks = model.bert.encoder.blocks
    if num_layers > len(blocks):
        raise ValueError(
            f"--freeze_layers={num_layers} is more than the model's "
            f"{len(blocks)} blocks. Set a smaller number"
        )
    for layer in [model.bert.embeddings, *blocks[:num_layers]]:
        layer.trainable = False
