"""Indexes of weights in several files."""

import json
import re

import pytest

from model_folders.formats import shards


@pytest.fixture
def write_index(tmp_path):
    """(weight_map) -> the path of an index with it."""

    def write_index(weight_map):
        path = tmp_path / "model.safetensors.index.json"
        path.write_text(json.dumps({"weight_map": weight_map}))
        return str(path)

    return write_index


def test_an_index_names_the_file_of_each_weight(write_index, tmp_path):
    path = write_index({"a": "model-1.safetensors", "b": "model-2.safetensors"})
    assert shards.read_shard_paths(path, ".safetensors") == {
        "a": str(tmp_path / "model-1.safetensors"),
        "b": str(tmp_path / "model-2.safetensors"),
    }


@pytest.mark.parametrize("weight_map", [None, {}, ["a"], "a"])
def test_an_index_without_files_is_refused(write_index, weight_map):
    path = write_index(weight_map)
    with pytest.raises(ValueError, match=f"^{re.escape(path)}: `weight_map`"):
        shards.read_shard_paths(path, ".safetensors")


@pytest.mark.parametrize(
    "file",
    ["../a.safetensors", "b\\a.safetensors", "a.bin", 5, "\0.safetensors"],
)
def test_a_file_outside_of_the_folder_is_refused(write_index, file):
    path = write_index({"a": file})
    with pytest.raises(ValueError, match="of this folder for a"):
        shards.read_shard_paths(path, ".safetensors")
