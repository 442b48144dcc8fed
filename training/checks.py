"""Checks a command's flags and the files they name, before any slow work."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from absl import logging

import modeling
from data.text.tokenization import FullTokenizer
from files import folders, json_files
from files.labels import PROBLEM_TYPES, similar_labels
from training import model_folder
from training.callbacks import distillation
from training.config import FineTuningConfig, PretrainingConfig, TrainingConfig
from training.model_folder import ModelFolder
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


def check(config: PretrainingConfig | FineTuningConfig) -> modeling.BertConfig:
    """Checks the flags of a command, and the files that the flags name.

    Returns:
        configuration of the model.

    Raises:
        ValueError: the command selects no action, no checkpoint provides
            the weights, or a flag contradicts a file.
        OSError: a file is missing, or the export cannot be written.
    """
    if not any(getattr(config, action) for action in config.actions):
        names = " or ".join(f"--{action}" for action in config.actions)
        raise ValueError(f"nothing to do: set {names}")
    if not config.has_checkpoint:
        if config.init_checkpoint:
            modeling.find_checkpoint(config.init_checkpoint)
        elif not config.do_train:
            raise ValueError(
                f"no checkpoint in --output_dir={config.output_dir} and no "
                "--init_checkpoint: train first, or set --init_checkpoint"
            )
    for flag in ("export_dir", "export_weights"):
        if path := getattr(config, flag):
            folders.check_folder(path, f"--{flag}")
    has_lstm = config.export_dir and getattr(config, "bilstm", False)
    if has_lstm and "litert" in config.export_formats:
        raise ValueError(
            f"--export_format={config.export_format}: LiteRT cannot run the "
            "LSTM of --bilstm; choose onnx or saved_model"
        )
    bert_config = load_config(config)
    distillation.check_teacher(config, bert_config)
    return bert_config


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
        length = getattr(config, name) or 0
        if length > found.max_position_embeddings:
            raise ValueError(
                f"--{name}={length} is more than the model's "
                f"{found.max_position_embeddings} positions "
                f"(max_position_embeddings in {file}); set a smaller --{name}"
            )
    return found


def prepare(
    task: Task, config: FineTuningConfig
) -> tuple[modeling.BertConfig, ModelFolder | None]:
    """Checks a fine-tuning command, and calls `prepare` of its task.

    Returns:
        (configuration of the model, result of `read_model`).

    Raises:
        ValueError: a flag contradicts another flag or a file.
        OSError: a file is missing, or an output cannot be written.
    """
    bert_config = check(config)
    folder = read_model(config)
    saved_labels = None
    # A run that starts fine-tuning ignores the labels of --init_checkpoint.
    if folder and (config.has_checkpoint or not config.do_train):
        saved_labels = folder.labels
    task.prepare(bert_config, saved_labels)
    tokenizer = getattr(task, "tokenizer", None)
    check_identity(config, folder, bert_config, tokenizer, task.settings)
    if folder and not config.do_train:
        check_head(task, config, folder, saved_labels)
    if task.labels:
        check_labels(task, config, saved_labels)
    names = [
        f"{name}{suffix_of(split)}"
        for split in task.splits["eval"]
        for name in (*task.metrics, *["eval_loss"] * task.has_eval_loss)
    ]
    if config.metric_for_best and config.metric_for_best not in names:
        raise ValueError(
            f"--metric_for_best={config.metric_for_best} is not a metric of "
            f"this task; choose one of {', '.join(names)}"
        )
    return bert_config, folder


def read_model(config: TrainingConfig) -> ModelFolder | None:
    """Reads the folder of the model whose weights a command uses.

    This is --output_dir if it contains a checkpoint, else the folder of
    --init_checkpoint. Returns None if the weights are random.
    """
    if config.has_checkpoint:
        return model_folder.read(config.output_dir, "--output_dir")
    start = config.init_checkpoint
    return model_folder.read(start, "--init_checkpoint") if start else None


def check_identity(
    config: TrainingConfig,
    folder: ModelFolder | None,
    bert_config: modeling.BertConfig,
    tokenizer: FullTokenizer | None,
    settings: Mapping[str, Any],
) -> None:
    """Checks that a model was trained with this tokenizer and network.

    Args:
        config: the flags.
        folder: result of `read_model`.
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
        model_folder.read(config.teacher, "--teacher").check_identity(
            distillation.load_teacher_config(config.teacher), tokenizer, head
        )


