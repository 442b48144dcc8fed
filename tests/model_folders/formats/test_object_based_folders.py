"""What a recorded encoder of TF-Hub states without its SavedModel.

tests/modeling/checkpoints/test_converted_checkpoint_object_based.py loads
its weights.
"""

import shutil

import pytest

from model_folders.formats import object_based_folders
from tests.support.paths import ROOT

RECORDED = ROOT / "tests/testdata/weights/modelgarden/hub_v2_mlm"


@pytest.fixture
def encoder(tmp_path):
    """A copy of the recorded encoder, which lacks the graph."""
    folder = shutil.copytree(RECORDED, tmp_path / "encoder")
    (folder / "saved_model.pb").touch()
    return folder


def test_is_saved_encoder_accepts_an_encoder(encoder):
    assert object_based_folders.is_saved_encoder(encoder)


@pytest.mark.parametrize(
    "file", ["saved_model.pb", "variables/variables.index"]
)
def test_is_saved_encoder_rejects_a_folder_that_lacks_a_file(encoder, file):
    (encoder / file).unlink()
    assert not object_based_folders.is_saved_encoder(encoder)


@pytest.mark.parametrize("place", ["", "assets.extra"])
def test_is_saved_encoder_rejects_an_export_of_this_project(encoder, place):
    (encoder / place).mkdir(exist_ok=True)
    (encoder / place / "model.json").touch()
    assert not object_based_folders.is_saved_encoder(encoder)


def test_read_config_takes_the_sizes_from_the_shapes(encoder):
    assert object_based_folders.read_network(encoder) == {
        "vocab_size": 1600,
        "hidden_size": 32,
        "num_hidden_layers": 3,
        "num_attention_heads": 4,
        "intermediate_size": 64,
        "max_position_embeddings": 48,
        "type_vocab_size": 2,
    }


def test_read_saved_model_casing_names_the_file_that_states_it(encoder):
    assert object_based_folders.read_casing_of_saved_model(encoder) == {
        "do_lower_case": True,
        "file": str(encoder / "variables/variables.index"),
    }
