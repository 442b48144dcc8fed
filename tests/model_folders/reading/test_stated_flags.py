"""The values of flags that the folder of the weights states."""

from model_folders.reading.presets import Preset
from model_folders.reading.stated_flags import (
    decision_flags_of,
    identity_flags_of,
)


def test_decision_flags_are_those_of_the_run():
    preset = Preset(
        "run",
        head_settings={"trim_padding": True},
        recorded_settings={"flags": {"trim_padding": False}},
    )
    assert decision_flags_of(preset) == {"trim_padding": False}


def test_decision_flags_of_a_copy_are_those_of_its_head():
    preset = Preset("copy", head_settings={"trim_padding": True})
    assert decision_flags_of(preset) == {"trim_padding": True}


def test_identity_flags_are_what_the_weights_determine():
    preset = Preset(
        "model",
        config_file="model/bert_config.json",
        vocab_file="model/vocab.txt",
        stated_casing={"do_lower_case": True},
    )
    assert identity_flags_of(preset) == {
        "left_to_right": False,
        "bert_config_file": "model/bert_config.json",
        "vocab_file": "model/vocab.txt",
        "do_lower_case": True,
    }
