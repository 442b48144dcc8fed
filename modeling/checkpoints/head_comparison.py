"""Compares the head of a model with the head in a folder.

A fine-tuned model is a good start for another task, or for other labels of the
same task, but its head is not, because the head computes other outputs.
"""

import re
from collections.abc import Sequence

import keras
from absl import logging

from model_folders import kinds
from model_folders.formats.head_names import find_num_outputs
from model_folders.labels import describe_labels, find_order
from modeling.checkpoints.checkpoint import Checkpoint
from modeling.checkpoints.variables import google_name_of

# Matches the names of the weights that are no part of a fine-tuned head.
_NOT_HEAD = re.compile(r"bert/|cls/(?:predictions|seq_relationship)/")


def list_new_head(
    model: keras.Model,
    checkpoint: Checkpoint,
    label_alternatives: Sequence[Sequence[str]],
) -> list[str]:
    """Returns the names of the head's weights, if the head must start anew.

    Returns [] if the model can use the head in the folder, or has no head.
    Otherwise logs why the model cannot use that head.
    """
    if not model.built:
        model.build()
    head = _head_weight_names(model)
    if not head:
        return []
    # Check the files first, so that a damaged file is an error before anyone
    # logs something about its head.
    checkpoint.check_sizes(config=None)
    reason = _describe_other_head(model, checkpoint, label_alternatives)
    if reason is None:
        return []
    logging.warning(
        "%s. The head starts at random values: %s.", reason, ", ".join(head)
    )
    return head


def _head_weight_names(model: keras.Model) -> list[str]:
    """Returns Google's names of the weights of a model's head.

    The names include the LSTM of --bilstm, which is trained with the head. The
    pooler belongs to the encoder.
    """
    names = map(google_name_of, model.weights)
    return [name for name in names if not _NOT_HEAD.match(name)]


def _describe_other_head(
    model: keras.Model,
    checkpoint: Checkpoint,
    label_alternatives: Sequence[Sequence[str]],
) -> str | None:
    """Returns why a model cannot use the head in a folder, None if it can.

    If the folder names neither its head nor its labels, only the number of
    outputs tells two heads apart.

    Args:
        model: a built model.
        checkpoint: the folder's checkpoint.
        label_alternatives: alternative names of the model's outputs, as in
            `load_checkpoint`.
    """
    preset = checkpoint.preset
    source = preset.source
    model_class = kinds.model_class_of(model)
    if _is_of_other_task(model, preset.model_class):
        return (
            f"{source} contains a {preset.model_class}, but the model is a "
            f"{model_class}"
        )
    if label_alternatives and preset.labels:
        if find_order(preset.labels, label_alternatives):
            return None
        return (
            f"{source} was trained with the labels "
            f"{describe_labels(preset.labels)}; the task has "
            f"{describe_labels(label_alternatives[0])}"
        )
    num_stored = find_num_outputs(checkpoint.shapes)
    biases = (
        weight
        for weight in model.weights
        if google_name_of(weight) == "output_bias"
    )
    num_outputs = next((bias.shape[0] for bias in biases), num_stored)
    if num_stored in (None, num_outputs):
        return None
    return f"{source} has {num_stored} outputs, but the model has {num_outputs}"


def _is_of_other_task(model: keras.Model, model_class: str | None) -> bool:
    """Returns whether a head of this class is bound to another task."""
    names = [base.__name__ for base in type(model).__mro__]
    # A user's own subclass has the head of the class that it extends.
    own_class = next(
        (name for name in names if name in kinds.KIND_OF_CLASS), names[0]
    )
    are_specific = all(map(kinds.is_task_specific, (model_class, own_class)))
    return are_specific and model_class not in (names[0], own_class)
