"""Loads weights that other libraries stored, under Google's names.

A reader is a module for one format. It has two functions:

    find(path)          -> the file of the format at a path, or None
    open_entries(file)  -> {Google's name: Entry}

Readers run no code of a file, and read a value only when it is asked for.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import keras
import numpy as np

from modeling.checkpoints.restore import LoadReport, restore_variables


class Entry(NamedTuple):
    """An entry of a file, in the shape that the model's variable has.

    Attributes:
        shape: shape of the value that `read` returns.
        dtype: name of its type, such as "float32".
        read: function that reads the value.
    """

    shape: Sequence[int]
    dtype: str
    read: Callable[[], np.ndarray]


def load_entries(
    model: keras.Model,
    path: str,
    entries: Mapping[str, Entry],
    layers: Sequence[int] | None = None,
    new_head: Sequence[str] = (),
) -> LoadReport:
    """Assigns the entries of a file to a model.

    Args:
        model: any model of this package, built or not.
        path: path of the file, for messages.
        entries: {Google's name: Entry}. Entries that Google's BERT lacks have
            the names of the file, and are reported as unused.
        layers: as in `load_checkpoint`.
        new_head: as in `restore_variables`.

    Raises:
        ValueError: as `restore_variables` raises it.
    """
    return restore_variables(
        model,
        path,
        shapes={name: entry.shape for name, entry in entries.items()},
        dtypes={name: entry.dtype for name, entry in entries.items()},
        read=lambda name: entries[name].read(),
        layers=layers,
        new_head=new_head,
    )
