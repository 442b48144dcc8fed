"""Checks a command's flags against the files they name, before long work."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from absl import logging

import modeling
from data.text.tokenization import FullTokenizer
from files import export_folders
from files.labels import similar_labels
from training import costs, model_checks, run_state
from training.callbacks import distillation
from training.config import (
    FineTuningConfig,
    PretrainingConfig,
    TrainingConfig,
)
from training.run_folder import are_same, checkpoint_steps, folder_of
from training.splits import suffix_of
from training.task import Task

# In names of weights: the parts of BERT, and the heads of its pretraining.
_PARTS_OF_BERT = re.compile(
    r"(?:^|[./])(?:bert|embeddings|encoder|pooler|cls|bilstm)[./]"
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
    config.check_actions()
    if config.is_chief:
        run_state.mend(config.output_dir)
        for path in filter(None, (config.init_checkpoint, config.teacher)):
            run_state.mend(folder_of(path), is_own=False)
    if not config.has_checkpoint:
        if config.init_checkpoint:
            modeling.find_checkpoint(config.init_checkpoint)
        elif not config.do_train:
            raise ValueError(
                f"no checkpoint in --output_dir={config.output_dir} and no "
                "--init_checkpoint: train first, or set --init_checkpoint"
            )
    if config.export_dir:
        export_folders.check(config.export_dir)
        if getattr(config, "bilstm", False) and (
            "litert" in config.export_formats
        ):
            raise ValueError(
                f"--export_format={config.export_format}: LiteRT cannot run "
                "the LSTM of --bilstm; choose onnx, openvino or saved_model"
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
        ValueError: a length is above the model's number of positions, or the
            weights do not fit into this machine's memory.
    """
    file = config.bert_config_file
    found = modeling.load_config(file)
    costs.check_sizes(found, file)
    for name in ("max_seq_length", "export_seq_length"):
        length = getattr(config, name) or 0
        if length > found.max_position_embeddings:
            raise ValueError(
                f"--{name}={length} is more than the model's "
                f"{found.max_position_embeddings} positions "
                f"(max_position_embeddings in {file}); set a smaller --{name}"
            )
    return found


def prepare(task: Task, config: FineTuningConfig) -> modeling.BertConfig:
    """Checks a fine-tuning command, and prepares its task.

    Returns:
        configuration of the model.

    Raises:
        ValueError: a flag contradicts another flag or a file.
        OSError: a file is missing, or an output cannot be written.
    """
    bert_config = check(config)
    if config.do_train:
        _check_num_train_runs(config)
    saved_labels = _read_labels(config)
    task.prepare(bert_config, saved_labels)
    tokenizer = getattr(task, "tokenizer", None)
    check_identity(config, bert_config, tokenizer, task.settings)
    if not config.do_train:
        _check_heads(task, config, saved_labels)
    _check_labels(task, config, saved_labels)
    if task.labels and config.do_train:
        check_labels_of_start(config, task.labels)
    if alike := similar_labels(task.labels or ()):
        logging.warning(
            "These labels count as different labels, although they differ only "
            "in case, Unicode form or the form of a number: %s. Correct the "
            "data if they mean the same label.",
            "; ".join(map(str, alike)),
        )
    names = [
        f"{name}{suffix_of(split)}"
        for split in task.splits["eval"]
        for name in (*task.metrics, *["eval_loss"] * task.has_eval_loss)
    ]
    if config.metric_for_best and config.metric_for_best not in names:
        raise ValueError(
            f"--metric_for_best={config.metric_for_best} is no metric of this "
            f"task; choose one of {', '.join(names)}"
        )
    return bert_config


def _check_num_train_runs(config: FineTuningConfig) -> None:
    """Checks that --output_dir does not mix a single run with several runs."""
    folder = Path(config.output_dir)
    if config.num_train_runs > 1:
        if checkpoint_steps(folder) and not (folder / "run_1").is_dir():
            raise ValueError(
                f"--output_dir={folder} contains a single run; choose another "
                f"folder for --num_train_runs={config.num_train_runs}"
            )
    elif (folder / "run_1").is_dir():
        raise ValueError(
            f"--output_dir={folder} contains several runs; set "
            "--num_train_runs to resume them, or another --output_dir"
        )


def _models(config: TrainingConfig) -> list[tuple[str, str]]:
    """Returns (flag, path) of the models whose weights a command uses."""
    if members := getattr(config, "ensemble", None):
        return [("--ensemble", path) for path in members.split(",")]
    if config.has_checkpoint:
        return [("--output_dir", config.output_dir)]
    # Without a checkpoint in --output_dir, a run uses --init_checkpoint.
    start = config.init_checkpoint
    return [("--init_checkpoint", start)] if start else []


