"""Starts a run: devices, model, optimizer and callbacks, restored or loaded."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import keras
import tensorflow as tf

import modeling
from files import export_folders
from modeling.losses import Loss
from training import costs, devices, run_settings
from training.callbacks import Callback, distillation
from training.callbacks.averages import WeightAverages
from training.callbacks.history import History
from training.callbacks.nonfinite import NonFinite
from training.callbacks.stop_signals import StopSignals
from training.callbacks.summaries import ProgressBar, Summaries
from training.callbacks.time_limit import TimeLimit
from training.checkpointing import checkpoint_steps
from training.config import (
    FineTuningConfig,
    PretrainingConfig,
    TrainingConfig,
)
from training.optimizers import optimization
from training.trainer import Trainer


def create_trainer(
    config: TrainingConfig,
    create_model: Callable[..., keras.Model],
    loss: Loss | None,
    max_seq_length: int,
    num_train_steps: int | None = None,
    num_warmup_steps: int = 0,
    num_predictions: int = 0,
    settings: Mapping[str, Any] | None = None,
    teacher: distillation.Teacher | None = None,
    describe_batch: Callable[[int, int], str] | None = None,
    more_callbacks: Sequence[Callback] = (),
    prefers_best: bool = False,
) -> Trainer:
    """Returns the Trainer of a run, at the step where it goes on.

    The weights come from the newest checkpoint of `output_dir`, else from
    --init_checkpoint, else they are random.

    Args:
        config: TrainingConfig.
        create_model: (**arguments of every model) -> the task's model.
        loss: the task's loss; None where the model only predicts.
        max_seq_length: WordPieces of an example.
        num_train_steps: length of training; None without training.
        num_warmup_steps: length of the warmup.
        num_predictions: masked positions of an example.
        settings: settings that must not change in a resume, see run_settings.
        teacher: the teacher to distill, or None.
        describe_batch: (batch_size, skip_records) -> text that names the
            records of the batch, for non-finite steps.
        more_callbacks: callbacks of the task, such as BestStep.
        prefers_best: whether to restore the best step, if there is one,
            instead of the newest.

    Raises:
        ValueError: a flag does not fit the model, the devices or the run in
            the folder.
    """
    strategy = devices.strategy_of(config)
    keras.utils.set_random_seed(config.seed)
    if config.deterministic:
        tf.config.experimental.enable_op_determinism()
    devices.set_precision(config.mixed_precision)
    clock, optimizer = TimeLimit(config.max_hours), None
    with strategy.scope():
        model = create_model(
            use_one_hot_embeddings=config.is_tpu,
            gradient_checkpointing=config.gradient_checkpointing,
            unpad=config.unpads,
            seed=config.seed,
        )
        model.build()
        if num_train_steps is not None:
            _freeze_layers(model, config.freeze_layers)
            if config.lr_schedule == "time":
                clock.create_variable()
            optimizer = devices.scale_losses(
                optimization.create_optimizer(
                    config,
                    num_train_steps,
                    num_warmup_steps,
                    optimization.layerwise_factors(
                        model.config.num_hidden_layers,
                        config.layerwise_lr_decay,
                    ),
                    time_spent=clock.spent_variable,
                ),
                config.mixed_precision,
            )
    callbacks: list[Callback] = [History(config, clock), *more_callbacks]
    if num_train_steps is not None:
        shape = max_seq_length, num_predictions
        if config.ema_decay:
            folder = os.path.join(config.output_dir, "averages")
            callbacks.insert(
                0, WeightAverages(model, config.ema_decay, strategy, folder)
            )
        if config.summary_steps:
            # The workers agree on one number for each callback, so that all
            # of them need as many.
            callbacks.append(
                Summaries(config.summary_steps, *shape)
                if config.is_chief
                else Callback()
            )
        callbacks = [
            *([teacher] if teacher else []),
            costs.MemoryCheck(*shape),
            NonFinite(config.max_nonfinite_steps, describe_batch),
            ProgressBar(num_train_steps),
            *callbacks,
            clock,
            StopSignals(),
        ]
    trainer = Trainer(model, loss, optimizer, config, callbacks, strategy)
    if not (prefers_best and trainer.restore_best()):
        trainer.restore_or_load()
    if num_train_steps is not None:
        _check_batch_sizes(config, strategy)
        trainer.summary.settings = {
            "bert_config": model.config.to_dict(),
            "batch_size": config.batch_sizes.final,
            "max_seq_length": max_seq_length,
            "optimizer": config.optimizer,
            "freeze_layers": config.freeze_layers,
            "ema_decay": config.ema_decay or None,
            "seed": config.seed,
            **(settings or {}),
            **(teacher.settings if teacher else {}),
        }
        run_settings.check(
            config.output_dir, trainer.summary.settings, config.is_chief
        )
    return trainer


def _freeze_layers(model: keras.Model, num_layers: int) -> None:
    """Freezes the embeddings and the lowest blocks.

    Raises:
        ValueError: the model has fewer blocks.
    """
    if not num_layers:
        return
    blocks = model.bert.encoder.blocks
    if num_layers > len(blocks):
        raise ValueError(
            f"--freeze_layers={num_layers}, but the model has {len(blocks)}"
        )
    for layer in [model.bert.embeddings, *blocks[:num_layers]]:
        layer.trainable = False


def _check_batch_sizes(
    config: TrainingConfig, strategy: tf.distribute.Strategy
) -> None:
    """Refuses batches that the devices cannot share evenly."""
    sizes, replicas = config.batch_sizes, strategy.num_replicas_in_sync
    for size, flag in (
        (sizes.final, "--train_batch_size"),
        *((n, "--batch_size_warmup") for n, _ in sizes.warmup),
    ):
        size //= config.gradient_accumulation_steps
        if size % replicas:
            raise ValueError(
                f"{flag}={size} cannot be shared evenly by {replicas} "
                f"devices; give a multiple of {replicas}"
            )


def check(
    config: PretrainingConfig | FineTuningConfig,
) -> modeling.BertConfig:
    """Checks a command and the files it names, before any long work.

    Returns:
        configuration of the model.

    Raises:
        ValueError: nothing is to be done, there is no source of weights, or a
            flag contradicts a file.
        OSError: a file is missing, or the export cannot be written.
    """
    config.check_actions()
    if not checkpoint_steps(config.output_dir):
        if config.init_checkpoint:
            modeling.find_checkpoint(config.init_checkpoint)
        elif not config.do_train:
            raise ValueError(
                f"no checkpoint in --output_dir={config.output_dir} and no "
                "--init_checkpoint: train first, or give one"
            )
    if config.export_dir:
        export_folders.check(config.export_dir)
    bert_config = load_config(
        config.bert_config_file,
        config.max_seq_length,
        config.export_seq_length,
    )
    distillation.check(config, bert_config)
    return bert_config


def load_config(
    bert_config_file: str,
    max_seq_length: int,
    export_seq_length: int | None = None,
) -> modeling.BertConfig:
    """Returns the model's configuration, checked against lengths and memory.

    Raises:
        ValueError: the model has fewer positions than one of the lengths, or
            more weights than this machine's memory can hold.
    """
    config = modeling.load_config(bert_config_file)
    needed, there = 4 * config.num_parameters, costs.machine_memory()
    if needed > there:
        raise ValueError(
            f"{bert_config_file}: the weights of this model alone take "
            f"{needed / 2**30:,.1f} GiB, and there are {there / 2**30:.1f} "
            f"GiB of memory; are its sizes right? vocab_size="
            f"{config.vocab_size}, hidden_size={config.hidden_size}, "
            f"num_hidden_layers={config.num_hidden_layers}, intermediate_size="
            f"{config.intermediate_size}, max_position_embeddings="
            f"{config.max_position_embeddings}, type_vocab_size="
            f"{config.type_vocab_size}"
        )
    for name, length in (
        ("max_seq_length", max_seq_length),
        ("export_seq_length", export_seq_length or 0),
    ):
        if length > config.max_position_embeddings:
            raise ValueError(
                f"--{name}={length} is more than the model's "
                f"{config.max_position_embeddings} positions "
                f"(max_position_embeddings in {bert_config_file}); give "
                f"a smaller --{name}"
            )
    return config
