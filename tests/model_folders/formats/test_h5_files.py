"""HDF5 files: their datasets, and those that are not read."""

import re

import h5py
import ml_dtypes
import numpy as np
import pytest

from model_folders.formats.h5_files import open_h5_entries


@pytest.fixture
def path(tmp_path):
    """Path of the file that a test writes."""
    return str(tmp_path / "model.weights.h5")


def test_datasets_are_named_by_their_groups(path):
    with h5py.File(path, "w") as file:
        file["layers/dense/kernel"] = np.ones([2, 3], np.float32)
        file["bias"] = np.zeros(4, np.float16)
    entries = open_h5_entries(path)
    assert {
        name: (tuple(entry.shape), entry.dtype)
        for name, entry in entries.items()
    } == {
        "layers/dense/kernel": ((2, 3), "float32"),
        "bias": ((4,), "float16"),
    }


def test_a_value_is_read_when_it_is_needed(path):
    with h5py.File(path, "w") as file:
        file["bias"] = np.array([1.5, 2.5], np.float32)
    entry = open_h5_entries(path)["bias"]
    assert entry.read().tolist() == [1.5, 2.5]


def test_opaque_values_of_two_bytes_are_bfloat16(path):
    """Keras stores bfloat16 in this way, because HDF5 lacks the type."""
    values = np.array([1.5, -2.0], ml_dtypes.bfloat16)
    with h5py.File(path, "w") as file:
        file["bias"] = values.view("V2")
    entry = open_h5_entries(path)["bias"]
    assert entry.dtype == "bfloat16"
    np.testing.assert_array_equal(entry.read(), values)


def test_a_link_to_another_file_is_not_followed(path, tmp_path):
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["secret"] = np.ones(3)
    with h5py.File(path, "w") as file:
        file["bias"] = h5py.ExternalLink("other.h5", "secret")
    with pytest.raises(ValueError, match="bias is a link to another place"):
        open_h5_entries(path)


def test_a_soft_link_is_not_followed(path):
    with h5py.File(path, "w") as file:
        file["kernel"] = np.ones(3)
        file["bias"] = h5py.SoftLink("/kernel")
    with pytest.raises(ValueError, match="bias is a link to another place"):
        open_h5_entries(path)


def test_values_in_another_file_are_not_read(path, tmp_path):
    (tmp_path / "values.bin").write_bytes(bytes(12))
    with h5py.File(path, "w") as file:
        place = [(str(tmp_path / "values.bin"), 0, 12)]
        file.create_dataset("bias", (3,), "f4", external=place)
    with pytest.raises(ValueError, match="bias is stored in another file"):
        open_h5_entries(path)


def test_compressed_values_are_not_read(path):
    with h5py.File(path, "w") as file:
        file.create_dataset("bias", data=np.ones(99), compression="gzip")
    with pytest.raises(ValueError, match="bias is stored in chunks"):
        open_h5_entries(path)


def test_values_that_the_file_lacks_are_not_read(path):
    """HDF5 would fill them in, whatever memory they need."""
    with h5py.File(path, "w") as file:
        file.create_dataset("bias", (10**12,), "f4")
    with pytest.raises(ValueError, match="bias is stored in chunks, or in"):
        open_h5_entries(path)


def test_a_dataset_of_texts_is_refused(path):
    with h5py.File(path, "w") as file:
        file["vocabulary"] = ["a", "b"]
    with pytest.raises(ValueError, match="vocabulary contains no numbers"):
        open_h5_entries(path)


def test_a_truncated_file_is_named(path, tmp_path):
    with h5py.File(path, "w") as file:
        file["bias"] = np.ones(999)
    whole = (tmp_path / "model.weights.h5").read_bytes()
    (tmp_path / "model.weights.h5").write_bytes(whole[:3000])
    message = f"{re.escape(path)} cannot be read, or is damaged: .*truncated"
    with pytest.raises(OSError, match=message):
        open_h5_entries(path)


def test_a_file_of_another_format_is_named(path, tmp_path):
    (tmp_path / "model.weights.h5").write_text("a text")
    message = f"{re.escape(path)} cannot be read, or is damaged"
    with pytest.raises(OSError, match=message):
        open_h5_entries(path)
