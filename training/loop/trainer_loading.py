"""Loads the models of a command: the `Trainer` of its `RunPlan`, the teacher.

`fine_tune` and `pretrain` load the teacher first, if the command has one. They
plan the run when they know the records, and then load its Trainer: the folder,
the model and the weights to start from. `Trainer.fit` trains it, and
final_steps.py has the steps after the training.
"""

import dataclasses
import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, Unpack

import keras
import tensorflow as tf

import modeling
from exporting.export_writer import is_exportable
from model_folders import kinds
from model_folders.bert_config import BertConfig
from model_folders.model_json import TrainingSettings
from model_folders.output_modes import OutputMode
from model_folders.reading import settings_check
from model_folders.reading.preset import (
    Preset,
    load_required_config,
    read_preset,
)
from modeling.base_loss import AnyLoss
from training.config.model_config import POLICY_OF_PRECISION
from training.config.training_config import NumSteps, TrainingConfig
from training.loop.train_step import TrainStep
from training.loop.trainer import Trainer
from training.optimizers import optimization
from training.optimizers.adamw import TrainingOptimizer
from training.preparation.start_checks import (
    check_head_labels,
    warn_of_unnamed_outputs,
)
from training.run_files.run_folder import RunFolder
from training.starting_point import StartingPoint

if TYPE_CHECKING:
    from modeling.arguments import TaskModelArguments
    from modeling.base_task_model import AnyTaskModel


class CreateModel(Protocol):
    """Creates the model of a task, as `FineTuningTask.create_model` does."""

    def __call__(
        self,
        bert_config: BertConfig,
        /,
        **arguments: "Unpack[TaskModelArguments]",
    ) -> "AnyTaskModel":
        """Creates the model, with arguments that every model accepts."""


@dataclasses.dataclass(frozen=True)
class RunPlan:
    """The plan of a training: its model, its loss, its steps and its settings.

    Attributes:
        create_model: function that creates the task's model.
        loss: the task's loss.
        num_steps: numbers of the steps, None without training.
        training_settings: the settings that a resumed run must keep, {} to
            record none.
        labels: names of the model's outputs, in order. If None, the run has no
            labels.txt.
        label_alternatives: `labels`, and other lists of names that the files
            of the weights may use for the outputs. Empty if the outputs are
            not labels.
        dev_set_checksum: checksum of the dev set, 0 without one. The history
            records it with each evaluation.
    """

    create_model: CreateModel
    loss: AnyLoss
    num_steps: NumSteps | None
    training_settings: TrainingSettings
    labels: Sequence[str] | None = None
    label_alternatives: Sequence[Sequence[str]] = ()
    dev_set_checksum: int = 0


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
        strategy: the strategy of the devices, as `devices.connect_devices`
            returns it. It creates the variables.
        teacher: the teacher to learn from, None without a teacher.

    Returns:
        the Trainer, with the weights that `RunWeights.load_start` chooses.

    Raises:
        ValueError: a flag does not fit the model or the devices, the weights do
            not fit the model, or a line of the history is malformed. Or
            --export_dir is set, and `serving.export` does not know the class of
            the model.
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

    First sets the seed and the precision of the flags, which are global in
    Keras. So the random weights do not depend on what was created before, such
    as the teacher.

    Args:
        starting_point: the flags and the network of the run.
        run_folder: folder of the run.
        plan: creates the task's model, and says how many steps to train it.
        strategy: the strategy of the devices. It creates the variables.
        teacher: the teacher to learn from, None without a teacher.

    Raises:
        ValueError: a flag does not fit the model or the devices. Or
            --export_dir is set, and `serving.export` does not know the class of
            the model.
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
                starting_point,
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
    """Sets Keras's global seed and precision, before a model is created."""
    keras.utils.set_random_seed(config.training.seed)
    if config.training.deterministic:
        tf.config.experimental.enable_op_determinism()
    # Variables, losses, softmax and LayerNorm's statistics stay float32.
    keras.config.set_dtype_policy(
        POLICY_OF_PRECISION[config.devices.mixed_precision]
    )


def _freeze_blocks(model: "AnyTaskModel", num_blocks: int) -> None:
    """Freezes the embeddings and the first blocks, or nothing for 0 blocks."""
    if num_blocks:
        bert = model.bert
        for layer in [bert.embeddings, *bert.encoder.blocks[:num_blocks]]:
            layer.trainable = False


def _create_train_step(
    starting_point: StartingPoint[TrainingConfig],
    model: "AnyTaskModel",
    loss: AnyLoss,
    num_steps: NumSteps,
    *,
    strategy: tf.distribute.Strategy,
    teacher: "AnyTaskModel | None",
) -> TrainStep:
    """Creates the TrainStep of the model, alone or with a teacher."""
    create_step = functools.partial(
        TrainStep,
        optimizer=_create_optimizer(starting_point, num_steps),
        training_options=starting_point.config.training,
        jit_compile=starting_point.config.devices.jit_compile,
        strategy=strategy,
    )
    if teacher is None:
        return create_step(model=model, loss=loss)
    distiller, distillation_loss = _create_distiller_and_loss(
        starting_point, model, loss, teacher
    )
    return create_step(model=distiller, loss=distillation_loss)


