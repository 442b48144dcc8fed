"""What a `Preset` says to a command, such as the values of flags."""

from model_folders.reading.preset import Preset


def test_the_source_of_a_preset_is_the_flag_that_named_it():
    preset = Preset("models", "models/a.ckpt", "--init_checkpoint")
    assert preset.source == "--init_checkpoint=models/a.ckpt"


def test_the_source_of_a_preset_without_a_flag_is_its_path():
    assert Preset("models", "models/a.ckpt").source == "models/a.ckpt"


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


def test_stated_flags_are_what_the_weights_determine():
    preset = Preset(
        "model",
        config_file="model/bert_config.json",
        vocab_file="model/vocab.txt",
        stated_casing={"do_lower_case": True},
    )
    assert preset.stated_flags == {
        "left_to_right": False,
        "bert_config_file": "model/bert_config.json",
        "vocab_file": "model/vocab.txt",
        "do_lower_case": True,
    }
