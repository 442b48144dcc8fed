"""Finds, reads and writes checkpoints, TF1's or Hugging Face's.

tf1.py, which also writes those of training, and huggingface/ are a format each.
"""

import os
from collections.abc import Sequence

import keras

from modeling.checkpoints.huggingface import (
    find_huggingface,
    is_huggingface,
    load_huggingface,
    read_huggingface_shapes,
)
from modeling.checkpoints.restore import LoadReport
from modeling.checkpoints.tf1 import (
    check_tf1_files,
    find_tf1_checkpoint,
    load_tf1_checkpoint,
    read_tf1_shapes,
)


def find_checkpoint(path: str | os.PathLike[str]) -> str:
    """Returns the file, or the files' prefix, that load_checkpoint reads.

    Checks the sizes of its files, not the values in them.

    Args:
        path: see load_checkpoint.

    Raises:
        FileNotFoundError: there is no checkpoint.
        OSError: one of its files is missing, truncated or not a checkpoint's.
        ValueError: `path` is one file of a TF1 checkpoint.
    """
    if is_huggingface(path):
        found = find_huggingface(path)
        read_huggingface_shapes(found)
        return found
    found = find_tf1_checkpoint(path)
    check_tf1_files(found)
    return found


def load_checkpoint(
    model: keras.Model,
    path: str | os.PathLike[str],
    layers: Sequence[int] | None = None,
) -> LoadReport:
    """Loads a released checkpoint of either kind into a model.

    Args:
        model: any model here, built or not.
        path: a TF1 checkpoint such as `bert_model.ckpt` or a folder with
            one, or a Hugging Face folder or `.safetensors` file.
        layers: for each block of the model, the block of the checkpoint that it
            starts from, such as `[0, 2, 5]` for a student of 3 blocks; None =
            the same blocks.

    Returns:
        `LoadReport` with `loaded`, `missing` and `unused` names; a missing head
        is not an error; it keeps its random values.

    Raises:
        FileNotFoundError: there is no checkpoint.
        OSError: it cannot be read.
        ValueError: `layers` does not give one block for each of the model's,
            a variable of the encoder is missing or has another shape, a
            value is not a finite floating-point number, or `path` is one
            file of a TF1 checkpoint.
    """
    if layers is not None and len(layers) != model.config.num_hidden_layers:
        raise ValueError(
            "`layers` must give a block for each of the model's "
            f"{model.config.num_hidden_layers}. Received: {list(layers)}"
        )
    if is_huggingface(path):
        return load_huggingface(model, path, layers)
    return load_tf1_checkpoint(model, path, layers)


def read_shapes(path: str | os.PathLike[str]) -> dict[str, Sequence[int]]:
    """Returns {name in the file: shape} of a checkpoint of either kind.

    Args:
        path: result of `find_checkpoint`.

    Raises:
        OSError: it cannot be read.
    """
    if is_huggingface(path):
        return read_huggingface_shapes(path)
    return read_tf1_shapes(path)
