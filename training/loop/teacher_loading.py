"""Loads the model in --teacher, whose outputs a student learns to match.

modeling/distillation.py computes the loss of the student.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import modeling
from model_folders.bert_config import BertConfig
from model_folders.output_modes import OutputMode
from model_folders.reading import settings_check
from model_folders.reading.preset import Preset, read_preset
from training.config.model_config import POLICY_OF_PRECISION
from training.config.training_config import TrainingConfig
from training.loop.run_plan import CreateModel
from training.preparation.start_checks import (
    check_head_labels,
    warn_of_unnamed_outputs,
)
from training.starting_point import StartingPoint

if TYPE_CHECKING:
    from modeling.base_task_model import AnyTaskModel


def load_teacher(
    starting_point: StartingPoint[TrainingConfig],
    create_model: CreateModel,
    label_alternatives: Sequence[Sequence[str]] = (),
    output_mode: OutputMode | None = None,
) -> "AnyTaskModel | None":
    """Loads the teacher of a command, None if it has none or does not train.

    Args:
        starting_point: the flags, network and tokenizer of the student.
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
    return preset.load_required_config()


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
