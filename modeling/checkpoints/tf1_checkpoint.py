"""Loads checkpoints of TensorFlow 1, such as Google's releases.

model_folders/formats/tf1_weights.py checks the files and opens them, and
tf1_writer.py writes such files.
"""

import contextlib
import dataclasses
import functools
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

import keras
import tensorflow as tf

from model_folders.formats.tf1_weights import (
    check_tf1_files,
    open_tf1_checkpoint,
)
from model_folders.formats.weight_entries import without_scope
from modeling.checkpoints.checkpoint import Checkpoint
from modeling.checkpoints.variables import StoredEntry

_WORD_EMBEDDINGS = re.compile(r"(.+/)?bert/embeddings/word_embeddings")
# Matches entries that training adds, in Google's code or in this project.
_TRAINING_STATE = re.compile(
    r"(?:^global_step|^loss_scale(?:_good_steps)?"
    r"|^distillation/kernel|(?:^|/)seed_generator_state|/adam_[mv])$"
)


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
