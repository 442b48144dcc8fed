"""What follows from the files that a `Preset` describes."""

import json

import pytest

from model_folders.reading.preset import Preset, read_preset
from model_folders.training_settings import TrainingSettings


def test_a_preset_that_states_no_network_has_that_of_bert():
    assert Preset("run").network_arguments == {
        "left_to_right": False,
        "bilstm": False,
    }


def test_the_tokenizers_file_and_then_the_run_state_the_casing():
    preset = Preset(
        "run",
        stated_casing={"do_lower_case": True},
        training_settings=TrainingSettings(
            inputs={"tokenizer": {"do_lower_case": False}}
        ),
    )
    assert preset.do_lower_case is True


def read_recorded(folder, task, settings):
    """Reads a folder whose model.json has these entries."""
    contents = {"version": 1, "task": task, "origin": {"settings": settings}}
    (folder / "model.json").write_text(json.dumps(contents))
    return read_preset(folder)


@pytest.mark.parametrize(
    ("task", "settings", "expected"),
    [
        pytest.param(
            {"trim_padding": True},
            {"flags": {"trim_padding": False}},
            False,
            id="run",
        ),
        pytest.param({"trim_padding": True}, {}, True, id="copy"),
        pytest.param({}, {}, None, id="none"),
    ],
)
def test_padding_is_trimmed_as_in_the_run_or_as_its_copy_records(
    tmp_path, task, settings, expected
):
    preset = read_recorded(tmp_path, task, settings)
    assert preset.trim_padding is expected


def test_a_required_configuration_that_is_missing_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError, match=f"{tmp_path}/bert_config.json"):
        Preset(str(tmp_path)).load_required_config()