def check_labels(
    task: Task, config: FineTuningConfig, saved: list[str] | None
) -> None:
    """Checks that the labels of a task match the labels of its model.

    Args:
        task: a task with labels.
        config: the flags.
        saved: labels saved beside the checkpoint that the command loads. None
            if no labels are saved, or if the command starts to fine-tune
            --init_checkpoint, whose labels may be in another order.

    Raises:
        ValueError: the model was trained with other labels, or the command
            would overwrite the labels of --init_checkpoint.
    """
    labels, start = list(task.labels or ()), config.init_checkpoint
    if saved:
        order = modeling.find_order(saved, task.output_names)
        # The labels' order must not change in a resumed run or with --labels.
        is_fixed = config.has_checkpoint or getattr(config, "labels", None)
        if not order or (is_fixed and order != sorted(order)):
            raise ValueError(
                f"the model was trained with the labels {saved}, in this "
                f"order; the task has {labels}. Use the task that the model "
                "was trained for, or train into another --output_dir"
            )
    if config.do_train and start and not config.has_checkpoint:
        is_here = config.open_run().contains(start)
        found = modeling.load_labels(start) if is_here else None
        if found and found != labels:
            raise ValueError(
                f"--output_dir={config.output_dir} contains the model of "
                "--init_checkpoint, and the run would overwrite that model's "
                f"labels {found}; choose another --output_dir"
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
    folder: ModelFolder,
    saved: list[str] | None,
) -> None:
    """Checks that a checkpoint's head fits the task.

    Call this function only for a command without --do_train.

    Args:
        task: the task. If its `problem_type` is None, the task chooses one of
            several labels, and a head of another type only causes a warning.
        config: the flags.
        folder: result of `read_model`.
        saved: labels saved beside the checkpoint, None if there are none.

    Raises:
        ValueError: the head's class or `problem_type` differs from the task's.
    """
    folder.check_class(config.head)
    if config.head == "BertEmbedder":
        _check_pooling(Path(folder.path))
    found = folder.task.get("problem_type")
    if config.head == "BertClassifier" and (
        found not in (None, task.problem_type)
    ):
        message = f"{folder.weights} has problem_type={found}"
        if task.problem_type:
            raise ValueError(
                f"{message}, but this task needs {task.problem_type}. Set "
                "--output_mode to the value that the model was trained with"
            )
        if found != PROBLEM_TYPES["classification"]:
            logging.warning(
                "%s, but this task chooses one label for each example.",
                message,
            )
    if config.has_checkpoint:
        return
    shapes = folder.shapes
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


def _check_pooling(folder: Path) -> None:
    """Warns if sentence-transformers would compute different vectors."""
    file = folder / "1_Pooling/config.json"
    pooling = json_files.read_json(file) if file.is_file() else {}
    modes = [
        value if isinstance(value, str) else name
        for name, value in pooling.items()
        if name.startswith("pooling_mode") and value
    ]
    modules, more = folder / "modules.json", False
    if modules.is_file():
        found = json_files.parse_json(modules.read_bytes(), str(modules), list)
        more = any("Dense" in str(module) for module in found)
    if more or modes not in ([], ["mean"], ["pooling_mode_mean_tokens"]):
        logging.warning(
            "%s was trained with %s, but this program averages the vectors of "
            "a text's tokens. The results will differ from the vectors that "
            "sentence-transformers computes.",
            folder,
            "a Dense layer" if more else f"pooling by {', '.join(modes)}",
        )