def check_identity(
    config: TrainingConfig,
    bert_config: modeling.BertConfig,
    tokenizer: FullTokenizer | None,
    settings: Mapping[str, Any],
) -> None:
    """Checks that the model was trained with this tokenizer and network.

    Args:
        config: the flags.
        bert_config: configuration of the model.
        tokenizer: the task's tokenizer. None = do not compare tokenizers.
        settings: settings of the task, of which only `output_mode` is compared.

    Raises:
        ValueError: a setting differs. The message names the setting.
    """
    mode = {"output_mode"} & settings.keys()
    head = {name: settings[name] for name in mode}
    given = config.network | ({} if config.do_train else head)
    for flag, path in _models(config):
        model_checks.check_identity(
            flag, path, bert_config, tokenizer, given, config.do_train
        )
    if config.teacher:
        # The teacher reads the student's records, so their tokenizers must be
        # equal. Their networks may differ.
        model_checks.check_identity(
            "--teacher",
            config.teacher,
            distillation.load_teacher_config(config.teacher),
            tokenizer,
            head,
        )


def _read_labels(config: FineTuningConfig) -> list[str] | None:
    """Returns the labels saved beside the checkpoint that this run will load.

    The labels are in `labels.txt`, or in the config.json of a Hugging Face
    model. Returns None if there are none. A run that starts fine-tuning from
    --init_checkpoint ignores the labels that are saved there.
    """
    if config.has_checkpoint:
        return modeling.load_labels(config.output_dir)
    if config.init_checkpoint and not config.do_train:
        return modeling.load_labels(config.init_checkpoint)
    return None


def _check_labels(
    task: Task, config: FineTuningConfig, saved: list[str] | None
) -> None:
    """Checks that the task has the labels that the model was trained with.

    A run that starts from --init_checkpoint may list the same labels in another
    order.
    """
    if not (task.labels and saved):
        return
    order = modeling.find_order(saved, task.output_names)
    # The labels' order must not change in a resumed run or with --labels.
    is_fixed = config.has_checkpoint or getattr(config, "labels", None)
    if not order or (is_fixed and order != sorted(order)):
        raise ValueError(
            f"the model was trained with the labels {saved}, in this "
            f"order; the task has {list(task.labels)}. Use the task that the "
            "model was trained for, or train into another --output_dir"
        )


def _check_heads(
    task: Task, config: FineTuningConfig, saved: list[str] | None
) -> None:
    """Checks that a checkpoint's head fits a task that will not be trained."""
    for flag, path in _models(config):
        model_checks.check_head(path, config.head, task.problem_type)
        if config.has_checkpoint:
            continue
        shapes = modeling.read_shapes(modeling.find_checkpoint(path))
        if config.head and not modeling.has_head(config.head, shapes):
            foreign = [
                name
                for name, shape in shapes.items()
                if len(shape) == 2 and not _PARTS_OF_BERT.search(name)
            ]
            if foreign:
                raise ValueError(
                    f"{flag}={path} contains {', '.join(foreign)}, and no head "
                    f"that a {config.head} loads. Save the model under the "
                    "names of BERT in transformers (such as "
                    "classifier.weight), or train a new head with --do_train"
                )
            logging.warning(
                "%s=%s contains no weights for the task's head, so the outputs "
                "are random. Train the model on the task first (--do_train).",
                flag,
                path,
            )
        elif task.labels and not saved:
            logging.warning(
                "%s=%s does not name its outputs. They are assumed to be %s, "
                "in this order.",
                flag,
                path,
                ", ".join(task.labels),
            )


def check_labels_of_start(
    config: FineTuningConfig, labels: Sequence[str]
) -> None:
    """Checks that the run does not overwrite the labels of --init_checkpoint.

    Raises:
        ValueError: --init_checkpoint is in --output_dir and has other labels.
    """
    folder = config.output_dir
    if not config.init_checkpoint or config.has_checkpoint:
        return
    start = folder_of(config.init_checkpoint)
    found = modeling.load_labels(start) if are_same(start, folder) else None
    if found and found != list(labels):
        raise ValueError(
            f"--output_dir={folder} contains the model of --init_checkpoint; "
            f"the run would overwrite its labels {found}; choose another "
            "--output_dir"
        )
