"""Checks a command's files and weights, before any slow work."""

import re
from collections.abc import Sequence
from typing import Any

from absl import logging

import modeling
from command_line.groups import ModelConfig
from files import folders
from modeling import kinds
from modeling.checkpoints.restore import LoadReport
from modeling.labels import similar_labels
from modeling.presets import Preset
from training.config import TrainingConfig
from training.fine_tuning_config import FineTuningConfig
from training.splits import suffix_of
from training.task import Task

# Matches the names of weights and slots that another model of this project
# ignores, and of single values, such as global_step.
_OURS = re.compile(
    r"(^|[./])(bert|embeddings|encoder|pooler|cls|bilstm|distillation|"
    r"classifier|output_\w+|qa_outputs|seed_\w+)[./]|^\w+$"
)


def check(config: TrainingConfig, folder: Preset | None) -> modeling.BertConfig:
    """Checks the files that the flags of a command name.

    Args:
        config: the resolved flags.
        folder: Preset of the weights, None without weights.

    Returns:
        configuration of the model.

    Raises:
        ValueError: a flag contradicts a file.
        OSError: a file is missing, or the export cannot be written.
    """
    if folder and not folder.is_resumed:
        modeling.find_checkpoint(folder.weights)
    for flag in ("export_dir", "export_weights"):
        if path := vars(config)[flag]:
            folders.check_folder(path, f"--{flag}")
    return load_config(config)


def load_config(config: ModelConfig) -> modeling.BertConfig:
    """Reads the model's configuration, and checks that it fits this command.

    Args:
        config: flags with --bert_config_file, --max_seq_length and
            --export_seq_length.

    Raises:
        ValueError: a length is above the model's number of positions.
    """
    file = config.bert_config_file
    bert_config = modeling.load_config(file)
    for name in ("max_seq_length", "export_seq_length"):
        length = vars(config).get(name) or 0
        if length > bert_config.max_position_embeddings:
            raise ValueError(
                f"--{name}={length} is more than the model's "
                f"{bert_config.max_position_embeddings} positions "
                f"(max_position_embeddings in {file}); set a smaller --{name}"
            )
    return bert_config


def check_task(
    task: Task,
    config: FineTuningConfig,
    folder: Preset | None,
    bert_config: modeling.BertConfig,
) -> None:
    """Checks a task against the model and the weights that it starts from.

    Args:
        task: the task.
        config: the flags.
        folder: Preset of the weights, None without weights.
        bert_config: configuration of the model.

    Raises:
        ValueError: a flag or the task contradicts a file.
    """
    if folder:
        given: dict[str, Any] = {**config.network}
        if not config.do_train and "output_mode" in task.settings:
            given["output_mode"] = task.settings["output_mode"]
        folder.check_identity(
            bert_config, task.tokenizer, given, config.do_train
        )
        if config.head == kinds.EMBEDDER and not config.do_train:
            folder.warn_of_pooling()
    # A run that starts fine-tuning does not use the head of --init_checkpoint.
    if folder and task.labels and (folder.is_resumed or not config.do_train):
        # The order must not change in a resumed run or with --labels.
        is_fixed = folder.is_resumed or "labels" in config.given_flags
        check_labels(folder, task.output_names, is_fixed)
    if alike := similar_labels(task.labels or ()):
        logging.warning(
            "These labels differ only in their spelling, but are different "
            "labels for the model: %s. Correct the data if they mean the same.",
            "; ".join(map(str, alike)),
        )
    metrics = [*task.metrics]
    if task.eval_loss:
        metrics.append("eval_loss")
    names = [
        f"{name}{suffix_of(split)}"
        for split in task.splits["eval"]
        for name in metrics
    ]
    if config.metric_for_best and config.metric_for_best not in names:
        raise ValueError(
            f"--metric_for_best={config.metric_for_best} is not a metric of "
            f"this task; choose one of {', '.join(names)}"
        )


def check_labels(
    folder: Preset, names: Sequence[Sequence[str]], is_fixed: bool = False
) -> None:
    """Checks that a trained head has the labels of the task.

    Args:
        folder: Preset of the weights.
        names: lists of possible labels, as in `modeling.load_checkpoint`.
        is_fixed: whether the order must be the same too.

    Raises:
        ValueError: the labels differ.
    """
    labels = list(names[0])
    saved = folder.labels
    if not saved:
        logging.warning(
            "%s does not name its outputs. They are assumed to be %s, in this "
            "order.",
            folder.source,
            ", ".join(labels),
        )
        return
    order = modeling.find_order(saved, names)
    if not order or (is_fixed and order != sorted(order)):
        raise ValueError(
            f"{folder.source} was trained with the labels {saved}, in this "
            f"order; the task has {labels}. Use the task that the model was "
            "trained for, or train into another --output_dir"
        )


def check_loaded(report: LoadReport, needs_head: bool = True) -> None:
    """Checks that a model which is not trained has no random weights.

    Logs a warning if the checkpoint contains weights that no model reads.

    Args:
        report: report of loading the weights.
        needs_head: whether the command computes the outputs of the head.

    Raises:
        ValueError: the checkpoint lacks the head.
    """
    others = ", ".join(x for x in report.unused if not _OURS.search(x))
    optional = ("bert/pooler/", "cls/seq_relationship/")
    lost = [name for name in report.missing if not name.startswith(optional)]
    if lost and needs_head:
        raise ValueError(
            f"{report.path} lacks {lost[0]}, so the outputs would be random. "
            "Train the head (--do_train), or name its weights as transformers "
            f"does for BERT. Unknown weights: {others or 'none'}"
        )
    if others:
        logging.warning(
            "%s also contains %s, which this program does not use. If the "
            "model needs these weights, its outputs will be wrong.",
            report.path,
            others,
        )