def _create_optimizer(
    starting_point: StartingPoint[TrainingConfig], num_steps: NumSteps
) -> TrainingOptimizer:
    optimizer = optimization.create_optimizer(
        starting_point.config.optimizer, num_steps.training, num_steps.warmup
    )
    if starting_point.config.devices.mixed_precision != "float16":
        return optimizer
    # Small gradients underflow in float16 without a loss scale.
    return keras.optimizers.LossScaleOptimizer(optimizer)


def _create_distiller_and_loss(
    starting_point: StartingPoint[TrainingConfig],
    model: "AnyTaskModel",
    loss: AnyLoss,
    teacher: "AnyTaskModel",
) -> tuple[modeling.Distiller, modeling.DistillationLoss]:
    """Creates the model with its teacher, and the loss of the two."""
    config = starting_point.config
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


def _check_can_export(config: TrainingConfig, model: "AnyTaskModel") -> None:
    """Checks before the training that --export_dir can be written after it."""
    export_dir = config.export.export_dir
    if export_dir and not is_exportable(model):
        raise ValueError(
            f"--export_dir={export_dir}: no signatures are defined for "
            f"a {kinds.model_class_of(model)}. Add the class to "
            "model_folders/kinds.py and exporting/export_writer.py, "
            "or train without --export_dir"
        )


def load_teacher(
    starting_point: StartingPoint[TrainingConfig],
    create_model: CreateModel,
    label_alternatives: Sequence[Sequence[str]] = (),
    output_mode: OutputMode | None = None,
) -> "AnyTaskModel | None":
    """Loads the model in --teacher, whose outputs a student learns to match.

    modeling/distillation.py computes the loss.

    Returns None if the command has no teacher, or does not train.

    Args:
        starting_point: the student's flags, configuration and tokenizer.
        create_model: creates the task's model.
        label_alternatives: lists of names that the outputs may have.
        output_mode: output mode of the task, None if it has only one.

    Raises:
        ValueError: the teacher was not trained on this task, or has another
            tokenizer.
        OSError: the teacher cannot be read.
    """
    config = starting_point.config
    path = config.distillation.teacher
    if not path or not config.training.do_train:
        return None
    preset = _read_teacher_preset(starting_point, path)
    bert_config = _read_teacher_config(preset)
    _check_teacher(starting_point, preset, bert_config, output_mode)
    if label_alternatives:
        check_head_labels(preset, label_alternatives)
        warn_of_unnamed_outputs(preset, label_alternatives)
    # Compare the sizes that the files state before a model of these sizes is
    # created.
    modeling.check_checkpoint(preset, config=bert_config)
    model = create_model(
        bert_config,
        **preset.network_arguments,
        trim_padding=config.trims_padding,
        dtype=POLICY_OF_PRECISION[config.devices.mixed_precision],
    )
    report = modeling.load_checkpoint(
        model, preset, label_alternatives=label_alternatives
    )
    heads = [name for name in report.missing if not name.startswith("bert/")]
    if heads and config.distillation.distill_alpha:
        raise ValueError(
            f"--teacher={path} contains no {heads[0]}, a weight of the task's "
            "head. Train the teacher on this task first, or set "
            "--distill_hidden and --distill_alpha=0 to learn only from the "
            "teacher's last block"
        )
    return model


def _read_teacher_preset(
    starting_point: StartingPoint[TrainingConfig], path: str
) -> Preset:
    # Without --init_checkpoint, a new run may begin with blocks of the teacher,
    # whose files were read for the StartingPoint.
    begins_with_teacher = not (
        starting_point.is_own_run or starting_point.config.model.init_checkpoint
    )
    if starting_point.preset and begins_with_teacher:
        return starting_point.preset
    return read_preset(path, "--teacher")


def _read_teacher_config(preset: Preset) -> BertConfig:
    if not preset.config_file:
        # Without a configuration, the folder may contain weights that this
        # project cannot load. The error of this check names their library.
        modeling.check_checkpoint(preset)
    return load_required_config(preset)


def _check_teacher(
    starting_point: StartingPoint[TrainingConfig],
    preset: Preset,
    bert_config: BertConfig,
    output_mode: OutputMode | None,
) -> None:
    """Checks that the teacher has the tokenizer and the head of the student.

    The teacher reads the records of the student, so both need the same
    tokenizer. Their networks may differ.
    """
    config = starting_point.config
    settings_check.check_trained_settings(
        preset, bert_config, starting_point.tokenizer, output_mode=output_mode
    )
    if config.distillation.distill_alpha:
        settings_check.check_model_class(preset, config.model_class)
    # The teacher's folder may lack the vocabulary to compare.
    vocab_size = starting_point.bert_config.vocab_size
    if bert_config.vocab_size != vocab_size:
        raise ValueError(
            f"--teacher has vocab_size={bert_config.vocab_size}, but the model "
            f"has {vocab_size}; choose a teacher with the model's vocabulary"
        )
