"""What a `Preset` says to a command: flags, lengths, the kind of model."""

import json

import pytest

from model_folders import kinds
from model_folders.reading.preset import Preset

# {file: its entries}, each with another length.
LENGTHS = {
    "sentence_bert_config.json": {"max_seq_length": 24},
    "tokenizer_config.json": {"model_max_length": 32},
}


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


def test_a_required_configuration_that_is_missing_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError, match=f"{tmp_path}/bert_config.json"):
        Preset(str(tmp_path)).load_required_config()


@pytest.mark.parametrize(
    ("stated", "needed"),
    [
        (kinds.CLASSIFIER, kinds.CLASSIFIER),
        (kinds.CLASSIFIER, kinds.ENCODER),
        (kinds.ENCODER, kinds.MULTIPLE_CHOICE),
        (kinds.PRETRAINER, kinds.MULTIPLE_CHOICE),
        (kinds.MULTIPLE_CHOICE, kinds.MULTIPLE_CHOICE),
        (None, kinds.MULTIPLE_CHOICE),
        (None, kinds.CLASSIFIER),
    ],
)
def test_check_model_class_accepts_a_head_that_fits(stated, needed):
    Preset("run", model_class=stated).check_model_class(needed)


@pytest.mark.parametrize(
    ("stated", "needed"),
    [
        (kinds.CLASSIFIER, kinds.SPAN_LABELER),
        (kinds.CLASSIFIER, kinds.MULTIPLE_CHOICE),
        (kinds.TOKEN_CLASSIFIER, kinds.MULTIPLE_CHOICE),
        (kinds.SPAN_LABELER, kinds.MULTIPLE_CHOICE),
    ],
)
def test_check_model_class_refuses_the_head_of_another_task(stated, needed):
    error = f"run contains a {stated}, but this task needs a {needed}"
    with pytest.raises(ValueError, match=error):
        Preset("run", model_class=stated).check_model_class(needed)


def test_another_pooling_than_the_average_is_warned_of(caplog):
    Preset("model", pooling="pooling by cls").warn_of_pooling()
    assert "model was trained with pooling by cls" in caplog.text


def test_the_average_is_not_warned_of(caplog):
    Preset("model").warn_of_pooling()
    assert not caplog.text


@pytest.mark.parametrize(
    ("files", "length"),
    [
        pytest.param([*LENGTHS], 24, id="sentence-transformers"),
        pytest.param(["tokenizer_config.json"], 32, id="transformers"),
        pytest.param([], 64, id="positions"),
    ],
)
def test_the_length_is_the_first_that_a_file_records(tmp_path, files, length):
    for name in files:
        (tmp_path / name).write_text(json.dumps(LENGTHS[name]))
    preset = Preset(str(tmp_path))
    assert preset.read_max_seq_length("BertClassifier", 64) == length


def test_the_length_of_the_head_is_preferred_to_all_others(tmp_path):
    for name, entries in LENGTHS.items():
        (tmp_path / name).write_text(json.dumps(entries))
    preset = Preset(
        str(tmp_path),
        head_settings={"max_seq_length": 8},
        training_settings={"max_seq_length": 16},
    )
    assert preset.read_max_seq_length("BertClassifier", 64) == 8


def test_the_length_is_not_above_the_positions():
    preset = Preset("run", head_settings={"max_seq_length": 512})
    assert preset.read_max_seq_length("BertClassifier", 64) == 64


@pytest.mark.parametrize(
    ("model_class", "length"),
    [("BertClassifier", 16), ("BertMultipleChoice", 64)],
)
def test_the_length_of_choices_is_not_that_of_the_run(model_class, length):
    """It may be the total length of all choices."""
    preset = Preset("run", training_settings={"max_seq_length": 16})
    assert preset.read_max_seq_length(model_class, 64) == length


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
