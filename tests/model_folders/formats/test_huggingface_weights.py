"""Tensors in files of Hugging Face, their names, and files not to be read."""

import json

import numpy as np
import pytest
from safetensors.numpy import save_file

from model_folders.formats.huggingface_weights import (
    google_to_huggingface,
    huggingface_to_google,
    normalized_name,
    open_huggingface_entries,
)

VALUES = np.arange(6, dtype=np.float32).reshape(2, 3)
# {Google's name: Hugging Face's name}
NAMES = {
    "bert/embeddings/word_embeddings": "bert.embeddings.word_embeddings.weight",
    "bert/embeddings/LayerNorm/gamma": "bert.embeddings.LayerNorm.weight",
    "bert/embeddings/LayerNorm/beta": "bert.embeddings.LayerNorm.bias",
    "bert/encoder/layer_11/attention/self/query/kernel": (
        "bert.encoder.layer.11.attention.self.query.weight"
    ),
    "bert/encoder/layer_0/output/dense/bias": (
        "bert.encoder.layer.0.output.dense.bias"
    ),
    "bert/pooler/dense/kernel": "bert.pooler.dense.weight",
    "cls/predictions/transform/dense/kernel": (
        "cls.predictions.transform.dense.weight"
    ),
    "cls/predictions/output_bias": "cls.predictions.bias",
    "cls/seq_relationship/output_weights": "cls.seq_relationship.weight",
    "cls/squad/output_bias": "qa_outputs.bias",
    "output_weights": "classifier.weight",
}


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


@pytest.mark.parametrize("google", NAMES)
def test_googles_name_becomes_that_of_hugging_face(google):
    assert google_to_huggingface(google) == NAMES[google]


@pytest.mark.parametrize("google", NAMES)
def test_the_name_of_hugging_face_becomes_googles(google):
    assert huggingface_to_google(NAMES[google]) == google


@pytest.mark.parametrize("name", ["score.weight", "bert.a_b/c", "bert.x.gamma"])
def test_a_name_that_google_cannot_have_stays(name):
    assert huggingface_to_google(name) == name


@pytest.mark.parametrize(
    ("stored", "new"),
    [
        ("embeddings.LayerNorm.gamma", "bert.embeddings.LayerNorm.weight"),
        ("bert.encoder.LayerNorm.beta", "bert.encoder.LayerNorm.bias"),
        ("pooler.dense.bias", "bert.pooler.dense.bias"),
        ("classifier.weight", "classifier.weight"),
    ],
)
def test_names_of_old_files_become_those_of_new_files(stored, new):
    assert normalized_name(stored) == new
