"""Writes models as folders that transformers reads.

model_folders/formats/huggingface_weights.py converts the names of the tensors.
huggingface_checkpoint.py loads such folders.
"""

import json
from collections.abc import Collection, Mapping, Sequence

import keras
import numpy as np
import safetensors.numpy

from files.paths import StrPath
from model_folders.atomic_folders import atomic_folder
from model_folders.bert_config import HUGGINGFACE_CONFIG_FILE
from model_folders.formats.huggingface_config import (
    HUGGINGFACE_WEIGHTS,
    create_config_json,
)
from model_folders.formats.huggingface_weights import google_to_huggingface
from model_folders.formats.weight_entries import WeightArray
from model_folders.kinds import ModelClass, model_class_of
from model_folders.tokenizer_files import Tokenizer, create_tokenizer_files
from modeling.checkpoints.variables import google_name_of
from modeling.keras_fit import KerasFitModel


def save_huggingface(
    model: KerasFitModel,
    folder: StrPath,
    *,
    tokenizer: Tokenizer | None = None,
    labels: Sequence[str] | None = None,
    leave_out: Collection[str] = (),
    problem_type: str | None = None,
    max_length: int | None = None,
    files: Mapping[str, str] | None = None,
) -> None:
    """Writes a model as a folder that transformers reads.

    Writes model.safetensors and config.json, and with a tokenizer also
    vocab.txt, tokenizer.json and tokenizer_config.json. The files appear
    together or not at all. If a folder contains no vocabulary, transformers
    silently creates a tokenizer that knows only the five special tokens.

    Args:
        model: a model whose class transformers has too, built or not.
        folder: folder to write. If it exists, it must not contain files that
            this project did not write.
        tokenizer: tokenizer of the model. If None, the function writes no
            tokenizer.
        labels: names of a classifier's outputs, in order. If None, the names
            are LABEL_0, LABEL_1, ...
        leave_out: Google's names of weights to omit, for example of the next
            sentence head.
        problem_type: entry `problem_type` of config.json, such as
            "multi_label_classification". It determines the loss that
            transformers computes for a classifier. If None, transformers
            decides.
        max_length: maximum length of the tokenizer's inputs, in WordPieces. If
            None, the model's `max_position_embeddings` is the length.
        files: {name: text} of additional files to write, such as model.json.

    Raises:
        ValueError: transformers has no class for the model, `labels` or the
            vocabulary do not fit the model, or the folder contains a user's
            file.
        OSError: a file cannot be written.
    """
    if not model.built:
        model.build()
    values = create_config_json(
        model.config,
        model_class=model_class_of(model),
        num_labels=model.num_labels,
        labels=labels,
        tokenizer=tokenizer,
        problem_type=problem_type,
        leave_out=leave_out,
    )
    contents: dict[str, str | bytes] = {}
    if tokenizer:
        max_seq_length = max_length or model.config.max_position_embeddings
        contents |= create_tokenizer_files(
            tokenizer, max_seq_length, model.config.vocab_size
        )
    tensors = _copy_tensors(model, leave_out)
    contents[HUGGINGFACE_CONFIG_FILE] = (
        json.dumps(values, indent=2, sort_keys=True) + "\n"
    )
    contents |= files or {}
    # Do not use `save_file`, which creates a file that only its owner can read.
    weights = safetensors.numpy.save(tensors, metadata={"format": "pt"})
    with atomic_folder(folder, contents) as partial_folder:
        (partial_folder / HUGGINGFACE_WEIGHTS[0]).write_bytes(weights)


def _copy_tensors(
    model: keras.Model, leave_out: Collection[str]
) -> dict[str, WeightArray]:
    """Returns {Hugging Face's name: value} of a model's weights."""
    tensors = {}
    for weight in model.weights:
        name = google_name_of(weight)
        if name not in leave_out:
            value = np.asarray(weight)
            value = value.T if name.endswith("/kernel") else value
            tensors[google_to_huggingface(name)] = np.ascontiguousarray(value)
    if model_class_of(model) != ModelClass.ENCODER:
        return tensors
    return {
        name.removeprefix("bert."): tensor for name, tensor in tensors.items()
    }
