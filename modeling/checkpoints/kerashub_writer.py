"""Writes models as presets of KerasHub.

In model_folders/formats/, kerashub_objects.py creates the contents of the JSON
files, and kerashub_targets.py says where each weight is stored.
"""

import errno
import json
import math
import os
from collections.abc import Collection, Mapping, Sequence

import h5py
import keras
import numpy as np

from files.json_files import JsonObject
from files.paths import StrPath
from model_folders.atomic_folders import atomic_folder
from model_folders.bert_config import BertConfig
from model_folders.formats import kerashub_config, kerashub_objects
from model_folders.formats.kerashub_config import (
    TASK_WEIGHTS_FILE,
    WEIGHTS_FILE,
)
from model_folders.formats.kerashub_targets import (
    WeightTarget,
    classifier_targets,
    network_targets,
)
from model_folders.formats.weight_entries import WeightArray
from model_folders.kinds import ModelClass, model_class_of
from model_folders.labels import LABELS_FILE, check_labels, format_labels
from model_folders.output_modes import MULTILABEL, OutputMode
from model_folders.tokenizer_files import SPECIAL_TOKEN_OF_ENTRY, Tokenizer
from modeling.checkpoints.variables import google_name_of
from modeling.keras_fit import KerasFitModel

# The version of KerasHub whose files these are.
_VERSION = "0.32.0"
# KerasHub's tasks that start from a backbone of BERT.
_EXPORTED_TASKS = ("MaskedLM", "TextClassifier", "TextEmbedder")


def save_kerashub(
    model: KerasFitModel,
    folder: StrPath,
    *,
    tokenizer: Tokenizer,
    labels: Sequence[str] | None = None,
    leave_out: Collection[str] = (),
    output_mode: OutputMode | None = None,
    max_length: int | None = None,
    files: Mapping[str, str] | None = None,
) -> None:
    """Writes an encoder or a classifier as a preset that KerasHub reads.

    Writes config.json, model.weights.h5, tokenizer.json and the vocabulary, and
    for a classifier also task.json, task.weights.h5 and preprocessor.json. The
    files appear together or not at all. KerasHub keeps no names of outputs,
    which labels.txt lists for this project.

    Args:
        model: a `BertModel` or `BertClassifier`, in float32, built or not.
        folder: folder to write. If it exists, it must not contain files that
            this project did not write.
        tokenizer: tokenizer of the model.
        labels: names of a classifier's outputs, in order. If None, the function
            writes no labels.txt.
        leave_out: Google's names of weights that are not known. KerasHub needs
            all weights, so any name is an error.
        output_mode: what a classifier predicts, a value of --output_mode. For
            "multilabel", KerasHub's model returns the sigmoid of the logits,
            and for other values it returns the logits.
        max_length: length of a classifier's inputs, in WordPieces. If None, the
            model's `max_position_embeddings` is the length.
        files: {name: text} of additional files to write, such as model.json.

    Raises:
        ValueError: KerasHub has no model that computes the same, `labels` or
            the vocabulary do not fit the model, or the folder contains a user's
            file.
        OSError: a file cannot be written.
    """
    if not model.built:
        model.build()
    _check_is_supported(model, leave_out)
    contents = _create_files(
        model,
        tokenizer,
        labels=labels,
        output_mode=output_mode,
        max_length=max_length,
    )
    contents |= files or {}
    with atomic_folder(folder, contents) as partial_folder:
        for name, targets in _targets_by_file(model).items():
            _write_weights(model, os.fspath(partial_folder / name), targets)


