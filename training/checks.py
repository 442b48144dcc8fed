"""Checks a command's flags and the files they name, before any slow work."""

import re
from collections.abc import Mapping
from typing import Any

from absl import logging

import modeling
from data.text.tokenization import FullTokenizer
from files import folders
from files.labels import PROBLEM_TYPES, similar_labels
from modeling import presets
from modeling.presets import Preset
from training.config import FineTuningConfig, TrainingConfig
from training.splits import suffix_of
from training.task import Task

# Matches the names of all weights of this project except fine-tuning heads.
_PARTS_OF_BERT = re.compile(
    r"(?:^|[./])(?:bert|embeddings|encoder|pooler|cls|bilstm|distillation)[./]"
)
# Matches the names of fine-tuning heads and of their optimizer slots.
_HEAD = re.compile(
    r"(?:^|[./])(?:output_weights|classifier\.weight|qa_outputs\.weight)(?:/|$)"
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


def load_config(config: Any) -> modeling.BertConfig:
    """Reads the model's configuration, and checks that it fits this command.

    Args:
        config: flags with --bert_config_file, --max_seq_length and
            --export_seq_length.

    Raises:
        ValueError: a length is above the model's number of positions.
    """
    file = config.bert_config_file
    found = modeling.load_config(file)
    for name in ("max_seq_length", "export_seq_length"):
        length = vars(config)[name] or 0
        if length > found.max_position_embeddings:
            raise ValueError(
                f"--{name}={length} is more than the model's "
                f"{found.max_position_embeddings} positions "
                f"(max_position_embeddings in {file}); set a smaller --{name}"
            )
    return found


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
    saved_labels = None
    # A run that starts fine-tuning ignores the labels of --init_checkpoint.
    if folder and (folder.is_resumed or not config.do_train):
        saved_labels = folder.labels
    check_identity(config, folder, bert_config, task.tokenizer, task.settings)
    if folder and not config.do_train:
        check_head(task, config, folder, saved_labels)
    if task.labels:
        resumes = folder is not None and folder.is_resumed
        check_labels(task, config, saved_labels, resumes)
    names = [
        f"{name}{suffix_of(split)}"
        for split in task.splits["eval"]
        for name in (*task.metrics, *["eval_loss"] * bool(task.eval_loss))
    ]
    if config.metric_for_best and config.metric_for_best not in names:
        raise ValueError(
            f"--metric_for_best={config.metric_for_best} is not a metric of "
            f"this task; choose one of {', '.join(names)}"
        )


def check_identity(
    config: TrainingConfig,
    folder: Preset | None,
    bert_config: modeling.BertConfig,
    tokenizer: FullTokenizer | None,
    settings: Mapping[str, Any],
) -> None:
    """Checks that a model was trained with this tokenizer and network.

    Args:
        config: the flags.
        folder: result of `read_preset`.
        bert_config: configuration of the model.
        tokenizer: the task's tokenizer. None = do not compare tokenizers.
        settings: settings of the task, of which only `output_mode` is compared.

    Raises:
        ValueError: a setting differs. The message names the setting.
    """
    mode = {"output_mode"} & settings.keys()
    head = {name: settings[name] for name in mode}
    given = config.network | ({} if config.do_train else head)
    if folder:
        folder.check_identity(bert_config, tokenizer, given, config.do_train)
    if config.teacher:
        # The teacher reads the student's records, so both need the same
        # tokenizer. Their networks may differ.
        network = modeling.load_config(presets.folder_of(config.teacher))
        presets.read(config.teacher, "--teacher").check_identity(
            network, tokenizer, head
        )


def check_labels(
    task: Task,
    config: FineTuningConfig,
    saved: list[str] | None,
    resumes: bool,
) -> None:
    """Checks that the labels of a task match the labels of its model.

    Args:
        task: a task with labels.
        config: the flags.
        saved: labels saved beside the checkpoint that the command loads. None
            if no labels are saved, or if the command starts to fine-tune
            --init_checkpoint, whose labels may be in another order.
        resumes: whether the command continues a run.

    Raises:
        ValueError: the model was trained with other labels.
    """
    labels = list(task.labels or ())
    if saved:
        order = modeling.find_order(saved, task.output_names)
        # The labels' order must not change in a resumed run or with --labels.
        is_fixed = resumes or "labels" in config.given_flags
        if not order or (is_fixed and order != sorted(order)):
            raise ValueError(
                f"the model was trained with the labels {saved}, in this "
                f"order; the task has {labels}. Use the task that the model "
                "was trained for, or train into another --output_dir"
            )
    if alike := similar_labels(labels):
        logging.warning(
            "These labels are treated as different labels, although they "
            "differ only in case, Unicode normalization or number format: %s. "
            "Correct the data if they mean the same label.",
            "; ".join(map(str, alike)),
        )


def check_head(
    task: Task,
    config: FineTuningConfig,
    folder: Preset,
    saved: list[str] | None,
) -> None:
    """Checks that a checkpoint's head fits the task.

    Call this function only for a command without --do_train.

    Args:
        task: the task.
        config: the flags.
        folder: result of `read_preset`.
        saved: labels saved beside the checkpoint, None if there are none.

    Raises:
        ValueError: the head's class or the kind of its outputs differs.
    """
    folder.check_head(config.head)
    if config.head == "BertEmbedder":
        folder.warn_of_pooling()
    # A cross-encoder that states no problem_type is a regression too.
    mode = folder.settings.get("output_mode")
    found = PROBLEM_TYPES.get(mode or "", folder.settings.get("problem_type"))
    expected = PROBLEM_TYPES.get(task.settings.get("output_mode", ""))
    if None not in (found, expected) and found != expected:
        raise ValueError(
            f"{folder.weights} has problem_type={found}, but this task needs "
            f"{expected}. Set --output_mode to the value that the model was "
            "trained with"
        )
    if folder.is_resumed:
        return
    shapes = modeling.read_shapes(modeling.find_checkpoint(folder.weights))
    foreign = [
        name
        for name, shape in shapes.items()
        if len(shape) == 2 and not _PARTS_OF_BERT.search(name)
    ]
    has_head = not config.head or modeling.has_head(config.head, shapes)
    more = [name for name in foreign if not _HEAD.search(name)]
    if has_head and more:
        logging.warning(
            "%s also contains %s, which this program does not use. If the "
            "model needs these weights, its outputs will be wrong.",
            *(folder.source, ", ".join(more)),
        )
    if not has_head:
        if foreign:
            raise ValueError(
                f"{folder.source} contains {', '.join(foreign)}, but no head "
                f"that {config.head} can load. Save the weights under the "
                "names that transformers uses for BERT (such as "
                "classifier.weight), or train a new head with --do_train"
            )
        logging.warning(
            "%s contains no weights for the task's head, so the outputs are "
            "random. Train the model on the task first (--do_train).",
            folder.source,
        )
    elif task.labels and not saved:
        logging.warning(
            "%s does not name its outputs. They are assumed to be %s, in this "
            "order.",
            folder.source,
            ", ".join(task.labels),
        )
