"""The first steps of both flows: they begin or resume a run.

`train_and_evaluate` in loop/best_step.py then trains, and ending.py has the
steps after the training.
"""

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import keras
import tensorflow as tf

import modeling
from command_line.groups import PRECISIONS
from model_folders.model_entries import TrainingSettings
from modeling.base_loss import AnyLoss, BatchLoss
from training import run_export
from training.loop import devices
from training.loop.batch_gradients import Trainable
from training.loop.train_step import TrainStep
from training.loop.trainer import Trainer
from training.optimizers import optimization
from training.optimizers.adamw import TrainingOptimizer
from training.run.run_folder import RunFolder
from training.start import StartingPoint
from training.task import CreateModel
from training.training_config import NumSteps, TrainingConfig

if TYPE_CHECKING:
    from modeling.base_task_model import AnyTaskModel


@dataclasses.dataclass(frozen=True)
class Plan:
    """The plan of a command, made before its model exists.

    Attributes:
        create_model: creates the task's model.
        loss: the task's loss.
        num_steps: numbers of the steps, None without training.
        settings: result of `resuming.settings_to_record`.
        dev_set_checksum: checksum of the dev set.
        output_names: lists of possible names of the model's outputs, empty if
            the outputs are not labels.
        prefers_best: whether a command that does not train evaluates the best
            step, and not the newest checkpoint.
        writes_scores: whether the scores are those of the run, so that files
            contain them.
    """

    create_model: CreateModel
    loss: AnyLoss
    num_steps: NumSteps | None
    settings: TrainingSettings
    dev_set_checksum: int
    output_names: Sequence[Sequence[str]] = ()
    prefers_best: bool = False
    writes_scores: bool = True


def begin_run(
    start: StartingPoint[TrainingConfig],
    run_folder: RunFolder,
    plan: Plan,
    teacher: "AnyTaskModel | None",
) -> Trainer:
    """Begins or resumes a run: its folder, its model and the model's weights.

    Args:
        start: what the run starts from.
        run_folder: folder of the run.
        plan: what the command trains and evaluates.
        teacher: the teacher to learn from, None without a teacher.

    Returns:
        the Trainer, with the weights to train or to evaluate.

    Raises:
        ValueError: a flag does not fit the model or the devices. Or the weights
            do not fit the model.
        OSError: the weights cannot be read.
    """
    run_folder.record(plan.settings, plan.dev_set_checksum)
    set_seed_and_precision(start.config)
    trainer = create_trainer(
        start, run_folder, plan.create_model, plan.loss, plan.num_steps, teacher
    )
    run_export.check_model(start.config, trainer.model)
    # See there for the order in which weights are looked for.
    trainer.run_weights.restore_or_load(plan.output_names, plan.prefers_best)
    return trainer


def set_seed_and_precision(config: TrainingConfig) -> None:
    """Sets the seed and the precision of all models of this process."""
    keras.utils.set_random_seed(config.training.seed)
    if config.training.deterministic:
        tf.config.experimental.enable_op_determinism()
    # Variables, losses, softmax and LayerNorm's statistics stay float32.
    keras.config.set_dtype_policy(PRECISIONS[config.devices.mixed_precision])


def create_trainer(
    start: StartingPoint[TrainingConfig],
    run_folder: RunFolder,
    create_model: CreateModel,
    loss: AnyLoss,
    num_steps: NumSteps | None,
    teacher: "AnyTaskModel | None" = None,
) -> Trainer:
    """Creates a model with random weights, and the Trainer of its run.

    The seed and the precision are those of `set_seed_and_precision`.

    Args:
        start: what the run starts from.
        run_folder: folder of the run.
        create_model: creates the task's model.
        loss: the task's loss.
        num_steps: numbers of the steps, None without training.
        teacher: the teacher to learn from, None without a teacher.

    Raises:
        ValueError: a flag does not fit the model or the devices.
    """
    config = start.config
    strategy = devices.connect_devices(config.devices)
    train_step = None
    with strategy.scope():
        model = create_model(
            start.bert_config,
            use_one_hot_embeddings=config.devices.is_tpu,
            gradient_checkpointing=config.training.gradient_checkpointing,
            unpad=config.unpads,
            seed=config.training.seed,
        )
        model.build()
        if num_steps:
            _freeze_blocks(model, config.training.freeze_layers)
            optimizer = _create_optimizer(start, num_steps)
            trained, batch_loss = _with_teacher(start, model, loss, teacher)
            train_step = TrainStep(
                model=trained,
                loss=batch_loss,
                optimizer=optimizer,
                flags=config.training,
                jit_compile=config.devices.jit_compile,
                strategy=strategy,
            )
    return Trainer(model, config, run_folder, train_step)


def _freeze_blocks(model: "AnyTaskModel", num_blocks: int) -> None:
    """Freezes the embeddings and the first blocks, or nothing for 0 blocks."""
    if num_blocks:
        bert = model.bert
        for layer in [bert.embeddings, *bert.encoder.blocks[:num_blocks]]:
            layer.trainable = False


def _create_optimizer(
    start: StartingPoint[TrainingConfig], num_steps: NumSteps
) -> TrainingOptimizer:
    optimizer = optimization.create_optimizer(
        start.config.optimizer, num_steps.training, num_steps.warmup
    )
    if start.config.devices.mixed_precision != "float16":
        return optimizer
    # Small gradients underflow in float16 without a loss scale.
    return keras.optimizers.LossScaleOptimizer(optimizer)


def _with_teacher(
    start: StartingPoint[TrainingConfig],
    model: "AnyTaskModel",
    loss: AnyLoss,
    teacher: "AnyTaskModel | None",
) -> tuple[Trainable[Any], BatchLoss[Any]]:
    """Returns the model and its loss, or both with the teacher around them.

    The loss reads what the model returns: Outputs, or with a teacher a
    Distilled.
    """
    if teacher is None:
        return model, loss
    config = start.config
    distilled = modeling.DistillationLoss(
        loss,
        config.distillation.distill_temperature,
        config.distillation.distill_alpha,
        config.distillation.distill_hidden,
    )
    distiller = modeling.Distiller(
        model, teacher, distilled, config.training.seed
    )
    return distiller, distilled
