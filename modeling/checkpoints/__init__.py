"""Finds and reads checkpoints of either format, and extends vocabularies.

tf1.py and huggingface/ each read and write one format; training writes TF1's.
"""

import os
import re
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import keras
import numpy as np
from absl import logging

from modeling.checkpoints.folders import find_tf1_checkpoint
from modeling.checkpoints.huggingface import (
    find_huggingface,
    is_huggingface,
    load_huggingface,
    read_huggingface_shapes,
)
from modeling.checkpoints.labels import find_order, load_labels
from modeling.checkpoints.names import original_name
from modeling.checkpoints.restore import LoadReport
from modeling.checkpoints.tf1 import (
    check_tf1_files,
    load_tf1_checkpoint,
    read_tf1_shapes,
)

# The variables that have a row for each WordPiece.
_PER_WORDPIECE = (
    "bert/embeddings/word_embeddings",
    "cls/predictions/output_bias",
)


# Files of weights that are not read here: what to do about them.
_SAVE_AGAIN = (
    "open the model with transformers' from_pretrained, and write it with "
    "save_pretrained, which makes model.safetensors"
)
_MERGE = (
    "it changes another model's weights: merge it into that model, then "
    + _SAVE_AGAIN
)
_EXPORT = (
    "an export has no names of weights; use the checkpoint that it was made of"
)
_FOREIGN_FILES = {
    "adapter_model.safetensors": _MERGE,
    "adapter_model.bin": _MERGE,
    "tf_model.h5": _SAVE_AGAIN,
    "flax_model.msgpack": _SAVE_AGAIN,
    "saved_model.pb": _EXPORT,
    "openvino_model.bin": _EXPORT,
}
# Endings of weights under other names.
_FOREIGN_ENDINGS = {
    **dict.fromkeys((".onnx", ".tflite", ".xml"), _EXPORT),
    **dict.fromkeys((".bin", ".gguf", ".h5", ".msgpack", ".ot"), _SAVE_AGAIN),
    **dict.fromkeys((".pt", ".pth", ".ckpt", ".npz", ".tar"), _SAVE_AGAIN),
    **dict.fromkeys((".h5.index.json", ".msgpack.index.json"), _SAVE_AGAIN),
    ".keras": "open it with keras.models.load_model, and write it with "
    "modeling.save_huggingface",
}
_PART = re.compile(r"-\d{5}-of-\d{5}(\.safetensors|\.bin)$")


def _refuse_foreign(path: str, looks_inside: bool = True) -> None:
    """Names weights of another framework, or in a subfolder, as an error."""
    if not os.path.isdir(path):
        _refuse([path] if os.path.isfile(path) else [])
        return
    files = [os.path.join(path, name) for name in sorted(os.listdir(path))]
    if is_huggingface(path) or any(file.endswith(".index") for file in files):
        return
    # Try names that frameworks write before names that people choose.
    _refuse(file for file in files if os.path.basename(file) in _FOREIGN_FILES)
    inner = [
        file
        for file in files
        if os.path.exists(file)
        and is_huggingface(file)
        and not _PART.search(file)
    ]
    if inner:
        raise ValueError(
            f"{path} has its weights in {' and '.join(inner)}: name "
            f"{'that' if len(inner) == 1 else 'one of them'}"
        )
    _refuse(files)
    for file in files:
        if looks_inside and os.path.isdir(file):
            _refuse_foreign(file, looks_inside=False)


def _refuse(files: Iterable[str]) -> None:
    """Raises an error for the first file of weights in an unknown format."""
    for file in files:
        name = os.path.basename(file)
        way_out = _FOREIGN_FILES.get(name)
        if not way_out and not is_huggingface(file):
            ending = next(filter(name.endswith, _FOREIGN_ENDINGS), "")
            way_out = _FOREIGN_ENDINGS.get(ending)
        if part := _PART.search(name):
            way_out = (
                "it has a part of the weights: name its folder, with "
                f"{name[: part.start()]}{part[1]}.index.json"
            )
        if way_out:
            raise ValueError(f"{file} cannot be read: {way_out}")


