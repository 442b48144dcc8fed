"""Writes model.json, which describes a run's weights, and the files it lists.

Among its entries are the settings of the training (settings_creation.py). This
module imports no TensorFlow.
"""

import os
import platform
import re
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, cast

from data.text.tokenization import FullTokenizer
from files.atomic import write_bytes
from files.json_files import parse_json, read_json, write_json
from model_folders import kinds, model_json
from model_folders.bert_config import BERT_CONFIG_FILE
from model_folders.checkpoint_folders import list_checkpoint_steps
from model_folders.head_settings import TaskEntry
from model_folders.labels import LABELS_FILE, format_labels
from model_folders.model_json import MODEL_JSON_FILE, ModelJson, Provenance
from model_folders.reading import hub
from model_folders.tokenizer_files import create_vocab_files
from model_folders.training_settings import TrainingSettings
from options.config import Config
from options.fields import Role
from options.parsed_command import ParsedCommand
from training.config.training_config import TrainingConfig
from training.starting_point import StartingPoint

if TYPE_CHECKING:
    from modeling.base_task_model import AnyTaskModel

# Flags that name machines or accounts, which model.json must not contain.
_ADDRESS_FLAGS = frozenset({"gcp_project", "master", "tpu_name", "tpu_zone"})


def create_model_json(
    starting_point: StartingPoint[TrainingConfig],
    model: "AnyTaskModel",
    training_settings: TrainingSettings,
) -> ModelJson:
    """Returns the contents of a run's model.json.

    Args:
        starting_point: the flags of the run, and the script that trains it.
        model: its class is the name of the task.
        training_settings: result of `create_training_settings`.
    """
    head_settings = starting_point.config.non_path_values(
        Role.HEAD, Role.DECODING
    )
    # A setting may be the value that the task chose for the flag.
    chosen: Mapping[str, object] = training_settings.head
    head_settings |= {
        name: chosen[name] for name in head_settings.keys() & chosen.keys()
    }
    # The flags of these roles are the entries of TaskEntry.
    task_entry = {"name": kinds.model_class_of(model), **head_settings}
    provenance: Provenance = {
        "script": starting_point.parsed.script,
        "command": _anonymize_command(starting_point.parsed),
        "settings": training_settings.to_entry(),
        "versions": {
            "python": platform.python_version(),
            "keras": metadata.version("keras"),
            "tensorflow": metadata.version("tensorflow"),
        },
    }
    return model_json.create_contents(cast("TaskEntry", task_entry), provenance)


def _anonymize_command(
    parsed: ParsedCommand[Config],
) -> dict[str, object]:
    """Returns {flag that the user set: value} for model.json.

    Paths lose their folders, and flags that name machines are left out.

    A model of the hub keeps its name, and gets the commit that was downloaded.
    """
    command = {
        name: value
        for name, value in parsed.typed_values.items()
        if name not in _ADDRESS_FLAGS
    }
    values = parsed.config.option_values()
    for flag in parsed.config.list_options(*Role):
        if flag.path_type is None or flag.name not in command:
            continue
        source = hub.hub_path_of(str(values[flag.name] or ""))
        paths = str(command[flag.name]).split(",")
        names = [os.path.basename(path.rstrip("/")) for path in paths]
        command[flag.name] = source or ",".join(names)
    return command


def create_listed_files(
    model: "AnyTaskModel",
    tokenizer: FullTokenizer | None,
    labels: Sequence[str] | None,
) -> dict[str, bytes]:
    """Returns {name: contents} of the configuration, vocabulary and labels.

    Args:
        model: its configuration is written.
        tokenizer: tokenizer of the texts. None without --vocab_file, and then
            no vocabulary is written.
        labels: names of the model's outputs, in order. If None, no
            labels.txt is written.
    """
    files = {BERT_CONFIG_FILE: model.config.to_json_string().encode()}
    if tokenizer:
        num_positions = model.config.max_position_embeddings
        files |= create_vocab_files(tokenizer, num_positions)
    if labels is not None:
        files[LABELS_FILE] = format_labels(labels).encode()
    return files


def write_listed_files(
    folder: Path,
    files: Mapping[str, bytes],
    description: ModelJson,
    *,
    best_step: int | None = None,
) -> None:
    """Writes files, and the model.json that lists them.

    A user's own files are not replaced.

    Args:
        folder: an existing folder of weights.
        files: {name: contents}, as `create_listed_files` returns.
        description: contents of model.json, without the list.
        best_step: step of the run's best weights, None if it has none.

    Raises:
        ValueError: a file in the folder describes another model.
        OSError: a file cannot be written.
    """
    own_names = _read_listed_names(folder)
    for name, file_contents in files.items():
        path = folder / name
        # An earlier command wrote the file, and saved no weights that need it.
        is_outdated = name in own_names and not list_checkpoint_steps(folder)
        if is_outdated or not path.is_file():
            write_bytes(path, file_contents)
            own_names.add(name)
        elif not _has_contents(path, file_contents):
            raise ValueError(
                f"{path} does not describe the model that this command would "
                "train; choose another --output_dir"
            )
    contents: ModelJson = {**description, "files": sorted(own_names)}
    if best_step is not None:
        contents["best_step"] = best_step
    write_json(folder / MODEL_JSON_FILE, contents)


def _read_listed_names(folder: Path) -> set[str]:
    """Returns the names in the list of a run's model.json, if it has one."""
    file = folder / MODEL_JSON_FILE
    if not file.is_file():
        return set()
    listed = read_json(file).get("files")
    # The list of a run's folder contains no weights and no exports.
    weights = re.compile(r".*\.(index|safetensors|tflite|onnx)")
    if not isinstance(listed, list) or any(
        weights.fullmatch(str(name)) for name in listed
    ):
        raise ValueError(
            f"--output_dir={folder} contains a {MODEL_JSON_FILE} that no run "
            "in this folder wrote; choose another --output_dir"
        )
    return {*map(str, listed)}


def _has_contents(path: Path, contents: bytes) -> bool:
    """Returns whether a file says what `contents` say."""
    read_contents = path.read_bytes()
    if path.suffix != ".json":
        return read_contents == contents
    # Compare only the entries of `contents`. If another program saved the file,
    # it may contain more entries and a different model_max_length.
    read_entries = parse_json(read_contents, str(path))
    entries = parse_json(contents, path.name)
    entries.pop("model_max_length", None)
    return all(
        read_entries.get(name, value) == value
        for name, value in entries.items()
    )
