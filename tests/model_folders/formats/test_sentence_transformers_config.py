"""How sentences are pooled, and the folders of sentence-transformers."""

import json

import numpy as np
import pytest

import modeling
from model_folders.reading.preset import read_preset
from tests.support.models import built, tiny_config


@pytest.mark.parametrize(
    ("chosen", "pooling"),
    [
        ("pooling_mode_cls_token", "pooling by pooling_mode_cls_token"),
        # The mean, as this project computes it.
        ("pooling_mode_mean_tokens", None),
    ],
)
def test_another_pooling_than_the_mean_is_named(tmp_path, chosen, pooling):
    (tmp_path / "1_Pooling").mkdir()
    names = ["pooling_mode_cls_token", "pooling_mode_mean_tokens"]
    settings = {"word_embedding_dimension": 8, "include_prompt": True}
    settings |= {name: name == chosen for name in names}
    (tmp_path / "1_Pooling/config.json").write_text(json.dumps(settings))
    assert read_preset(tmp_path).pooling == pooling


def test_a_layer_after_the_pooling_is_named(tmp_path):
    module = "sentence_transformers.models.Dense"
    (tmp_path / "modules.json").write_text(json.dumps([{"type": module}]))
    assert read_preset(tmp_path).pooling == "a Dense layer"


def write_modules(folder, path):
    """Writes the list of the modules of an old folder."""
    kind = "sentence_transformers.models"
    modules = [
        {"path": path, "type": f"{kind}.BERT"},
        {"path": "1_Pooling", "type": f"{kind}.Pooling"},
    ]
    (folder / "modules.json").write_text(json.dumps(modules))


@pytest.fixture
def model():
    """The network of the old folder."""
    return built(modeling.BertModel(tiny_config()))


@pytest.fixture
def old_folder(tmp_path, model):
    """A folder of old sentence-transformers, whose network is inside."""
    write_modules(tmp_path, "0_BERT")
    (tmp_path / "1_Pooling").mkdir()
    pooling = json.dumps({"pooling_mode_cls_token": True})
    (tmp_path / "1_Pooling/config.json").write_text(pooling)
    modeling.save_huggingface(model, tmp_path / "0_BERT")
    return tmp_path


@pytest.mark.parametrize("inner", ["", "0_BERT"])
def test_an_old_folder_names_its_network_and_pooling(old_folder, inner):
    preset = read_preset(old_folder / inner)
    assert preset.folder == str(old_folder / "0_BERT")
    assert "pooling_mode_cls_token" in preset.pooling


@pytest.mark.parametrize("inner", ["", "0_BERT"])
def test_the_network_of_an_old_folder_is_read(old_folder, model, inner):
    copy = modeling.BertModel.from_preset(old_folder / inner)
    features = {"input_ids": np.arange(8)[None]}
    np.testing.assert_array_equal(
        copy(features)["pooled_output"], model(features)["pooled_output"]
    )


def test_a_module_outside_of_the_folder_is_not_read(old_folder):
    write_modules(old_folder, "../elsewhere")
    assert read_preset(old_folder).folder == str(old_folder)
