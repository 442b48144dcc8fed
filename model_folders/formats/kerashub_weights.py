"""Opens the weights of KerasHub's presets.

modeling/checkpoints/converted_checkpoint.py loads them into models.

A preset is a folder: config.json describes the network, whose weights are in
model.weights.h5, or in the files that model.weights.json lists. If task.json
describes a head, its weights are in task.weights.h5. The datasets in these
files are numbered, and kerashub_targets.py finds the variable of each.
"""

import os
import re
from collections.abc import Iterable, Mapping
from typing import cast

from files.paths import StrPath
from model_folders.bert_config import BertConfig
from model_folders.formats import kerashub_config
from model_folders.formats.h5_files import open_h5_entries
from model_folders.formats.kerashub_config import (
    CONFIG_FILE,
    INDEX_FILE,
    TASK_WEIGHTS_FILE,
    WEIGHTS_FILE,
)
from model_folders.formats.kerashub_targets import (
    WeightTarget,
    classifier_targets,
    masked_lm_targets,
    network_targets,
)
from model_folders.formats.shards import missing_entry_error
from model_folders.formats.weight_entries import (
    WeightArray,
    WeightEntry,
    printable_name,
)
from model_folders.kinds import ModelClass

# The scope of all layers. Keras 2 named it differently.
_SCOPE = re.compile(r"(?:layers|_layer_checkpoint_dependencies)/")
# Matches the state of a training, and of dropout.
_TRAINING_STATE = re.compile(r"optimizer/|(?:.*/)?seed_generator(?:_\d+)?/")
_BLOCK = re.compile(r"transformer_encoder(?:_\d+)?/")


def find_kerashub_weights(path: StrPath) -> str | None:
    """Returns the file of the weights at a path, None for other formats.

    Raises:
        OSError: the folder contains a preset without its weights.
    """
    path = os.fspath(path)
    folder, name = os.path.split(path)
    if name in (WEIGHTS_FILE, INDEX_FILE, TASK_WEIGHTS_FILE):
        path = folder
    if not kerashub_config.has_kerashub_config(path):
        return None
    index = os.path.join(path, INDEX_FILE)
    file = os.path.join(path, WEIGHTS_FILE)
    if os.path.isfile(index) and not os.path.isfile(file):
        return index
    _check_exists(file)
    return file


def open_kerashub_entries(path: str) -> Mapping[str, WeightEntry]:
    """Returns {Google's name: WeightEntry} of a preset's weights.

    Args:
        path: result of `find_kerashub_weights`.

    Raises:
        OSError: a file is missing or cannot be read.
        ValueError: the files contain other weights than config.json and
            task.json describe. The message names the first such weight.
    """
    folder = os.path.dirname(path)
    config = kerashub_config.read_bert_config(os.path.join(folder, CONFIG_FILE))
    stored = _open_weights(path)
    # Compare the number of blocks first, because it determines the number of
    # targets.
    _check_num_blocks(path, stored, config.num_hidden_layers)
    entries = _match_targets(path, stored, network_targets(config))
    if head_targets := _read_head_targets(folder, config):
        file = os.path.join(folder, TASK_WEIGHTS_FILE)
        _check_exists(file)
        entries |= _match_targets(file, _open_weights(file), head_targets)
    return entries


def _check_num_blocks(
    path: str, stored: Iterable[str], num_hidden_layers: int
) -> None:
    """Raises a ValueError if a file contains more blocks, or fewer."""
    blocks = {match[0] for match in map(_BLOCK.match, stored) if match}
    if len(blocks) != num_hidden_layers:
        raise ValueError(
            f"{path} contains {len(blocks)} blocks, but {CONFIG_FILE} states "
            f"num_layers={num_hidden_layers}. Correct {CONFIG_FILE}"
        )


def _read_head_targets(
    folder: str, config: BertConfig
) -> dict[str, WeightTarget]:
    """Returns {name in task.weights.h5: its WeightTarget}, {} without a head.

    The task.json of the preset describes the head.
    """
    model_class, task = kerashub_config.read_task(folder)
    if model_class == ModelClass.CLASSIFIER:
        # `read_task` has checked its type.
        num_labels = cast("int", task["num_classes"])
        return classifier_targets(config, num_labels)
    if model_class == ModelClass.PRETRAINER:
        return masked_lm_targets(config)
    return {}


def _check_exists(file: str) -> None:
    if not os.path.isfile(file):
        raise FileNotFoundError(
            f"There is no {file}. Save or download the preset again"
        )


def _open_weights(path: str) -> dict[str, WeightEntry]:
    """Returns {name without the scope: WeightEntry} of the weights at a path.

    The path names a file, or the index of several files.
    """
    is_index = path.endswith(INDEX_FILE)
    datasets = _open_shards(path) if is_index else open_h5_entries(path)
    return {
        _SCOPE.sub("", name, count=1): entry
        for name, entry in datasets.items()
        if not _TRAINING_STATE.match(name)
    }


def _open_shards(path: str) -> dict[str, WeightEntry]:
    """Returns {name: WeightEntry} of the datasets in all files of an index.

    An index lists a group of datasets with the file or the files that contain
    it. Another file may contain an older dataset with the same name.
    """
    files: dict[str, dict[str, WeightEntry]] = {}
    entries: dict[str, WeightEntry] = {}
    for group, file in kerashub_config.read_shards(path):
        if file not in files:
            files[file] = open_h5_entries(file)
        members = {
            name: entry
            for name, entry in files[file].items()
            if os.path.dirname(name) == group
        }
        if not members:
            raise missing_entry_error(file, group, path)
        entries |= members
    return entries


def _match_targets(
    path: str,
    stored: Mapping[str, WeightEntry],
    targets: Mapping[str, WeightTarget],
) -> dict[str, WeightEntry]:
    """Returns {Google's name: WeightEntry} of the datasets in a file.

    Raises:
        ValueError: the file lacks a target, or contains anything else.
    """
    for name, entry in stored.items():
        target = targets.get(name)
        if target is None:
            raise ValueError(
                f"{path} contains {printable_name(name)} of the shape "
                f"{list(entry.shape)}, which BERT lacks. Use another model"
            )
        if tuple(entry.shape) != target.stored_shape:
            raise ValueError(
                f"{name} has the shape {list(entry.shape)} in {path}, but "
                f"{list(target.stored_shape)} by the JSON files beside it. "
                "Correct them"
            )
    if missing := targets.keys() - stored.keys():
        first = next(name for name in targets if name in missing)
        raise ValueError(
            f"{path} lacks {first} of the shape "
            f"{list(targets[first].stored_shape)}. Save or download it again"
        )
    return {
        target.name: _convert_entry(stored[name], target)
        for name, target in targets.items()
    }


def _convert_entry(entry: WeightEntry, target: WeightTarget) -> WeightEntry:
    def read() -> WeightArray:
        value = entry.read().reshape(target.stored_shape)
        if target.is_transposed:
            value = value.T
        return value.reshape(target.shape)

    return WeightEntry(shape=target.shape, dtype=entry.dtype, read=read)
