"""The statements of a folder of weights, whoever wrote it."""

import json

import pytest

from model_folders import presets


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


def test_a_recorded_flag_of_another_type_is_refused(tmp_path):
    settings = {"flags": {"trim_padding": "no"}}
    described = {"version": 1, "task": {}, "origin": {"settings": settings}}
    (tmp_path / "model.json").write_text(json.dumps(described))
    folder = presets.read_preset(tmp_path)
    with pytest.raises(ValueError, match=r"model.json: `trim_padding`"):
        folder.decision_flags()
