"""Writes model.json, which describes a run's weights, and the files it lists.

The file contains the settings of the training, which a resumed run must keep:
its flags, and fingerprints of the network, the tokenizer and the input files.
This module imports no TensorFlow, but for a checksum.
"""

import json
import os
import platform
import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, cast

import modeling
from data.text.tokenization import FullTokenizer
from files.atomic import write_bytes
from files.json_files import parse_json, read_json, write_json
from model_folders import kinds, model_json
from model_folders.bert_config import BERT_CONFIG_FILE
from model_folders.checkpoint_folders import list_checkpoint_steps
from model_folders.fingerprints import FileFingerprint
from model_folders.labels import LABELS_FILE, format_labels
from model_folders.model_json import (
    MODEL_JSON_FILE,
    HeadSettings,
    ModelJson,
    Provenance,
    TrainingInputs,
    TrainingSettings,
)
from model_folders.reading import hub, settings_check
from model_folders.reading.config_files import list_files_beside
from model_folders.reading.preset import (
    PathOrPreset,
    Preset,
    folder_of,
    read_preset,
)
from model_folders.tokenizer_files import create_vocab_files
from options.config import Config
from options.fields import Role
from options.parsed_command import ParsedCommand
from training.config.training_config import TrainingConfig
from training.starting_point import StartingPoint

if TYPE_CHECKING:
    from modeling.base_task_model import AnyTaskModel

# Flags that name machines or accounts, which model.json must not contain.
_ADDRESS_FLAGS = frozenset({"gcp_project", "master", "tpu_name", "tpu_zone"})


def create_training_settings(
    starting_point: StartingPoint[TrainingConfig],
    task_settings: TrainingSettings,
) -> TrainingSettings:
    """Returns the training settings of a command, as model.json records them.

    For example, {"input_file": [...], "flags": {"learning_rate": 5e-05, ...}}
    in pretraining. A resumed run keeps recorded settings that this command does
    not know.

    Args:
        starting_point: the flags, the network and the tokenizer of the command.
        task_settings: the settings that this function does not add: those of
            the task and of its data. Tuples become lists.

    Raises:
        ValueError: the folder of the initial weights states a network that is
            not a BERT.
        OSError: a checkpoint of the flags cannot be read.
    """
    in_json = parse_json(
        json.dumps(
            {**fingerprint_starting_point(starting_point), **task_settings}
        ),
        MODEL_JSON_FILE,
        may_be_infinite=True,
    )
    flags = starting_point.config.to_flags_entry()
    current = cast("TrainingSettings", {**in_json, "flags": flags})
    if own_run := starting_point.own_run:
        return {**own_run.training_settings, **current}
    return current


def fingerprint_starting_point(
    starting_point: StartingPoint[TrainingConfig],
) -> TrainingInputs:
    """Identifies the network, the tokenizer and the checkpoints of a training.

    Returns JSON-serializable {name: value}, which a resumed run must repeat.
    """
    config = starting_point.config
    teacher = config.distillation.teacher
    training_inputs: TrainingInputs = {
        "bert_config": starting_point.bert_config.to_dict(),
        "left_to_right": config.network_arguments["left_to_right"],
        "bilstm": config.network_arguments["bilstm"],
        "teacher": fingerprint_checkpoint(teacher) if teacher else None,
    }
    if teacher:
        training_inputs["teacher_network"] = _fingerprint_network(
            read_preset(teacher, "--teacher")
        )
    if starting_point.tokenizer:
        training_inputs["tokenizer"] = starting_point.tokenizer.identity
    return training_inputs | _fingerprint_init_checkpoint(starting_point)


def _fingerprint_init_checkpoint(
    starting_point: StartingPoint[TrainingConfig],
) -> TrainingInputs:
    """Identifies the weights that --init_checkpoint names.

    Returns {} if the flag does not say how the run began: the flag is missing
    in a command on a run, or names the folder of the run itself.
    """
    checkpoint = starting_point.config.model.init_checkpoint
    if not checkpoint:
        return {} if starting_point.is_own_run else {"init_checkpoint": None}
    output_dir = os.path.realpath(starting_point.config.training.output_dir)
    if os.path.realpath(folder_of(checkpoint)) == output_dir:
        return {}
    # If the command is on a run, `starting_point.preset` is that of
    # --output_dir.
    preset = None if starting_point.is_own_run else starting_point.preset
    preset = preset or read_preset(checkpoint, "--init_checkpoint")
    return {
        "init_checkpoint": fingerprint_checkpoint(preset),
        "init_checkpoint_network": _fingerprint_network(preset),
    }


def _fingerprint_network(preset: Preset) -> dict[str, object]:
    """Returns the settings that give the weights in a folder their meaning.

    Equal weights with another number of heads, another activation or labels in
    another order are another model. A value is None if no file states it.
    """
    bert_config = preset.load_config()
    return {
        **{
            name: getattr(bert_config, name, None)
            for name in settings_check.ENTRIES_NOT_IN_SHAPES
        },
        **preset.network_arguments,
        "labels": preset.labels,
    }


def fingerprint_checkpoint(
    path_or_preset: PathOrPreset,
) -> list[FileFingerprint]:
    """Returns the fingerprint of a checkpoint, or of the newest in a folder.

    Raises:
        OSError: the path contains no checkpoint.
    """
    file = modeling.find_checkpoint(path_or_preset)
    if not os.path.isfile(file):
        # The index of a TF1 checkpoint contains the checksum of each variable.
        file = f"{file}.index"
    return fingerprint_files([file, *list_files_beside(file)])


def fingerprint_files(files: Iterable[str]) -> list[FileFingerprint]:
    """Returns the fingerprint of each file, to find changed inputs."""
    return [
        FileFingerprint(os.path.basename(file), *size_and_checksum(file))
        for file in files
    ]


def size_and_checksum(file: str) -> tuple[int, int]:
    """Returns the number of bytes of a file, and their checksum."""
    # Import late, so that reading the folder of a run does not load TensorFlow.
    import tensorflow as tf

    size = checksum = 0
    with tf.io.gfile.GFile(file, "rb") as reader:
        while chunk := reader.read(1 << 24):
            size += len(chunk)
            checksum = zlib.crc32(chunk, checksum)
    return size, checksum


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
    chosen: Mapping[str, object] = training_settings
    head_settings |= {
        name: chosen[name] for name in head_settings.keys() & chosen.keys()
    }
    # The flags of these roles are the entries of HeadSettings.
    task_entry = {"name": kinds.model_class_of(model), **head_settings}
    provenance: Provenance = {
        "script": starting_point.parsed.script,
        "command": _anonymize_command(starting_point.parsed),
        "settings": training_settings,
        "versions": {
            "python": platform.python_version(),
            "keras": metadata.version("keras"),
            "tensorflow": metadata.version("tensorflow"),
        },
    }
    return model_json.create_contents(
        cast("HeadSettings", task_entry), provenance
    )


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
