"""Loads and writes checkpoints of TensorFlow 1, such as Google's releases.

model_folders/formats/tf1.py opens and checks the files to load. The writing
functions replace a checkpoint complete or not at all.
"""

import contextlib
import dataclasses
import functools
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import keras
import tensorflow as tf

from files.atomic import partial_path, sync_to_disk
from files.paths import StrPath, explain_tensorflow_errors
from model_folders.atomic_folders import atomic_folder
from model_folders.bert_config import BERT_CONFIG_FILE
from model_folders.formats.tf1 import check_tf1_files, open_tf1_checkpoint
from model_folders.formats.weight_entries import without_scope
from model_folders.labels import LABELS_FILE, check_labels, format_labels
from model_folders.tokenizer_files import Tokenizer, create_vocab_files
from modeling.checkpoints.checkpoint import Checkpoint
from modeling.checkpoints.variables import StoredEntry, google_name_of
from modeling.keras_fit import KerasFitModel

_WORD_EMBEDDINGS = re.compile(r"(.+/)?bert/embeddings/word_embeddings")
# Matches entries that training adds, in Google's code or in this project.
_TRAINING_STATE = re.compile(
    r"(?:^global_step|^loss_scale(?:_good_steps)?"
    r"|^distillation/kernel|(?:^|/)seed_generator_state|/adam_[mv])$"
)
# Endings of the names of a checkpoint's files, in the order in which they are
# renamed. Without an index, the other file is no checkpoint.
ENDINGS = (".data-00000-of-00001", ".index")


@dataclasses.dataclass(frozen=True)
class Tf1Checkpoint(Checkpoint):
    """A checkpoint in the TF1 format. `file` is the prefix of its files."""

    def read_shapes(self) -> dict[str, Sequence[int]]:
        """Returns {name in the file, without its scope: shape}, sorted."""
        with open_tf1_checkpoint(self.file) as (reader, _):
            shapes = reader.get_variable_to_shape_map()
            names = without_scope(shapes, _WORD_EMBEDDINGS)
            return {name: shapes[names[name]] for name in sorted(names)}

    def read_google_shapes(self) -> dict[str, Sequence[int]]:
        """Checks the sizes of the files. Returns {Google's name: shape}."""
        check_tf1_files(self.file)
        return self.shapes

    @contextlib.contextmanager
    def open_entries(
        self, model: keras.Model, names: Collection[str]
    ) -> Iterator[Mapping[str, StoredEntry]]:
        """Opens {Google's name: entry} without the state of the training.

        This state is, for example, `global_step` and Adam's moments.
        """
        with open_tf1_checkpoint(self.file) as (reader, readable):
            all_shapes = reader.get_variable_to_shape_map()
            stored_names = without_scope(all_shapes, _WORD_EMBEDDINGS)
            dtypes = reader.get_variable_to_dtype_map()
            entries = {}
            for name in sorted(stored_names):
                if not _TRAINING_STATE.search(name):
                    stored = stored_names[name]
                    entries[name] = _TensorEntry(
                        shape=all_shapes[stored],
                        dtype=dtypes[stored].name,
                        read=functools.partial(
                            _read_tensor, readable, stored, dtypes[stored]
                        ),
                    )
            yield entries


class _TensorEntry(NamedTuple):
    """An entry of a checkpoint, as a `WeightEntry`, whose value is a tensor."""

    shape: Sequence[int]
    dtype: str
    read: Callable[[], tf.Tensor]


def _read_tensor(prefix: str, name: str, dtype: tf.DType) -> tf.Tensor:
    """Reads a value. `name` is the name in the file."""
    # Do not use `reader.get_tensor`, because assigning its result copies the
    # values again.
    tensors = tf.raw_ops.RestoreV2(
        prefix=prefix,
        tensor_names=[name],
        shape_and_slices=[""],
        dtypes=[dtype],
    )
    return tensors[0]


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
    for source in targets:
        # TensorFlow does not wait until the bytes are on the disk.
        sync_to_disk(source)
    *_, index = targets.values()
    with contextlib.suppress(FileNotFoundError):
        os.remove(index)
    for source, target in targets.items():
        os.replace(source, target)
    sync_to_disk(os.path.dirname(index))
