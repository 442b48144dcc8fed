"""Tensors in files of Hugging Face, and files that cannot be read."""

import json

import numpy as np
import pytest
from safetensors.numpy import save_file

from model_folders.formats.huggingface.weights import (
    open_huggingface_entries,
)

VALUES = np.arange(6, dtype=np.float32).reshape(2, 3)


@pytest.fixture
def file(tmp_path):
    """A file of two tensors."""
    path = tmp_path / "model.safetensors"
    save_file({"a": VALUES, "b": VALUES[0]}, path)
    return path


def test_open_tensors_states_shapes_and_types(file):
    entries = open_huggingface_entries(str(file))
    assert {name: [*entry.shape] for name, entry in entries.items()} == {
        "a": [2, 3],
        "b": [3],
    }
    assert entries["a"].dtype == "F32"


def test_open_tensors_reads_a_tensor_when_asked(file):
    np.testing.assert_array_equal(
        open_huggingface_entries(str(file))["a"].read(), VALUES
    )


def write_index(folder, files):
    """Writes an index, {name of a tensor: file}, and returns its path."""
    path = folder / "model.safetensors.index.json"
    path.write_text(json.dumps({"weight_map": files}))
    return str(path)


def test_open_tensors_takes_each_tensor_from_the_file_of_the_index(tmp_path):
    """Another file may contain an older tensor of the same name."""
    save_file({"a": VALUES}, tmp_path / "1.safetensors")
    save_file({"a": -VALUES, "b": VALUES}, tmp_path / "2.safetensors")
    index = write_index(tmp_path, {"a": "1.safetensors", "b": "2.safetensors"})
    entries = open_huggingface_entries(index)
    assert {*entries} == {"a", "b"}
    np.testing.assert_array_equal(entries["a"].read(), VALUES)


def test_open_tensors_names_a_tensor_that_its_file_lacks(tmp_path, file):
    index = write_index(tmp_path, {"c": file.name})
    with pytest.raises(OSError, match=r"model\.safetensors lacks c, which"):
        open_huggingface_entries(index)


def test_open_tensors_of_a_damaged_file_is_an_error_of_one_line(file):
    file.write_bytes(file.read_bytes()[:20])
    with pytest.raises(OSError, match=r"cannot be read: .*; download it") as it:
        open_huggingface_entries(str(file))
    assert "\n" not in str(it.value)
