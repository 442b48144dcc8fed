"""Writes checkpoints of TensorFlow 1, and folders as of Google's releases.

Each function replaces a checkpoint complete or not at all. tf1_checkpoint.py
loads what they write.
"""

import contextlib
import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import keras
import tensorflow as tf

from files.atomic import partial_path, sync_to_disk
from files.paths import StrPath, explain_tensorflow_errors
from model_folders.atomic_folders import atomic_folder
from model_folders.bert_config import BERT_CONFIG_FILE
from model_folders.labels import LABELS_FILE, check_labels, format_labels
from model_folders.tokenizer_files import Tokenizer, create_vocab_files
from modeling.checkpoints.variables import google_name_of
from modeling.keras_fit import KerasFitModel

# Endings of the names of a checkpoint's files, in the order in which they are
# renamed. Without an index, the other file is no checkpoint.
ENDINGS = (".data-00000-of-00001", ".index")


def save_checkpoint(
    model: keras.Model, path: StrPath, *, leave_out: Collection[str] = ()
) -> None:
    """Writes a model's weights as a checkpoint with Google's names.

    The checkpoint appears complete or not at all.

    Args:
        model: any model of this package, built or not.
        path: prefix of the checkpoint to write, without `.index`. Its folder is
            created if missing.
        leave_out: Google's names of weights to omit.

    Raises:
        OSError: the files cannot be written.
    """
    if not model.built:
        model.build()
    weights = {google_name_of(weight): weight for weight in model.weights}
    for name in leave_out:
        weights.pop(name, None)
    write_checkpoint(path, weights)


def save_release(
    model: KerasFitModel,
    folder: StrPath,
    *,
    tokenizer: Tokenizer | None = None,
    labels: Sequence[str] | None = None,
    leave_out: Collection[str] = (),
    files: Mapping[str, str] | None = None,
) -> None:
    """Writes a folder with the files of Google's releases.

    Writes bert_model.ckpt and bert_config.json, with a tokenizer also vocab.txt
    and tokenizer_config.json, and with labels also labels.txt. The files appear
    together or not at all.

    Args:
        model: any model of this package, built or not.
        folder: folder to write. If it exists, it must not contain files that
            this project did not write.
        tokenizer: tokenizer of the model. If None, the function writes no
            vocabulary.
        labels: names of the model's outputs, in order. If None, the function
            writes no labels.txt.
        leave_out: Google's names of weights to omit.
        files: {name: text} of additional files to write, such as model.json.

    Raises:
        ValueError: `labels` cannot be lines of `labels.txt`, or the folder
            contains a user's file.
        OSError: the files cannot be written.
    """
    if labels is not None:
        check_labels(labels, num_labels=model.num_labels)
    contents: dict[str, str | bytes] = {
        BERT_CONFIG_FILE: model.config.to_json_string()
    }
    if tokenizer:
        num_positions = model.config.max_position_embeddings
        contents |= create_vocab_files(tokenizer, num_positions)
    if labels is not None:
        contents[LABELS_FILE] = format_labels(labels)
    contents |= files or {}
    with atomic_folder(folder, contents) as partial_folder:
        save_checkpoint(
            model, partial_folder / "bert_model.ckpt", leave_out=leave_out
        )


def write_checkpoint(
    path: StrPath, variables: Mapping[str, keras.Variable]
) -> None:
    """Writes variables as a checkpoint that appears complete or not at all.

    Args:
        path: prefix of the checkpoint to write, without `.index`.
        variables: {name: variable} of the checkpoint's entries.

    Raises:
        OSError: the files cannot be written.
    """
    path = str(path)
    partial = partial_path(path)
    folder = Path(path).parent
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with explain_tensorflow_errors(f"The checkpoint {path}"):
            # Eager tensors share their variables' memory, so no value is
            # copied.
            tf.raw_ops.SaveV2(
                prefix=partial,
                tensor_names=list(variables),
                shape_and_slices=[""] * len(variables),
                tensors=[*map(tf.convert_to_tensor, variables.values())],
            )
            _rename_files(partial, path)
    finally:
        # Remove partial files after a failed write. Compare names, because a
        # glob would interpret [ or * in the path. The endings of partial files
        # may differ from the two above.
        for file in folder.iterdir():
            if file.name.startswith(f"{os.path.basename(partial)}."):
                file.unlink()


def _rename_files(partial: str, path: str) -> None:
    """Renames the files of a checkpoint, the targets of links included.

    Removes an older index first, so that a killed process never leaves an index
    with the data of another checkpoint.
    """
    targets = {partial + end: os.path.realpath(path + end) for end in ENDINGS}
    for partial_file in targets:
        # TensorFlow does not wait until the bytes are on the disk.
        sync_to_disk(partial_file)
    *_, index = targets.values()
    with contextlib.suppress(FileNotFoundError):
        os.remove(index)
    for partial_file, target in targets.items():
        os.replace(partial_file, target)
    sync_to_disk(os.path.dirname(index))
