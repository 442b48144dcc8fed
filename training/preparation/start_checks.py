"""Checks a command before slow work: its flags, its weights and its task.

`fine_tune` and `pretrain` begin with these checks, after the rows of
--data_file have decided the length. This module imports no TensorFlow.
"""

from collections.abc import Sequence

from absl import logging

import modeling
from data.sets.label_spelling import list_similar_labels
from data.sets.set_names import suffix_of
from model_folders import atomic_folders
from model_folders.labels import find_order
from model_folders.reading import settings_check
from model_folders.reading.preset import Preset
from training.config.training_config import TrainingConfig
from training.starting_point import StartingPoint
from training.task import AnyFineTuningTask


def check_start(starting_point: StartingPoint[TrainingConfig]) -> None:
    """Checks the weights, the lengths and the folders of the flags.

    Args:
        starting_point: the flags, after files have decided those that were
            open, and the Preset of the weights.

    Raises:
        ValueError: a flag contradicts a file.
        OSError: a file is missing, or the export cannot be written.
    """
    config = starting_point.config
    if starting_point.preset and not starting_point.is_own_run:
        modeling.check_checkpoint(
            starting_point.preset,
            config=starting_point.bert_config,
            initial_blocks=config.distillation.initial_blocks,
        )
    outputs = {
        "--export_dir": config.export.export_dir,
        "--export_weights": config.training.export_weights,
    }
    for flag, path in outputs.items():
        if path:
            atomic_folders.check_replaceable(path, flag)
    settings_check.check_lengths(
        starting_point.bert_config,
        config.model.required_config_file,
        max_seq_length=config.max_seq_length,
        export_seq_length=config.export.export_seq_length,
    )


def check_task(task: AnyFineTuningTask) -> None:
    """Checks a task against the model and the weights that it starts from.

    Raises:
        ValueError: a flag or the task contradicts a file.
    """
    starting_point = task.starting_point
    if starting_point.preset:
        _check_weights(task, starting_point.preset)
    _check_metric_for_best(task)


def _check_weights(task: AnyFineTuningTask, preset: Preset) -> None:
    """Checks the network, the tokenizer and the head of the weights."""
    config = task.config
    starting_point = task.starting_point
    trains = config.training.do_train
    settings_check.check_trained_settings(
        preset,
        starting_point.bert_config,
        task.tokenizer,
        network_arguments=config.network_arguments,
        output_mode=None if trains else task.output_mode,
        trains=trains,
    )
    task.check_preset(preset)
    if _keeps_head(task):
        # The order must not change in a resumed run or with --labels.
        is_fixed = (
            starting_point.is_own_run or "labels" in starting_point.set_by_user
        )
        check_head_labels(preset, task.label_alternatives, is_fixed=is_fixed)


def _keeps_head(task: AnyFineTuningTask) -> bool:
    """Returns whether the command uses the trained head, which has labels.

    A run that starts fine-tuning does not use the head of --init_checkpoint.
    """
    trains = task.config.training.do_train
    is_own_run = task.starting_point.is_own_run
    return bool(task.labels) and (is_own_run or not trains)


def _check_metric_for_best(task: AnyFineTuningTask) -> None:
    """Checks that the task computes the metric of --metric_for_best."""
    chosen = task.config.fine_tuning.metric_for_best
    metrics = [*task.scoring.metrics]
    if task.scoring.eval_loss:
        metrics.append("eval_loss")
    names = [
        f"{name}{suffix_of(set_name)}"
        for set_name in task.dev_sets
        for name in metrics
    ]
    if chosen and chosen not in names:
        raise ValueError(
            f"--metric_for_best={chosen} is not a metric of this task; choose "
            f"one of {', '.join(names)}"
        )


def warn_of_labels(task: AnyFineTuningTask) -> None:
    """Warns of labels that look alike, or that the weights do not name."""
    preset = task.starting_point.preset
    if preset and _keeps_head(task):
        warn_of_unnamed_outputs(preset, task.label_alternatives)
    if similar_labels := list_similar_labels(task.labels or ()):
        logging.warning(
            "These labels differ only in their spelling, but are different "
            "labels for the model: %s. Correct the data if they mean the same.",
            "; ".join(map(str, similar_labels)),
        )


def check_head_labels(
    preset: Preset,
    label_alternatives: Sequence[Sequence[str]],
    *,
    is_fixed: bool = False,
) -> None:
    """Checks that a trained head has the labels of the task.

    The check passes if the files of the weights name no labels.

    Args:
        preset: Preset of the weights.
        label_alternatives: the labels of the task, then other names of them.
        is_fixed: whether the order must be the same too.

    Raises:
        ValueError: the labels differ.
    """
    labels = list(label_alternatives[0])
    trained_labels = preset.labels
    if not trained_labels:
        return
    order = find_order(trained_labels, label_alternatives)
    if not order or (is_fixed and order != sorted(order)):
        raise ValueError(
            f"{preset.source} was trained with the labels {trained_labels}, "
            f"in this order; the task has {labels}. Use the task that the "
            "model was trained for, or train into another --output_dir"
        )


def warn_of_unnamed_outputs(
    preset: Preset, label_alternatives: Sequence[Sequence[str]]
) -> None:
    """Logs a warning if the files of a trained head name no labels.

    The warning shows the task's labels, the first of `label_alternatives`.
    """
    if not preset.labels:
        logging.warning(
            "%s does not name its outputs. They are assumed to be %s, in this "
            "order.",
            preset.source,
            ", ".join(label_alternatives[0]),
        )
