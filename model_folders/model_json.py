"""Reads model.json, which this project writes beside weights.

This module imports neither Keras nor TensorFlow.
"""

import os
import types
from collections.abc import Mapping
from typing import Final, TypeAlias

from files.json_files import read_json
from files.paths import StrPath
from model_folders import kinds
from model_folders.model_json_types import ModelJson
from model_folders.recorded_sets import DEV_SET_RULE, RECORDED_SETS

MODEL_JSON_FILE = "model.json"
# Entry with the checksums of an export's networks.
CHECKSUMS: Final = "checksums"
# Version of the format of model.json.
VERSION = 1
# Entries of model.json that are whole numbers above 0.
_COUNT_ENTRIES = (
    "max_answer_length",
    "max_query_length",
    "n_best_size",
)
# Entries of model.json that are true or false.
_BOOL_ENTRIES = (
    "bilstm",
    "do_lower_case",
    "left_to_right",
    "legal_tags",
    "load_best",
    "trim_padding",
    "use_char_offsets",
    "version_2_with_negative",
)
# Entries of model.json whose entries are checked too.
_CHECKED_OBJECT_ENTRIES = (
    "origin",
    "settings",
    DEV_SET_RULE,
    "task",
    "tokenizer",
)
# Entries of model.json that contain other entries.
_OBJECT_ENTRIES = (
    CHECKSUMS,
    "bert_config",
    "command",
    "flags",
    "origin",
    "settings",
    DEV_SET_RULE,
    "task",
    "tokenizer",
    "versions",
)
_AllowedValues: TypeAlias = type | types.UnionType | range | tuple[object, ...]
# {entry of model.json: its type, or its valid values}. Serving and this package
# trust these entries: a negative stride would loop for ever, and "no" would
# count as true. `config_values.decide_open_flags` checks every entry that
# becomes a flag.
_ALLOWED_VALUES_OF_ENTRY: dict[str, _AllowedValues] = {
    "best_step": int | None,
    "clean_fraction": int | float,
    RECORDED_SETS: list,
    "dev_fraction": int | float,
    "doc_stride": range(2**31),
    "files": list,
    "key": list,
    "labels": list | None,
    "max_seq_length": range(3, 2**31),
    "null_score_diff_threshold": int | float,
    "num_texts": (None, 1, 2),
    "output_mode": (None, *kinds.PROBLEM_TYPE_OF_MODE),
    "rule": range(2**31),
    **dict.fromkeys(_COUNT_ENTRIES, range(1, 2**31)),
    **dict.fromkeys(_BOOL_ENTRIES, bool),
    **dict.fromkeys(_OBJECT_ENTRIES, dict),
    **dict.fromkeys(("name", "problem_type", "task_name"), str | None),
}


def read_model_json(folder: StrPath) -> ModelJson:
    """Reads the model.json in a folder. Returns {} if it is missing.

    Raises:
        ValueError: an entry is not valid, or another version of this project
            wrote the file.
    """
    file = os.path.join(folder, MODEL_JSON_FILE)
    if not os.path.isfile(file):
        return {}
    values: ModelJson = read_json(file)
    version = values.get("version")
    if version != VERSION:
        raise ValueError(
            f"{file} has the version {version!r}; use the version of this "
            "project that wrote the file"
        )
    check_entries(values, file)
    return values


def check_entries(entries: Mapping[str, object], file: str) -> None:
    """Checks the types of entries that serving and this package trust.

    Args:
        entries: {name: value} of entries of model.json, at any depth.
        file: path of the file, for messages.

    Raises:
        ValueError: a value is not valid.
    """
    for name, value in entries.items():
        if not _is_valid_entry(name, value):
            raise ValueError(f"{file}: `{name}` must not be {value!r:.80}")
        if name in _CHECKED_OBJECT_ENTRIES and isinstance(value, dict):
            check_entries(value, file)


def _is_valid_entry(name: str, value: object) -> bool:
    """Returns whether an entry has its type, or one of its valid values."""
    allowed = _ALLOWED_VALUES_OF_ENTRY.get(name, object)
    if isinstance(allowed, range):
        return type(value) is int and value in allowed
    if isinstance(allowed, tuple):
        return value in allowed
    if name == RECORDED_SETS and isinstance(value, list):
        return all(map(_begins_with_text, value))
    return isinstance(value, allowed)


def _begins_with_text(value: object) -> bool:
    return isinstance(value, list) and isinstance(next(iter(value), None), str)
