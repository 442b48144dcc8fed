"""Reads model.json, which this project writes beside weights.

This module imports neither Keras nor TensorFlow.
"""

import os
from collections.abc import Mapping
from typing import Any, Final, cast, get_type_hints, is_typeddict

from files.json_files import find_malformed_entry, read_json
from files.paths import StrPath
from model_folders.model_json_types import (
    HeadSettings,
    ModelJson,
    Provenance,
    TrainingSettings,
)

MODEL_JSON_FILE = "model.json"
# Key of the entry with the HeadSettings.
HEAD_SETTINGS: Final = "task"
# Key of the entry with the Provenance of the weights.
PROVENANCE: Final = "origin"
# Key of the entry with the checksums of an export's networks.
CHECKSUMS: Final = "checksums"
# Version of the format of model.json.
VERSION = 1


def read_model_json(folder: StrPath) -> ModelJson:
    """Reads the model.json in a folder. Returns {} if it is missing.

    Raises:
        ValueError: an entry is not valid, or another version of this project
            wrote the file.
    """
    file = os.path.join(folder, MODEL_JSON_FILE)
    if not os.path.isfile(file):
        return {}
    values = read_json(file)
    version = values.get("version")
    if version != VERSION:
        raise ValueError(
            f"{file} has the version {version!r}; use the version of this "
            "project that wrote the file"
        )
    check_entries(values, ModelJson, file)
    return cast("ModelJson", values)


def head_settings_of(contents: ModelJson) -> HeadSettings:
    """Returns the settings of the head, {} if unknown.

    Args:
        contents: contents of model.json.
    """
    return contents.get(HEAD_SETTINGS, HeadSettings())


def provenance_of(contents: ModelJson) -> Provenance:
    """Returns the provenance of the weights in model.json, {} if unknown.

    Args:
        contents: contents of model.json.
    """
    return contents.get(PROVENANCE, Provenance())


def training_settings_of(contents: ModelJson) -> TrainingSettings:
    """Returns the settings of the run that trained the weights, {} if unknown.

    Args:
        contents: contents of model.json.
    """
    return provenance_of(contents).get("settings", TrainingSettings())


def check_entries(
    entries: Mapping[str, object], typed_dict: type[Any], file: str
) -> None:
    """Checks the types and values of entries of model.json.

    Args:
        entries: {name: value} of the entries.
        typed_dict: the TypedDict of the entries, in model_json_types.py.
        file: path of the file, for messages.

    Raises:
        ValueError: a value is not valid. The message names the entry, or the
            entry in it that is not valid.
    """
    name = find_malformed_entry(entries, typed_dict)
    if name is None:
        return
    value = entries[name]
    inner_type = get_type_hints(typed_dict)[name]
    if is_typeddict(inner_type) and isinstance(value, dict):
        check_entries(value, inner_type, file)
    raise ValueError(f"{file}: `{name}` must not be {value!r:.80}")
