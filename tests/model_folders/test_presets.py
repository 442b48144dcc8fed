"""The statements of a folder of weights, whoever wrote it.

model_folders/pooling_files.py reads those of sentence-transformers.
"""

import json

import numpy as np
import pytest

import modeling
from model_folders import identity, presets
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


@pytest.mark.parametrize(
    "name, text",
    [
        ("tokenizer.json", '{"normalizer": 5}'),
        ("tokenizer_config.json", '{"extra_special_tokens": [{}]}'),
        ("config.json", '{"architectures": [[]]}'),
        ("config.json", '{"problem_type": ["regression"]}'),
    ],
)
def test_a_value_of_another_type_is_an_error_of_one_line(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match=str(tmp_path)):
        presets.read_preset(tmp_path)


def test_a_recorded_network_without_sizes_names_the_file(tmp_path):
    origin = {"settings": {"bert_config": {"hidden_size": 4}}}
    file = tmp_path / "model.json"
    file.write_text(json.dumps({"version": 1, "origin": origin}))
    with pytest.raises(ValueError, match=f"^{file}: .*`vocab_size`$"):
        identity.check_identity(presets.read_preset(tmp_path), tiny_config())


def test_a_recorded_flag_of_another_type_is_refused(tmp_path):
    settings = {"flags": {"trim_padding": "no"}}
    described = {"version": 1, "task": {}, "origin": {"settings": settings}}
    (tmp_path / "model.json").write_text(json.dumps(described))
    folder = presets.read_preset(tmp_path)
    with pytest.raises(ValueError, match=r"model.json: `trim_padding`"):
        folder.decision_flags()


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
