"""Reads model.json, what programs know of weights, and defines its types.

This project writes the file beside weights. For people, model_card.py writes
the README.md there, and training/run_files/model_description.py decides what
the model.json of a run contains.

The entries are plain dicts, so that they can be written as JSON again. Each
entry may be missing. head_settings.py and training_settings.py define those
that a task and a run record.

Where a command is compared with model.json, what the file contains is
"recorded", and what the command would write is "current".

This module imports neither Keras nor TensorFlow.
"""

import json
import os
from collections.abc import Mapping
from typing import (
    Any,
    Final,
    TypedDict,
    cast,
    get_type_hints,
    is_typeddict,
)

from files.json_files import read_json
from files.paths import StrPath
from files.typed_dict_checks import find_malformed_entry
from model_folders.head_settings import HeadSettings, TaskEntry
from model_folders.training_settings import (
    TrainingSettings,
    TrainingSettingsEntry,
)

MODEL_JSON_FILE = "model.json"
# Key of the entry with the checksums of an export's networks.
CHECKSUMS: Final = "checksums"
# Version of the format of model.json.
VERSION = 1


class Provenance(TypedDict, total=False):
    """The origin of weights: the run that trained them, and its settings.

    Attributes:
        script: file name of the script.
        command: {flag that the user set: value}, without folders.
        settings: the `TrainingSettings` of the run.
        versions: {package: version}.
        weights: the model of the hub, hf://OWNER/NAME@REVISION, that was
            copied.
        step: training step at which the weights were saved.
    """

    script: str
    command: Mapping[str, object]
    settings: TrainingSettingsEntry
    versions: Mapping[str, str]
    weights: str
    step: int


class ModelJson(TypedDict, total=False):
    """Contents of model.json.

    Attributes:
        version: version of the format.
        task: settings of the head.
        origin: the provenance of the weights, which `provenance_of` returns.
        files: names of the files in the folder that the run wrote.
        checksums: {file of an export's network: its checksum}.
        best_step: step of the best weights of the run.
    """

    version: int
    task: TaskEntry
    origin: Provenance
    files: list[str]
    checksums: Mapping[str, str]
    best_step: int | None


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


def create_contents(task: TaskEntry, provenance: Provenance) -> ModelJson:
    """Returns the contents of a new model.json."""
    return {
        "version": VERSION,
        "task": task,
        "origin": provenance,
    }


def format_json(contents: ModelJson) -> str:
    """Returns the text of a model.json."""
    return json.dumps(contents, indent=2) + "\n"


def head_settings_of(contents: ModelJson) -> HeadSettings:
    """Returns the settings of the head, {} if unknown.

    Args:
        contents: contents of model.json.
    """
    return contents.get("task", HeadSettings())


def provenance_of(contents: ModelJson) -> Provenance:
    """Returns the provenance of the weights in model.json, {} if unknown.

    Args:
        contents: contents of model.json.
    """
    return contents.get("origin", Provenance())


def training_settings_of(contents: ModelJson) -> TrainingSettings:
    """Returns the settings of the run that trained the weights.

    They are empty if model.json does not contain them.

    Args:
        contents: contents of model.json.
    """
    return TrainingSettings.from_entry(
        provenance_of(contents).get("settings", {})
    )


def check_entries(
    entries: Mapping[str, object], typed_dict: type[Any], file: str
) -> None:
    """Checks the types and values of entries of model.json.

    Args:
        entries: {name: value} of the entries.
        typed_dict: the TypedDict of the entries.
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
