"""What follows from the files that a `Preset` describes."""

from model_folders.reading.preset import Preset


def test_a_preset_that_states_no_network_has_that_of_bert():
    assert Preset("run").network_arguments == {
        "left_to_right": False,
        "bilstm": False,
    }


def test_the_tokenizers_file_and_then_the_run_state_the_casing():
    preset = Preset(
        "run",
        stated_casing={"do_lower_case": True},
        training_settings={"tokenizer": {"do_lower_case": False}},
    )
    assert preset.do_lower_case is True


def test_padding_is_trimmed_as_in_the_run():
    preset = Preset(
        "run",
        head_settings={"trim_padding": True},
        training_settings={"flags": {"trim_padding": False}},
    )
    assert preset.trim_padding is False


def test_padding_of_a_copy_is_trimmed_as_its_head_states():
    preset = Preset("copy", head_settings={"trim_padding": True})
    assert preset.trim_padding is True
