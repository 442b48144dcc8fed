"""Weights that torch wrote with pickle."""

import json
import os
import pickle
import shutil
import sys

import pytest

from modeling import BertModel, find_checkpoint, load_checkpoint, load_config
from tests.support.golden import ROOT
from tests.support.kinds import assert_close

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
        find_checkpoint(WEIGHTS)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("has_index", [False, True])
def test_torchs_weights_equal_safetensors(tmp_path, dtype, has_index):
    torch = pytest.importorskip("torch")
    shutil.copy(RECORDED / "BertModel/config.json", tmp_path)
    model, same = (BertModel(load_config(tmp_path)) for _ in range(2))
    state = torch.load(WEIGHTS)
    for name in state:
        if state[name].is_floating_point():
            state[name] = state[name].to(getattr(torch, dtype))
    path = tmp_path / "pytorch_model.bin"
    if has_index:
        places = {
            name: f"{number % 2}.bin" for number, name in enumerate(state)
        }
        for place in set(places.values()):
            part = {
                name: value
                for name, value in state.items()
                if places[name] == place
            }
            torch.save(part, tmp_path / place)
        path = tmp_path / "pytorch_model.bin.index.json"
        path.write_text(json.dumps({"weight_map": places}))
    else:
        torch.save(state, path)
    assert find_checkpoint(tmp_path) == str(path)
    report = load_checkpoint(model, tmp_path)
    assert not report.missing
    assert not report.unused
    load_checkpoint(same, RECORDED / "BertModel")
    limit = 0 if dtype == "float32" else 0.02
    assert_close(model.weights, same.weights, limit)


@pytest.mark.parametrize("contents", ["torch", "bare pickle", "empty"])
def test_a_file_of_other_contents_is_named_and_runs_nothing(tmp_path, contents):
    torch = pytest.importorskip("torch")
    path = tmp_path / "pytorch_model.bin"
    code = Malicious(tmp_path / "harm")
    if contents == "torch":
        torch.save(code, path)
    else:
        # The format of torch before 1.6 is a bare pickle.
        path.write_bytes(pickle.dumps(code) if contents != "empty" else b"")
    with pytest.raises(OSError, match=f"{path} cannot be read: "):
        find_checkpoint(tmp_path)
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize("kind", [list, dict, "nested", "numbered"])
def test_contents_that_are_no_state_are_named(tmp_path, kind):
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
        find_checkpoint(tmp_path)
