"""Weights that torch wrote with pickle."""

import json
import os
import pickle
import shutil
import sys

import pytest

from modeling import (
    BertModel,
    check_checkpoint,
    find_checkpoint,
    load_checkpoint,
    load_config,
)
from tests.support.model_cases import assert_close
from tests.support.paths import ROOT

RECORDED = ROOT / "tests/testdata/huggingface"
WEIGHTS = RECORDED / "pytorch_model.bin"


class Malicious:
    """Runs a command when Python unpickles it."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.system, (f"touch {self.path}",)


def test_without_torch_the_error_says_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ValueError, match="pip install torch"):
        check_checkpoint(WEIGHTS)


@pytest.fixture
def folder(tmp_path):
    """A folder with a configuration, for the weights of a test."""
    shutil.copy(RECORDED / "BertModel/config.json", tmp_path)
    return tmp_path


def check_loaded(folder, tolerance):
    """Checks that a folder has the weights of the recorded safetensors."""
    model, expected = (BertModel(load_config(folder)) for _ in range(2))
    report = load_checkpoint(model, folder)
    assert not report.missing
    assert not report.unused
    load_checkpoint(expected, RECORDED / "BertModel")
    assert_close(model.weights, expected.weights, tolerance)


@pytest.mark.parametrize(
    ("dtype", "tolerance"), [("float32", 0), ("bfloat16", 0.02)]
)
def test_torchs_weights_equal_safetensors(folder, dtype, tolerance):
    torch = pytest.importorskip("torch")
    weights = {
        name: value.to(getattr(torch, dtype))
        if value.is_floating_point()
        else value
        for name, value in torch.load(WEIGHTS).items()
    }
    path = folder / "pytorch_model.bin"
    torch.save(weights, path)
    assert find_checkpoint(folder) == str(path)
    check_loaded(folder, tolerance)


def test_torchs_weights_in_two_files_equal_safetensors(folder):
    torch = pytest.importorskip("torch")
    weights = [*torch.load(WEIGHTS).items()]
    file_of_name = {}
    for file, part in (("0.bin", weights[::2]), ("1.bin", weights[1::2])):
        torch.save(dict(part), folder / file)
        file_of_name |= dict.fromkeys(dict(part), file)
    index = folder / "pytorch_model.bin.index.json"
    index.write_text(json.dumps({"weight_map": file_of_name}))
    assert find_checkpoint(folder) == str(index)
    check_loaded(folder, tolerance=0)


def save_by_torch(code, path):
    """Writes an object as torch does."""
    pytest.importorskip("torch").save(code, path)


def save_bare_pickle(code, path):
    """Writes an object in the format of torch before 1.6."""
    path.write_bytes(pickle.dumps(code))


def save_nothing(code, path):
    """Writes an empty file."""
    path.write_bytes(b"")


@pytest.mark.parametrize(
    "save", [save_by_torch, save_bare_pickle, save_nothing]
)
def test_a_file_of_other_contents_is_named_and_runs_nothing(tmp_path, save):
    pytest.importorskip("torch")
    path = tmp_path / "pytorch_model.bin"
    save(Malicious(tmp_path / "harm"), path)
    with pytest.raises(OSError, match=f"{path} cannot be read: "):
        check_checkpoint(tmp_path)
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize("kind", [list, dict, "nested", "numbered"])
def test_contents_that_are_not_a_state_of_torch_are_named(tmp_path, kind):
    torch = pytest.importorskip("torch")
    tensor = torch.zeros(2)
    contents = {
        list: [tensor],
        dict: {"step": 5},
        "nested": {"model": {"a": tensor}},
        "numbered": {1: tensor},
    }
    path = tmp_path / "pytorch_model.bin"
    torch.save(contents[kind], path)
    with pytest.raises(ValueError, match=f"{path} must .* Save the state_dict"):
        check_checkpoint(tmp_path)