def find_checkpoint(path: str | os.PathLike[str], best: bool = True) -> str:
    """Returns the file, or the files' prefix, that load_checkpoint reads.

    It checks the sizes of the checkpoint's files, not the values in them.

    Args:
        path: see load_checkpoint.
        best: whether the best step of a run's folder comes first.

    Raises:
        FileNotFoundError: there is no checkpoint.
        OSError: one of its files is missing, truncated or not a checkpoint's.
        ValueError: `path` is one file of a TF1 checkpoint, or holds weights
            of another framework.
    """
    _refuse_foreign(os.fspath(path))
    if is_huggingface(path):
        file = find_huggingface(path)
        read_huggingface_shapes(file)
        return file
    file = find_tf1_checkpoint(path, best)
    check_tf1_files(file)
    return file


def load_checkpoint(
    model: keras.Model,
    path: str | os.PathLike[str],
    layers: Sequence[int] | None = None,
    labels: Sequence[Sequence[str]] = (),
    best: bool = True,
) -> LoadReport:
    """Loads a released checkpoint of either kind into a model.

    Args:
        model: any model here, built or not.
        path: a TF1 checkpoint such as `bert_model.ckpt` or a folder with
            one, or a Hugging Face folder, `.safetensors` file or
            `pytorch_model.bin`. Of a run's folder, what the run would export is
            read: the best step, else the averages, else the last step; the log
            says which.
        layers: for each block of the model, the block of the checkpoint that it
            starts from, such as `[0, 2, 5]` for a student of 3 blocks; None =
            the same blocks.
        labels: for each way to name the model's outputs, the names in order,
            such as `[["no", "yes"]]`. A head that the checkpoint's folder
            names in another order gets this one; one with other names stays.
        best: whether the best step of a run's folder comes first.

    Returns:
        `LoadReport` with `loaded`, `missing` and `unused` names. A missing head
        is no error: it keeps its random values.

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
    _refuse_foreign(os.fspath(path))
    if is_huggingface(path):
        report = load_huggingface(model, path, layers)
    else:
        report = load_tf1_checkpoint(model, path, layers, best)
    saved = load_labels(path) if labels else None
    order = find_order(saved or (), labels)
    if order and order != sorted(order):
        names = ", ".join(labels[0])
        logging.info("%s: its outputs are put in the order %s", path, names)
        for variable in model.weights:
            name = original_name(variable)
            if name in {"output_weights", "output_bias"} & {*report.loaded}:
                variable.assign(keras.ops.take(variable, order, axis=0))
    return report


def has_head(name: str, weights: Collection[str]) -> bool:
    """Returns whether a file's weights, in either format, include a head.

    Args:
        name: class of the model.
        weights: names of the weights in a file.
    """
    if name == "BertEmbedder":
        # Its vectors are the encoder's.
        return True
    names = {"output_weights", "classifier.weight"}
    if name == "BertSpanLabeler":
        names = {"cls/squad/output_weights", "qa_outputs.weight"}
    return not names.isdisjoint(weights)


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


def extend_model(model: keras.Model, rows: Sequence[Sequence[int]]) -> Any:
    """Returns the model with another vocabulary.

    A new word starts as the mean of its former WordPieces, so the model keeps
    what it knew of the word. Random values would confuse the trained layers.

    Args:
        model: any model here, built.
        rows: for each row of the new embeddings, the old rows to average; its
            own number if unchanged.

    Returns:
        a model of the same class.
    """
    settings = model.get_config()
    settings["config"] = settings["config"] | {"vocab_size": len(rows)}
    extended = type(model).from_config(settings)
    extended.build()
    values = {original_name(weight): weight for weight in model.weights}
    for variable in extended.weights:
        name = original_name(variable)
        value = keras.ops.convert_to_numpy(values[name])
        if name in _PER_WORDPIECE:
            value = np.stack([value[list(row)].mean(axis=0) for row in rows])
        variable.assign(value)
    return extended
