"""TODO."""

import json

import numpy as np

import modeling
from model_folders import presets
from tests.support.models import built, tiny_config


def test_how_sentences_are_pooled(tmp_path):
    (tmp_path / "1_Pooling").mkdir()
    file = tmp_path / "1_Pooling/config.json"
    names = ["pooling_mode_cls_token", "pooling_mode_mean_tokens"]
    for chosen, pooling in zip(
        names, (f"pooling by {names[0]}", None), strict=True
    ):
        settings = {"word_embedding_dimension": 8, "include_prompt": True}
        settings |= {name: name == chosen for name in names}
        file.write_text(json.dumps(settings))
        assert presets.read_preset(tmp_path).pooling == pooling
    module = "sentence_transformers.models.Dense"
    (tmp_path / "modules.json").write_text(json.dumps([{"type": module}]))
    assert presets.read_preset(tmp_path).pooling == "a Dense layer"


def test_an_old_folder_of_sentence_transformers_is_read(tmp_path):
    """Its network is in the folder that modules.json names first."""
    kind = "sentence_transformers.models"
    modules = [
        {"path": "0_BERT", "type": f"{kind}.BERT"},
        {"path": "1_Pooling", "type": f"{kind}.Pooling"},
    ]
    (tmp_path / "modules.json").write_text(json.dumps(modules))
    (tmp_path / "1_Pooling").mkdir()
    pooling = json.dumps({"pooling_mode_cls_token": True})
    (tmp_path / "1_Pooling/config.json").write_text(pooling)
    inner = tmp_path / "0_BERT"
    model = built(modeling.BertModel(tiny_config()))
    modeling.save_huggingface(model, inner)
    for path in (tmp_path, inner):
        preset = presets.read_preset(path)
        assert preset.path == str(inner)
        assert "pooling_mode_cls_token" in preset.pooling
        copy = modeling.BertModel.from_preset(path)
        features = {"input_ids": np.arange(8)[None]}
        np.testing.assert_array_equal(
            copy(features)["pooled_output"], model(features)["pooled_output"]
        )
    modules[0]["path"] = "../elsewhere"
    (tmp_path / "modules.json").write_text(json.dumps(modules))
    assert presets.read_preset(tmp_path).path == str(tmp_path)
