"""Ensembles: several fine-tuned models that predict as one.

The paper's ensembles are models of other seeds, or of other pretraining
checkpoints. They predict one after the other in one model's memory;
`Task.combine` combines their outputs.
"""

import os
from collections.abc import Callable, Sequence
from typing import Any

import keras
from absl import logging

import modeling
from training.options import FineTuningOptions
from training.outputs import checkpointing
from training.tasks.task import Batches, Task


def find_members(options: FineTuningOptions) -> list[str]:
    """Returns the checkpoints of --ensemble; [] if it is not given.

    Raises:
        ValueError: another flag contradicts it, or the models are not of one
            task.
        OSError: a checkpoint is missing.
    """
    if options.ensemble is None:
        return []
    for name in ("do_train", "init_checkpoint", "export_dir", "export_weights"):
        if getattr(options, name):
            raise ValueError(
                "--ensemble evaluates and predicts with models that are "
                f"trained already; leave out --{name}"
            )
    if options.quantize:
        raise ValueError(
            f"--quantize={options.quantize} is for one model, and --ensemble "
            "names several; give one of the two"
        )
    folders = options.ensemble.split(",")
    if checkpointing.checkpoint_steps(options.output_dir):
        raise ValueError(
            f"--output_dir={options.output_dir} holds a model of its own; "
            "give another one for what the ensemble writes"
        )
    members = [_find_checkpoint(each, options.load_best) for each in folders]
    if len(set(members)) < max(len(members), 2):
        raise ValueError(
            f"--ensemble={options.ensemble}: give two models or more, each "
            "of them once"
        )
    labels = [modeling.load_labels(member) for member in members]
    for folder, found in zip(folders, labels, strict=True):
        if found != labels[0]:
            raise ValueError(
                f"--ensemble: {folder} has the labels {found}, and "
                f"{folders[0]} has {labels[0]}; give models of one task"
            )
    return members


def _find_checkpoint(folder: str, load_best: bool) -> str:
    best = os.path.join(folder, "best")
    if load_best and checkpointing.checkpoint_steps(best):
        folder = best
    return modeling.find_checkpoint(folder)


def predict(
    model: keras.Model,
    members: Sequence[str],
    task: Task,
    predict_one: Callable[[], Batches],
) -> Batches:
    """Yields the batches of a split, each with the ensemble's outputs.

    The outputs of all members but the last are kept in memory.

    Args:
        model: the task's model, which gets each member's weights in turn.
        members: result of `find_members`.
        task: combines the outputs.
        predict_one: yields the batches with the model's outputs.

    Raises:
        ValueError: a member lacks weights of the model.
    """
    earlier: list[list[Any]] = []
    for member in members[:-1]:
        _load(model, member)
        earlier.append([outputs for _, outputs in predict_one()])
    _load(model, members[-1])
    for number, (features, outputs) in enumerate(predict_one()):
        all_outputs = [batches[number] for batches in earlier]
        yield features, task.combine([*all_outputs, outputs])


def _load(model: keras.Model, member: str) -> None:
    logging.info("Predicting with %s of the ensemble", member)
    if missing := modeling.load_checkpoint(model, member).missing:
        raise ValueError(
            f"--ensemble: {member} lacks {missing[0]}; give models that are "
            "fine-tuned on this task"
        )
