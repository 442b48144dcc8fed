"""Finds checkpoints of any format, and chooses the class that loads them."""

import os
from collections.abc import Sequence

from files.paths import StrPath
from model_folders.bert_config import BertConfig
from model_folders.checkpoint_folders import RunStep, find_tf1_checkpoint
from model_folders.formats.huggingface_weights import find_huggingface
from model_folders.reading.preset import PathOrPreset, Preset
from modeling.checkpoints.checkpoint import Checkpoint
from modeling.checkpoints.converted_checkpoint import (
    CONVERTED_FORMATS,
    ConvertedCheckpoint,
)
from modeling.checkpoints.huggingface_checkpoint import HuggingFaceCheckpoint


def open_checkpoint(
    path_or_preset: PathOrPreset, run_step: RunStep = "reported"
) -> Checkpoint:
    """Returns the checkpoint that a path names or contains.

    Reads no values. The function chooses the first format whose files exist.
    Checkpoints of TensorFlow 1 come last.

    Args:
        path_or_preset: path of the checkpoint, path of the folder that contains
            it, or the folder's Preset. For a path, the function does not read
            the other files of the folder (`Checkpoint.preset`).
        run_step: "best" or "last", to load this step if the path is the folder
            of a training run. By default the step that the run reports.

    Raises:
        FileNotFoundError: the path contains no checkpoint.
        OSError: a file of the checkpoint cannot be read.
        ValueError: the path contains an adapter, or weights of a library that
            is not read, or `run_step` is not a RunStep.
    """
    if isinstance(path_or_preset, Preset):
        preset = path_or_preset
        model_json = preset.model_json
    else:
        path = os.fspath(path_or_preset)
        # To load weights, no other file of the folder is needed.
        preset = Preset(folder=path, weights_path=path)
        model_json = None
    path = preset.weights_path
    if file := find_huggingface(path):
        return HuggingFaceCheckpoint(file, preset)
    for converted_format in CONVERTED_FORMATS:
        if file := converted_format.find(path):
            return ConvertedCheckpoint(file, preset, converted_format)

    prefix = find_tf1_checkpoint(path, run_step, model_json)
    # Import after a checkpoint is found, because only this format needs
    # TensorFlow, which other backends of Keras lack.
    from modeling.checkpoints.tf1_checkpoint import Tf1Checkpoint

    return Tf1Checkpoint(prefix, preset)


def find_checkpoint(
    path_or_preset: PathOrPreset, *, run_step: RunStep = "reported"
) -> str:
    """Returns the file, or the prefix of the files, of a checkpoint.

    `check_checkpoint` checks the files.

    Args:
        path_or_preset: path of a checkpoint or its folder, or a Preset.
        run_step: the step to choose in the folder of a run.

    Raises:
        FileNotFoundError: the path contains no checkpoint.
        OSError: a file of the checkpoint cannot be read.
        ValueError: the path contains an adapter, or weights of a library that
            is not read, or `run_step` is not a RunStep.
    """
    return open_checkpoint(path_or_preset, run_step).file


def check_checkpoint(
    path_or_preset: PathOrPreset,
    config: BertConfig | None = None,
    initial_blocks: Sequence[int] | None = None,
) -> None:
    """Checks that there is a checkpoint, and the sizes of its files.

    Does not read the values in the files. A command calls this before it
    creates a model, which may need much memory.

    Args:
        path_or_preset: path of a checkpoint or its folder, or a Preset.
        config: sizes of the model that will load the checkpoint. If None, the
            function only checks that no file is damaged.
        initial_blocks: the stored block from which each block starts.

    Raises:
        FileNotFoundError: the path contains no checkpoint.
        OSError: a file of the checkpoint is missing, truncated or malformed.
        ValueError: the checkpoint does not fit `config`, lacks the encoder, or
            is an adapter.
    """
    open_checkpoint(path_or_preset).check_sizes(config, initial_blocks)


def read_shapes(path: StrPath) -> dict[str, Sequence[int]]:
    """Returns {name in the file: shape} of all entries of a checkpoint.

    Args:
        path: result of `find_checkpoint`.
    """
    return open_checkpoint(path).read_shapes()
