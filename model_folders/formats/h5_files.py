"""Lists the datasets of HDF5 files, which Keras and transformers 4 write.

This module reads only values that the file itself stores, uncompressed. So no
link can name another file, and nothing in a file can be larger than the file.
"""

import contextlib
import math
import os
from collections.abc import Iterable, Iterator

import h5py
import ml_dtypes
import numpy as np

from model_folders.formats.weight_entries import (
    WeightArray,
    WeightEntry,
    printable_name,
)

# Damaged files raise errors of many types, which do not name the file.
_FILE_ERRORS = (
    LookupError,
    OSError,
    RuntimeError,
    SystemError,
    TypeError,
    ValueError,
)


def open_h5_entries(path: str) -> dict[str, WeightEntry]:
    """Returns {name of a dataset: WeightEntry} of an HDF5 file.

    Reads no values.

    Raises:
        OSError: the file cannot be read.
        ValueError: the file contains a link that is not a hard link, or a
            dataset that is not stored in the file, or is compressed.
    """
    links: dict[str, object] = {}
    entries: dict[str, WeightEntry] = {}
    with _explain_file_errors(path), h5py.File(path, "r") as file:
        # The method follows no link, and its callback must raise no error.
        file.visititems_links(links.__setitem__)
        for name, link in links.items():
            if not isinstance(link, h5py.HardLink):
                raise ValueError(
                    f"{path}: {printable_name(name)} is a link to another "
                    "place. Save the model again"
                )
            dataset = file[name]
            if isinstance(dataset, h5py.Dataset):
                entries[name] = _create_entry(path, name, dataset)
        _check_size(path, entries.values())
    return entries


def _check_size(path: str, entries: Iterable[WeightEntry]) -> None:
    """Raises a ValueError if a file is smaller than the values in it."""
    num_bytes = sum(
        math.prod(entry.shape) * np.dtype(entry.dtype).itemsize
        for entry in entries
    )
    if num_bytes > os.path.getsize(path):
        raise ValueError(
            f"{path} states {num_bytes} bytes of values, but is smaller. "
            "Save or download it again"
        )


@contextlib.contextmanager
def _explain_file_errors(path: str) -> Iterator[None]:
    try:
        yield
    except _FILE_ERRORS as error:
        # The cause of a SystemError is the error of a callback.
        reason = " ".join(str(error.__cause__ or error).split())
        if reason.startswith(path):
            raise
        raise OSError(
            f"{path} cannot be read, or is damaged: {reason}"
        ) from error


def _create_entry(path: str, name: str, dataset: h5py.Dataset) -> WeightEntry:
    """Returns the entry of a dataset whose values the file itself contains.

    Raises:
        ValueError: the values are elsewhere, compressed, or no numbers.
    """
    # Keras stores bfloat16, which HDF5 lacks, as opaque values.
    is_bfloat16 = dataset.dtype == np.dtype("V2")
    dtype = np.dtype(ml_dtypes.bfloat16) if is_bfloat16 else dataset.dtype
    if dataset.is_virtual or dataset.external:
        problem = "is stored in another file"
    elif dataset.shape is None or dtype.hasobject:
        problem = "contains no numbers"
    elif dataset.chunks or dataset.id.get_storage_size() != (
        math.prod(dataset.shape) * dtype.itemsize
    ):
        problem = "is stored in chunks, or in part"
    else:
        return WeightEntry(
            shape=dataset.shape,
            dtype=str(dtype),
            read=lambda: _read_dataset(path, name, dtype),
        )
    raise ValueError(
        f"{path}: {printable_name(name)} {problem}. Save the model again"
    )


def _read_dataset(
    path: str, name: str, dtype: np.dtype[np.generic]
) -> WeightArray:
    with _explain_file_errors(path), h5py.File(path, "r") as file:
        values: WeightArray = file[name][()]
        return values.view(dtype)
