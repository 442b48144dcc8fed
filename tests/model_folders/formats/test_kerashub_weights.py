"""The files of the weights in a preset of KerasHub.

tests/modeling/checkpoints/test_converted_checkpoint_kerashub.py loads them into
models.
"""

import json
import shutil

import pytest

from model_folders.formats.kerashub_config import read_shards
from model_folders.formats.kerashub_weights import (
    find_kerashub_weights,
    open_kerashub_entries,
)
from tests.support.paths import ROOT


@pytest.fixture
def preset(tmp_path):
    """A copy of the recorded preset of a classifier."""
    recorded = ROOT / "tests/testdata/weights/kerashub/classifier"
    return shutil.copytree(recorded, tmp_path / "preset")


def write_index(preset, weight_map):
    """Writes the index of a preset's weights, and returns its path."""
    path = preset / "model.weights.json"
    path.write_text(json.dumps({"weight_map": weight_map}))
    return str(path)


@pytest.mark.parametrize("name", ["", "model.weights.h5", "task.weights.h5"])
def test_a_preset_or_a_file_of_it_leads_to_the_weights(preset, name):
    found = find_kerashub_weights(preset / name)
    assert found == str(preset / "model.weights.h5")


def test_an_index_stands_for_the_weights_that_it_lists(preset):
    index = write_index(preset, {"/a": "model_00000.weights.h5"})
    (preset / "model.weights.h5").unlink()
    assert find_kerashub_weights(preset) == index


def test_a_folder_of_another_library_has_no_weights_of_kerashub(tmp_path):
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    assert find_kerashub_weights(tmp_path) is None


def test_a_preset_without_its_weights_is_an_error(preset):
    (preset / "model.weights.h5").unlink()
    with pytest.raises(FileNotFoundError, match=r"no .*model\.weights\.h5"):
        find_kerashub_weights(preset)


def test_an_entry_has_googles_name_and_the_shape_of_the_variable(preset):
    entries = open_kerashub_entries(str(preset / "model.weights.h5"))
    query = entries["bert/encoder/layer_0/attention/self/query/kernel"]
    # The file has an axis of heads: [32, 4, 8].
    assert query.shape == query.read().shape == (32, 32)


def test_the_weights_of_a_classifier_are_those_of_both_files(preset):
    entries = open_kerashub_entries(str(preset / "model.weights.h5"))
    assert {"output_weights", "output_bias"} < entries.keys()


def test_another_number_of_blocks_than_stated_is_an_error(preset):
    path = preset / "config.json"
    values = json.loads(path.read_text())
    values["config"]["num_layers"] = 9
    path.write_text(json.dumps(values))
    with pytest.raises(ValueError, match="contains 3 blocks, but config"):
        open_kerashub_entries(str(preset / "model.weights.h5"))


def test_a_group_may_be_in_several_files(preset):
    files = ["model_00000.weights.h5", "model_00001.weights.h5"]
    index = write_index(preset, {"/layers/a": files})
    assert read_shards(index) == [
        ("layers/a", str(preset / name)) for name in files
    ]


def test_an_index_that_names_another_folder_is_refused(preset):
    index = write_index(preset, {"/layers/a": "../model_00000.weights.h5"})
    with pytest.raises(ValueError, match="of this folder for /layers/a"):
        read_shards(index)
