"""Opens the folder of a run, creates its model, and loads its weights.

`fine_tune` and `pretrain` call `load_trainer` when they have planned the run.
`Trainer.fit` then trains the model.
"""

import functools

import keras
import tensorflow as tf

import modeling
from exporting.export_writer import is_exportable
from model_folders import kinds
from modeling.base_loss import AnyLoss
from modeling.base_task_model import AnyTaskModel
from training.config.model_config import POLICY_OF_PRECISION
from training.config.training_config import NumSteps, TrainingConfig
from training.loop.run_plan import RunPlan
from training.loop.train_step import TrainStep
from training.loop.trainer import Trainer
from training.optimizers import optimization
from training.optimizers.adamw import TrainingOptimizer
from training.run_files.run_folder import RunFolder
from training.starting_point import StartingPoint


def load_trainer(
    starting_point: StartingPoint[TrainingConfig],
    plan: RunPlan,
    *,
    strategy: tf.distribute.Strategy,
    teacher: "AnyTaskModel | None" = None,
) -> Trainer:
    """Opens the folder of a run, creates its model, and loads its weights.

    Args:
        starting_point: the flags, the network and the tokenizer of the run.
        plan: what to train and record.
        strategy: the devices, from `devices.connect_devices`. The variables of
            the model are created on them.
        teacher: the model to learn from in a distillation, or None.

    Returns:
        the Trainer, with the weights that `RunWeights.load_start` chooses.

    Raises:
        ValueError: a flag does not fit the model or the devices, the weights do
            not fit the model, or a line of the history is malformed. Or
            --export_dir is set, but models of this class cannot be exported.
        OSError: the history or the weights cannot be read.
    """
    run_folder = RunFolder.open(
        starting_point, plan.labels, dev_set_checksum=plan.dev_set_checksum
    )
    trainer = create_trainer(
        starting_point, run_folder, plan, strategy=strategy, teacher=teacher
    )
    trainer.run_weights.load_start(plan.label_alternatives)
    return trainer


def create_trainer(
    starting_point: StartingPoint[TrainingConfig],
    run_folder: RunFolder,
    plan: RunPlan,
    *,
    strategy: tf.distribute.Strategy,
    teacher: "AnyTaskModel | None" = None,
) -> Trainer:
    """Creates a model with random weights, and the Trainer of its run.

    Sets the seed and the precision of the flags, which are global in Keras, so
    the weights do not depend on what was created before, such as the teacher.

    Args:
        starting_point: the flags, the network and the tokenizer of the run.
        run_folder: the folder that the Trainer writes to.
        plan: what to train and record.
        strategy: the devices, from `devices.connect_devices`. The variables of
            the model are created on them.
        teacher: the model to learn from in a distillation, or None.

    Raises:
        ValueError: a flag does not fit the model or the devices. Or
            --export_dir is set, but models of this class cannot be exported.
    """
    config = starting_point.config
    _set_seed_and_precision(config)
    train_step = None
    with strategy.scope():
        model = plan.create_model(
            starting_point.bert_config,
            use_one_hot_embeddings=config.devices.is_tpu,
            gradient_checkpointing=config.training.gradient_checkpointing,
            trim_padding=config.trims_padding,
            seed=config.training.seed,
        )
        model.build()
        if plan.num_steps:
            _freeze_blocks(model, config.training.freeze_layers)
            train_step = _create_train_step(
                config,
                model,
                plan.loss,
                plan.num_steps,
                strategy=strategy,
                teacher=teacher,
            )
    _check_can_export(config, model)
    return Trainer(
        model,
        starting_point,
        run_folder,
        train_step,
        training_settings=plan.training_settings,
    )


def _set_seed_and_precision(config: TrainingConfig) -> None:
    """Sets the seed and the precision of Keras, which are global."""
    keras.utils.set_random_seed(config.training.seed)
    if config.training.deterministic:
        tf.config.experimental.enable_op_determinism()
    # Variables, losses, softmax and LayerNorm's statistics stay float32.
    keras.config.set_dtype_policy(
        POLICY_OF_PRECISION[config.devices.mixed_precision]
    )


def _freeze_blocks(model: AnyTaskModel, num_blocks: int) -> None:
    """Freezes the embeddings and the first blocks, or nothing for 0 blocks."""
    if num_blocks:
        bert = model.bert
        for layer in [bert.embeddings, *bert.encoder.blocks[:num_blocks]]:
            layer.trainable = False


def _create_train_step(
    config: TrainingConfig,
    model: AnyTaskModel,
    loss: AnyLoss,
    num_steps: NumSteps,
    *,
    strategy: tf.distribute.Strategy,
    teacher: "AnyTaskModel | None",
) -> TrainStep:
    """Creates the TrainStep of the model, alone or with a teacher."""
    create_step = functools.partial(
        TrainStep,
        optimizer=_create_optimizer(config, num_steps),
        training_options=config.training,
        jit_compile=config.devices.jit_compile,
        strategy=strategy,
    )
    if teacher is None:
        return create_step(model=model, loss=loss)
    distiller, distillation_loss = _create_distiller_and_loss(
        config, model, loss, teacher
    )
    return create_step(model=distiller, loss=distillation_loss)


def _create_optimizer(
    config: TrainingConfig, num_steps: NumSteps
) -> TrainingOptimizer:
    optimizer = optimization.create_optimizer(
        config.optimizer, num_steps.training, num_steps.warmup
    )
    if config.devices.mixed_precision != "float16":
        return optimizer
    # Small gradients underflow in float16 without a loss scale.
    return keras.optimizers.LossScaleOptimizer(optimizer)


def _create_distiller_and_loss(
    config: TrainingConfig,
    model: AnyTaskModel,
    loss: AnyLoss,
    teacher: AnyTaskModel,
) -> tuple[modeling.Distiller, modeling.DistillationLoss]:
    """Creates the model with its teacher, and the loss of the two."""
    distillation_loss = modeling.DistillationLoss(
        loss,
        config.distillation.distill_temperature,
        config.distillation.distill_alpha,
        config.distillation.distill_hidden,
    )
    distiller = modeling.Distiller(
        model, teacher, distillation_loss, config.training.seed
    )
    return distiller, distillation_loss


def _check_can_export(config: TrainingConfig, model: AnyTaskModel) -> None:
    """Checks before the training that --export_dir can be written after it."""
    export_dir = config.export.export_dir
    if export_dir and not is_exportable(model):
        raise ValueError(
            f"--export_dir={export_dir}: no signatures are defined for "
            f"a {kinds.model_class_of(model)}. Add the class to "
            "model_folders/kinds.py and exporting/export_writer.py, "
            "or train without --export_dir"
        )
