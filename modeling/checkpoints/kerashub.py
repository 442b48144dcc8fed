"""Reads and writes the weights of KerasHub's presets.

A preset is a folder: config.json describes the network, whose weights are in
model.weights.h5, or in the files that model.weights.json lists. If task.json
describes a head, its weights are in task.weights.h5. The datasets in these
files are numbered, not named (kerashub_targets.py).
"""

import errno
import json
import os
import re
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import h5py
import keras
import numpy as np

from files.paths import StrPath
from modeling.checkpoints.h5_files import open_datasets
from modeling.checkpoints.kerashub_targets import (
    Target,
    classifier_targets,
    masked_lm_targets,
    network_targets,
)
from modeling.checkpoints.names import original_name, printable
from modeling.checkpoints.shards import (
    lacks_entry,
    read_weight_map,
    shard_path,
)
from modeling.checkpoints.sources import Entry
from modeling.folders import kerashub_files
from modeling.folders.config_files import CONFIG_FILE, load_config
from modeling.folders.kerashub_files import (
    INDEX_FILE,
    TASK_WEIGHTS_FILE,
    WEIGHTS_FILE,
)
from modeling.folders.model_entries import OutputMode
from modeling.folders.new_folders import new_folder
from modeling.folders.tokenizer_files import SPECIAL_TOKENS, Tokenizer
from modeling.kinds import CLASSIFIER, ENCODER, PRETRAINER, kind_of
from modeling.labels import LABELS_FILE, check_labels, format_labels

if TYPE_CHECKING:
    from modeling.fitted_model import FittedModel

# The scope of all layers. Keras 2 named it differently.
_SCOPE = re.compile(r"(?:layers|_layer_checkpoint_dependencies)/")
# Matches the state of a training, and of dropout.
_STATE = re.compile(r"optimizer/|(?:.*/)?seed_generator(?:_\d+)?/")
_BLOCK = re.compile(r"transformer_encoder(?:_\d+)?/")
# The version of KerasHub whose files these are.
_VERSION = "0.32.0"
# KerasHub's kinds of tasks that start from a backbone of BERT.
_TASKS = ("MaskedLM", "TextClassifier", "TextEmbedder")


def find_weights(path: StrPath) -> str | None:
    """Returns the file of the weights at a path, None for other formats.

    Raises:
        OSError: the folder contains a preset without its weights.
    """
    path = os.fspath(path)
    folder, name = os.path.split(path)
    if name in (WEIGHTS_FILE, INDEX_FILE, TASK_WEIGHTS_FILE):
        path = folder
    if not kerashub_files.has_preset(path):
        return None
    index = os.path.join(path, INDEX_FILE)
    file = os.path.join(path, WEIGHTS_FILE)
    if os.path.isfile(index) and not os.path.isfile(file):
        return index
    _check_exists(file)
    return file


def _check_exists(file: str) -> None:
    if not os.path.isfile(file):
        raise FileNotFoundError(
            f"There is no {file}. Save or download the preset again"
        )


def open_entries(path: str) -> Mapping[str, Entry]:
    """Returns {Google's name: Entry} of a result of `find_weights`.

    Raises:
        OSError: a file is missing or cannot be read.
        ValueError: the files contain other weights than config.json and
            task.json describe. The message names the first.
    """
    folder = os.path.dirname(path)
    config = load_config(os.path.join(folder, CONFIG_FILE))
    stored = _open_weights(path)
    blocks = {match[0] for match in map(_BLOCK.match, stored) if match}
    # The number is compared first, because it sets the number of targets.
    if len(blocks) != config.num_hidden_layers:
        raise ValueError(
            f"{path} contains {len(blocks)} blocks, but {CONFIG_FILE} states "
            f"num_layers={config.num_hidden_layers}. Correct {CONFIG_FILE}"
        )
    entries = _match_targets(path, stored, network_targets(config))
    head, task = kerashub_files.read_task(folder)
    targets = {}
    if head == CLASSIFIER:
        targets = classifier_targets(config, task["num_classes"])
    elif head == PRETRAINER:
        targets = masked_lm_targets(config)
    if targets:
        file = os.path.join(folder, TASK_WEIGHTS_FILE)
        _check_exists(file)
        entries |= _match_targets(file, _open_weights(file), targets)
    return entries


