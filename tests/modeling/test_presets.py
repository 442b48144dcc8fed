"""What a folder of weights states, whoever wrote it."""

import json

import pytest

from modeling import presets


def pooling_of(folder, caplog):
    caplog.clear()
    presets.read(folder).warn_of_pooling()
    return caplog.text


def test_vectors_that_are_no_mean_are_warned_of(tmp_path, caplog):
    (tmp_path / "1_Pooling").mkdir()
    file = tmp_path / "1_Pooling/config.json"
    names = ("pooling_mode_cls_token", "pooling_mode_mean_tokens")
    for chosen, is_said in ((names[0], True), (names[1], False)):
        settings = {"word_embedding_dimension": 8, "include_prompt": True}
        file.write_text(
            json.dumps(settings | {name: name == chosen for name in names})
        )
        text = f"was trained with pooling by {chosen}, but"
        assert (text in pooling_of(tmp_path, caplog)) == is_said
    # A further layer.
    module = "sentence_transformers.models.Dense"
    (tmp_path / "modules.json").write_text(json.dumps([{"type": module}]))
    assert "a Dense layer" in pooling_of(tmp_path, caplog)


def test_a_problem_type_that_is_no_text_is_named(tmp_path):
    (tmp_path / "config.json").write_text('{"problem_type": ["regression"]}')
    with pytest.raises(ValueError, match="config.json: `problem_type`"):
        presets.read(tmp_path)


def test_the_first_difference_is_named():
    saved = {"a": {"x": 1, "y": [1, 2]}, "b": 3, "tokenizer": {"vocab": "c"}}
    now = {"a": {"x": 1, "y": [1, 3]}, "b": 4, "tokenizer": {"other": 1}}
    found = presets.first_difference(saved, now, ["a", "b", "tokenizer"])
    assert found == ("a.y", [2], [3])
    assert presets.first_difference(saved, now, ["b"]) == ("b", 3, 4)
    assert presets.first_difference(saved, now, ["tokenizer"]) is None
