"""Checks a fine-tuning command before any long work, and prepares its task."""

from pathlib import Path

import modeling
from training.options import FineTuningOptions
from training.outputs import checkpointing, run_settings
from training.tasks import checks
from training.tasks.splits import suffix_of
from training.tasks.task import Task


def prepare(task: Task, options: FineTuningOptions) -> modeling.BertConfig:
    """Refuses contradictory options before any long work; prepares the task.

    Returns:
        configuration of the model.

    Raises:
        ValueError: an option contradicts another, or a file.
        OSError: a file is missing, or an output cannot be written.
    """
    checks.check_command(options)
    check_num_train_runs(options)
    config = checks.check_model(options)
    if not options.do_train:
        check_networks(options)
    saved_labels = _read_labels(options)
    task.prepare(config, saved_labels)
    if task.labels and saved_labels and list(task.labels) != list(saved_labels):
        raise ValueError(
            f"the model was trained with the labels {saved_labels}, in this "
            f"order; the task has {list(task.labels)}. Give the task it was "
            "trained for, or train into another --output_dir"
        )
    if task.labels and options.do_train:
        checks.check_labels_of_start(options, task.labels)
    if options.metric_for_best:
        _check_metric(task, options)
    return config


def check_networks(options: FineTuningOptions) -> None:
    """Refuses weights that were trained with other network options."""
    if options.ensemble:
        given = [("--ensemble", path) for path in options.ensemble.split(",")]
    elif options.init_checkpoint and not checkpointing.checkpoint_steps(
        options.output_dir
    ):
        given = [("--init_checkpoint", options.init_checkpoint)]
    else:
        given = [("--output_dir", options.output_dir)]
    for flag, path in given:
        run_settings.check_network(path, options.network, flag)


def _check_metric(task: Task, options: FineTuningOptions) -> None:
    """Refuses a --metric_for_best that is unknown or unused."""
    names = [*task.metrics, *(["eval_loss"] if task.has_eval_loss else [])]
    names = [
        f"{name}{suffix_of(split)}"
        for split in task.splits("eval")
        for name in names
    ]
    if options.metric_for_best not in names:
        raise ValueError(
            f"--metric_for_best={options.metric_for_best} is not known; give "
            f"one of {', '.join(names)}"
        )
    if options.do_train and not (
        options.evaluates_while_training or options.num_train_runs > 1
    ):
        raise ValueError(
            "--metric_for_best needs --evaluate_each_epoch, "
            "--early_stopping_patience or --num_train_runs"
        )


def check_num_train_runs(options: FineTuningOptions) -> None:
    """Refuses to mix single and multiple runs in a folder.

    Raises:
        ValueError: the folder holds the other kind, or the last seed is too
        large.
    """
    if not options.do_train:
        return
    folder = Path(options.output_dir)
    if options.num_train_runs > 1:
        if options.seed + options.num_train_runs > 2**32:
            raise ValueError(
                f"--seed={options.seed} is too large for --num_train_runs="
                f"{options.num_train_runs}: the last run's seed, --seed + "
                "--num_train_runs - 1, must be below 2**32"
            )
        if (folder / run_settings.FILE).is_file():
            raise ValueError(
                f"--output_dir={folder} holds a single run; give another one "
                f"for --num_train_runs={options.num_train_runs}"
            )
    elif (folder / "run_1").is_dir():
        raise ValueError(
            f"--output_dir={folder} holds several runs; give "
            "--num_train_runs to resume them, or another --output_dir"
        )


def _read_labels(options: FineTuningOptions) -> list[str] | None:
    """Returns the labels saved with the initial model, or None.

    They are in `labels.txt` next to its checkpoint, or in the config.json of a
    Hugging Face model. New training does not use the labels of its
    --init_checkpoint.
    """
    if checkpointing.checkpoint_steps(options.output_dir):
        return modeling.load_labels(options.output_dir)
    if options.init_checkpoint and not options.do_train:
        return modeling.load_labels(options.init_checkpoint)
    return None