def _open_weights(path: str) -> dict[str, Entry]:
    """Returns {name without the scope: Entry} of the weights at a path.

    The path is of a file, or of the index of several.
    """
    is_index = path.endswith(INDEX_FILE)
    datasets = _open_shards(path) if is_index else open_datasets(path)
    return {
        _SCOPE.sub("", name, count=1): entry
        for name, entry in datasets.items()
        if not _STATE.match(name)
    }


def read_shards(path: str) -> list[tuple[str, str]]:
    """Returns (group of datasets, path of a file that contains some of them).

    Args:
        path: path of the index, model.weights.json.

    Raises:
        OSError: the index cannot be read.
        ValueError: the index is malformed, or names a file in another folder.
    """
    return [
        (group.removeprefix("/"), shard_path(path, group, file, ".weights.h5"))
        for group, listed in read_weight_map(path).items()
        for file in (listed if isinstance(listed, list) else [listed])
    ]


def _open_shards(path: str) -> dict[str, Entry]:
    """Returns {name: Entry} of the datasets in all files of an index.

    An index lists a group of datasets with the file or the files that contain
    it. Another file may contain an older dataset with the same name.
    """
    files: dict[str, dict[str, Entry]] = {}
    entries: dict[str, Entry] = {}
    for group, file in read_shards(path):
        if file not in files:
            files[file] = open_datasets(file)
        members = {
            name: entry
            for name, entry in files[file].items()
            if os.path.dirname(name) == group
        }
        if not members:
            raise lacks_entry(file, group, path)
        entries |= members
    return entries


def _match_targets(
    path: str, stored: Mapping[str, Entry], targets: Mapping[str, Target]
) -> dict[str, Entry]:
    """Returns {Google's name: Entry} of the datasets in a file.

    Raises:
        ValueError: the file lacks a target, or contains anything else.
    """
    for name, entry in stored.items():
        target = targets.get(name)
        if target is None:
            raise ValueError(
                f"{path} contains {printable(name)} of the shape "
                f"{list(entry.shape)}, which BERT lacks. Use another model"
            )
        if tuple(entry.shape) != target.stored:
            raise ValueError(
                f"{name} has the shape {list(entry.shape)} in {path}, but "
                f"{list(target.stored)} by the JSON files beside it. Correct "
                "them"
            )
    if missing := targets.keys() - stored.keys():
        first = next(name for name in targets if name in missing)
        raise ValueError(
            f"{path} lacks {first} of the shape "
            f"{list(targets[first].stored)}. Save or download it again"
        )
    return {
        target.name: _convert_entry(stored[name], target)
        for name, target in targets.items()
    }


def _convert_entry(entry: Entry, target: Target) -> Entry:
    def read() -> np.ndarray:
        value = entry.read().reshape(target.stored)
        if target.is_transposed:
            value = value.T
        return value.reshape(target.shape)

    return Entry(shape=target.shape, dtype=entry.dtype, read=read)


