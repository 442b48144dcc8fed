"""Identifies the networks, the tokenizer and the input files of a training."""

import os
import zlib
from collections.abc import Iterable

import tensorflow as tf

import modeling
from model_folders.model_json import Fingerprint, TrainingInputs
from model_folders.reading import settings_check
from model_folders.reading.config_files import list_files_beside
from model_folders.reading.preset import (
    PathOrPreset,
    Preset,
    folder_of,
    read_preset,
)
from training.config.training_config import TrainingConfig
from training.starting_point import StartingPoint


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


def fingerprint_files(files: Iterable[str]) -> list[Fingerprint]:
    """Returns [name, bytes, checksum] of each file, to find changed inputs."""
    return [
        [os.path.basename(file), *size_and_checksum(file)] for file in files
    ]


def size_and_checksum(file: str) -> tuple[int, int]:
    """Returns the number of bytes of a file, and their checksum."""
    size = checksum = 0
    with tf.io.gfile.GFile(file, "rb") as reader:
        while chunk := reader.read(1 << 24):
            size += len(chunk)
            checksum = zlib.crc32(chunk, checksum)
    return size, checksum


def fingerprint_checkpoint(path_or_preset: PathOrPreset) -> list[Fingerprint]:
    """Returns the fingerprint of a checkpoint, or of the newest in a folder.

    Raises:
        OSError: the path contains no checkpoint.
    """
    file = modeling.find_checkpoint(path_or_preset)
    if not os.path.isfile(file):
        # The index of a TF1 checkpoint contains the checksum of each variable.
        file = f"{file}.index"
    return fingerprint_files([file, *list_files_beside(file)])