def _create_files(
    model: KerasFitModel,
    tokenizer: Tokenizer,
    *,
    labels: Sequence[str] | None,
    output_mode: OutputMode | None,
    max_length: int | None,
) -> dict[str, str | bytes]:
    """Returns {name: contents} of the files of a preset without weights."""
    config = model.config
    tokenizer.vocabulary.check_tokens(SPECIAL_TOKEN_OF_ENTRY.values())
    tokenizer.vocabulary.check_size(config.vocab_size)
    network = kerashub_objects.create_network_json(config)
    casing = kerashub_objects.create_tokenizer_json(tokenizer.do_lower_case)
    values = {
        kerashub_config.CONFIG_FILE: network,
        kerashub_config.TOKENIZER_FILE: casing,
    }
    contents: dict[str, str | bytes] = {
        kerashub_config.VOCAB_FILE: tokenizer.vocabulary.contents
    }
    # Of the models that KerasHub has too, only the classifier has labels.
    if model.num_labels is not None:
        is_multilabel = output_mode == MULTILABEL
        values |= kerashub_objects.create_classifier_json(
            network,
            casing,
            max_seq_length=max_length or config.max_position_embeddings,
            num_labels=model.num_labels,
            activation="sigmoid" if is_multilabel else "linear",
        )
        if labels is not None:
            check_labels(labels, num_labels=model.num_labels)
            contents[LABELS_FILE] = format_labels(labels)
    values["metadata.json"] = _create_metadata(config)
    for name, entries in values.items():
        contents[name] = json.dumps(entries, indent=4) + "\n"
    return contents


def _create_metadata(config: BertConfig) -> JsonObject:
    """Returns the contents of a preset's metadata.json."""
    targets = network_targets(config).values()
    return {
        "keras_version": keras.__version__,
        "keras_hub_version": _VERSION,
        "parameter_count": sum(math.prod(target.shape) for target in targets),
        "tasks": _EXPORTED_TASKS,
    }


def _targets_by_file(
    model: KerasFitModel,
) -> dict[str, dict[str, WeightTarget]]:
    """Returns {name of a file: the targets in it} of a model's weights."""
    targets = {WEIGHTS_FILE: network_targets(model.config)}
    if model.num_labels is not None:
        targets[TASK_WEIGHTS_FILE] = classifier_targets(
            model.config, model.num_labels
        )
    return targets


def _check_is_supported(
    model: KerasFitModel, leave_out: Collection[str]
) -> None:
    """Raises a ValueError if KerasHub has no model that computes the same."""
    headless = "its encoder alone (BertModel, --model=bert), or another format"
    if model_class_of(model) not in (ModelClass.ENCODER, ModelClass.CLASSIFIER):
        problem = (
            f"has no model that computes what a {model_class_of(model)} does"
        )
        instead = headless
    elif model.get_config().get("bilstm"):
        problem = "has no bidirectional LSTM (bilstm, --bilstm)"
        instead = headless
    elif model.get_config()["left_to_right"]:
        problem = (
            "cannot read from left to right (left_to_right, --left_to_right)"
        )
        instead = "another format"
    elif leave_out:
        names = ", ".join(leave_out)
        problem = f"needs {names}, which these weights lack"
        instead = "another format"
    else:
        kerashub_objects.check_backbone(model.config)
        return
    raise ValueError(f"KerasHub's BERT {problem}. Write {instead}")


def _write_weights(
    model: keras.Model, path: str, targets: Mapping[str, WeightTarget]
) -> None:
    """Writes a file with the weights of a model that `targets` lists."""
    weights = {google_name_of(weight): weight for weight in model.weights}
    try:
        with h5py.File(path, "w") as file:
            for name, target in targets.items():
                stored = _to_stored(weights[target.name], target)
                file[f"layers/{name}"] = stored
    except (OSError, RuntimeError) as error:
        # HDF5's messages have several lines, and name a temporary file.
        error_code = getattr(error, "errno", None) or errno.EIO
        raise OSError(error_code, os.strerror(error_code)) from error


def _to_stored(weight: keras.Variable, target: WeightTarget) -> WeightArray:
    """Returns a weight as KerasHub stores it."""
    value = np.asarray(weight, "float32")
    if target.is_transposed:
        value = value.T
    return value.reshape(target.stored_shape)
