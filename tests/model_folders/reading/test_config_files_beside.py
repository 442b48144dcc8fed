"""Which files belong to weights, beside the file that is found first."""

import json
import shutil

import pytest

from model_folders.reading.config_files import list_files_beside
from tests.support.paths import ROOT


@pytest.mark.parametrize("ending", [".safetensors", ".bin", ".h5"])
def test_beside_an_index_are_the_files_that_it_lists(tmp_path, ending):
    index = tmp_path / f"model{ending}.index.json"
    weight_map = {"a": f"2{ending}", "b": f"1{ending}", "c": f"2{ending}"}
    index.write_text(json.dumps({"weight_map": weight_map}))
    assert list_files_beside(str(index)) == [
        str(tmp_path / f"1{ending}"),
        str(tmp_path / f"2{ending}"),
    ]


@pytest.fixture
def preset(tmp_path):
    """A copy of the recorded preset of a classifier."""
    recorded = ROOT / "tests/testdata/weights/kerashub/classifier"
    return shutil.copytree(recorded, tmp_path / "preset")


def test_beside_the_weights_of_kerashub_are_its_head_and_its_json(preset):
    assert list_files_beside(str(preset / "model.weights.h5")) == [
        str(preset / name)
        for name in ("task.weights.h5", "task.json", "config.json")
    ]


def test_beside_an_index_of_kerashub_are_its_files_too(preset):
    (preset / "task.weights.h5").unlink()
    index = preset / "model.weights.json"
    files = ["model_1.weights.h5", "model_0.weights.h5"]
    index.write_text(json.dumps({"weight_map": {"/layers/a": files}}))
    assert list_files_beside(str(index)) == [
        str(preset / name)
        for name in ("task.json", "config.json", *sorted(files))
    ]


def test_one_file_of_weights_has_none_beside_it(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    assert list_files_beside(str(tmp_path / "model.safetensors")) == []