def save_kerashub(
    model: "FittedModel",
    directory: StrPath,
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
        directory: folder to write. If it exists, it must not contain files that
            this project did not write.
        tokenizer: FullTokenizer of the model.
        labels: names of a classifier's outputs, in order. None = write no
            labels.txt.
        leave_out: Google's names of weights that are not known. KerasHub needs
            all, so any name is an error.
        output_mode: what a classifier answers, a value of --output_mode. For
            "multilabel", KerasHub's model returns the sigmoid of the logits,
            and for other values the logits.
        max_length: length of a classifier's inputs, in WordPieces. None = the
            model's `max_position_embeddings`.
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
    contents = _format_files(model, tokenizer, labels, output_mode, max_length)
    contents |= files or {}
    with new_folder(directory, contents) as folder:
        for name, targets in _find_targets(model).items():
            _write_weights(model, os.fspath(folder / name), targets)


def _format_files(
    model: "FittedModel",
    tokenizer: Tokenizer,
    labels: Sequence[str] | None,
    output_mode: OutputMode | None,
    max_length: int | None,
) -> dict[str, str | bytes]:
    """Returns {name: contents} of the files of a preset without weights.

    The arguments are those of `save_kerashub`.
    """
    config = model.config
    tokenizer.check_vocab(config.vocab_size, SPECIAL_TOKENS.values())
    network = kerashub_files.format_network(config)
    casing = kerashub_files.format_tokenizer(tokenizer.do_lower_case)
    values = {CONFIG_FILE: network, kerashub_files.TOKENIZER_FILE: casing}
    contents: dict[str, str | bytes] = {
        kerashub_files.VOCAB_FILE: tokenizer.vocab_bytes
    }
    if kind_of(model) == CLASSIFIER:
        is_multilabel = output_mode == "multilabel"
        values |= kerashub_files.format_classifier(
            network,
            casing,
            max_length=max_length or config.max_position_embeddings,
            num_labels=model.num_labels,
            activation="sigmoid" if is_multilabel else "linear",
        )
        if labels is not None:
            check_labels(labels, num_labels=model.num_labels)
            contents[LABELS_FILE] = format_labels(labels)
    encoder: Any = getattr(model, "bert", model)
    values["metadata.json"] = {
        "keras_version": keras.__version__,
        "keras_hub_version": _VERSION,
        "parameter_count": encoder.count_params(),
        "tasks": _TASKS,
    }
    for name, entries in values.items():
        contents[name] = json.dumps(entries, indent=4) + "\n"
    return contents


def _find_targets(model: "FittedModel") -> dict[str, dict[str, Target]]:
    """Returns {name of a file: the targets in it} of a model's weights."""
    targets = {WEIGHTS_FILE: network_targets(model.config)}
    if kind_of(model) == CLASSIFIER:
        targets[TASK_WEIGHTS_FILE] = classifier_targets(
            model.config, model.num_labels
        )
    return targets


def _check_is_supported(
    model: "FittedModel", leave_out: Collection[str]
) -> None:
    """Raises a ValueError if KerasHub has no model that computes the same."""
    encoder: Any = getattr(model, "bert", model)
    headless = "its encoder alone (--model=bert), or another format"
    if kind_of(model) not in (ENCODER, CLASSIFIER):
        problem = f"has no model that computes what a {kind_of(model)} does"
        instead = headless
    elif getattr(model, "bilstm", None):
        problem = "has no bidirectional LSTM (--bilstm)"
        instead = headless
    elif encoder.left_to_right:
        problem = "cannot read from left to right (--left_to_right)"
        instead = "another format"
    elif leave_out:
        names = ", ".join(leave_out)
        problem = f"needs {names}, which these weights lack"
        instead = "another format"
    else:
        kerashub_files.check_backbone(model.config)
        return
    raise ValueError(f"KerasHub's BERT {problem}. Write {instead}")


def _write_weights(
    model: keras.Model, path: str, targets: Mapping[str, Target]
) -> None:
    """Writes a file with the weights of a model that are its targets."""
    weights = {original_name(weight): weight for weight in model.weights}
    try:
        with h5py.File(path, "w") as file:
            for name, target in targets.items():
                value = np.asarray(weights[target.name], "float32")
                if target.is_transposed:
                    value = value.T
                file[f"layers/{name}"] = value.reshape(target.stored)
    except (OSError, RuntimeError) as error:
        # HDF5's messages have several lines, and name a temporary file.
        number = getattr(error, "errno", None) or errno.EIO
        raise OSError(number, os.strerror(number)) from error
