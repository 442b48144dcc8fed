"""Ensembles: several trained models that predict together (--ensemble)."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from absl import logging

import modeling
from training import model_folder
from training.callbacks.best_step import may_use
from training.config import FineTuningConfig
from training.run_folder import BEST, checkpoint_steps
from training.task import Batches, Task


def find_members(config: FineTuningConfig) -> list[str]:
    """Returns the checkpoints that --ensemble lists, [] without the flag.

    Raises:
        ValueError: another flag contradicts --ensemble, or the models have
            different labels.
        OSError: a checkpoint is missing.
    """
    if config.ensemble is None:
        return []
    if config.init_checkpoint:
        raise ValueError(
            "--ensemble evaluates and predicts with models that are trained "
            "already; remove --init_checkpoint"
        )
    if config.has_checkpoint:
        raise ValueError(
            f"--output_dir={config.output_dir} contains a trained model; "
            "choose another folder for the files of the ensemble"
        )
    folders = config.ensemble.split(",")
    members, labels, found_files = [], [], set()
    for folder in folders:
        best = Path(folder) / BEST
        is_used = config.load_best and may_use(
            best, model_folder.read(folder).settings
        )
        path = modeling.find_checkpoint(folder, is_used)
        # Detect several paths to the same checkpoint.
        found_files.add(os.path.realpath(path))
        # If the last step is used, list the folder, not the checkpoint. Loading
        # a folder also considers the averages in the last checkpoint.
        is_last = config.load_best and not checkpoint_steps(best)
        members.append(folder if is_last else path)
        labels.append(modeling.load_labels(folder))
    if len(found_files) < max(len(members), 2):
        raise ValueError(
            f"--ensemble={config.ensemble}: list at least two models, and no "
            "model twice"
        )
    for folder, found in zip(folders, labels, strict=True):
        if found != labels[0] and not modeling.find_order(
            found or (), [labels[0] or ()]
        ):
            raise ValueError(
                f"--ensemble: {folder} has the labels {found}, but "
                f"{folders[0]} has {labels[0]}; list models of one task"
            )
    return members


def predict_together(
    model: Any,
    members: Sequence[str],
    task: Task,
    predict_once: Callable[[], Batches],
) -> Batches:
    """Yields the batches of a split, each with the ensemble's outputs.

    The members' weights are loaded into `model` one after the other, and
    `Task.combine` combines the outputs. The outputs of all members but the last
    stay in memory. The paper's ensembles combine models with different seeds or
    different pretraining checkpoints.

    Args:
        model: model of the task, already built.
        members: paths of the members' checkpoints. If empty, `model` predicts
            with its own weights.
        task: the task.
        predict_once: function () -> batches of the split with the outputs of
            `model`, each (features, outputs).

    Raises:
        ValueError: a member lacks weights of the model.
    """
    if not members:
        yield from predict_once()
        return
    earlier: list[list[Any]] = []
    for member in members[:-1]:
        _load(model, member, task)
        earlier.append([outputs for _, outputs in predict_once()])
    _load(model, members[-1], task)
    for number, (features, outputs) in enumerate(predict_once()):
        all_outputs = [batches[number] for batches in earlier]
        yield features, task.combine([*all_outputs, outputs])


def _load(model: Any, member: str, task: Task) -> None:
    logging.info("Predicting with %s of the ensemble", member)
    report = modeling.load_checkpoint(model, member, labels=task.output_names)
    if missing := report.missing:
        raise ValueError(
            f"--ensemble: {member} contains no {missing[0]}; list models "
            "that are fine-tuned on this task"
        )
