"""Replaces a dataset of an HDF5 file by one that no reader of weights accepts.

For example:

    with h5py.File(path, "r+") as file:
        link_out(file, "layers/dense/vars/0")
"""

import h5py


def link_in(file: h5py.File, name: str) -> None:
    """Replaces a dataset by a link to another place in the file."""
    del file[name]
    file[name] = h5py.SoftLink("/other")


def link_out(file: h5py.File, name: str) -> None:
    """Replaces a dataset by a link to another file."""
    del file[name]
    file[name] = h5py.ExternalLink("/etc/passwd", "x")


def store_out(file: h5py.File, name: str) -> None:
    """Stores the values of a dataset in another file."""
    shape = file[name].shape
    del file[name]
    outside = [("other.bin", 0, h5py.h5s.UNLIMITED)]
    file.create_dataset(name, shape, "float32", external=outside)


def store_virtual(file: h5py.File, name: str) -> None:
    """Makes a dataset a view of another file."""
    shape = file[name].shape
    del file[name]
    layout = h5py.VirtualLayout(shape, "float32")
    layout[:] = h5py.VirtualSource("other.h5", "x", shape)
    file.create_virtual_dataset(name, layout)


def store_nothing(file: h5py.File, name: str) -> None:
    """Creates a dataset without its values."""
    shape = file[name].shape
    del file[name]
    file.create_dataset(name, shape, "float32")


def store_nothing_large(file: h5py.File, name: str) -> None:
    """Creates a large dataset, which takes no place without its values."""
    del file[name]
    file.create_dataset(name, (2**20, 2**20), "float32")


def store_text(file: h5py.File, name: str) -> None:
    """Replaces a dataset by a text."""
    del file[name]
    file[name] = "text"


# (function that changes a dataset, what an error must say of it)
ODD_DATASETS = [
    (link_in, "is a link to another place"),
    (link_out, "is a link to another place"),
    (store_out, "is stored in another file"),
    (store_virtual, "is stored in another file"),
    (store_nothing, "is stored in chunks, or in part"),
    (store_nothing_large, "is stored in chunks, or in part"),
    (store_text, "contains no numbers"),
]
