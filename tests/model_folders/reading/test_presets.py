"""What a `Preset` says to a command, whichever files stated it."""

import dataclasses

import pytest

from model_folders.reading.presets import Preset


def test_the_source_of_a_preset_is_the_flag_that_named_it():
    preset = Preset("models", "models/a.ckpt", "--init_checkpoint")
    assert preset.source == "--init_checkpoint=models/a.ckpt"


def test_the_source_of_a_preset_without_a_flag_is_its_path():
    assert Preset("models", "models/a.ckpt").source == "models/a.ckpt"


def test_a_network_of_which_nothing_is_stated_is_bert():
    assert Preset("run").network == {"left_to_right": False, "bilstm": False}


def test_the_casing_of_a_tokenizers_file_is_preferred_to_that_of_the_run():
    preset = Preset(
        "run",
        stated_casing={"do_lower_case": True},
        recorded_settings={"tokenizer": {"do_lower_case": False}},
    )
    assert preset.do_lower_case is True


def test_a_required_configuration_that_is_missing_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError, match=f"{tmp_path}/bert_config.json"):
        Preset(str(tmp_path)).load_required_config()


CLASSIFIER = Preset(path="run", model_class="BertClassifier")


@pytest.mark.parametrize(
    ("preset", "name"),
    [
        (CLASSIFIER, "BertClassifier"),
        (CLASSIFIER, "BertModel"),
        (dataclasses.replace(CLASSIFIER, model_class=None), "BertClassifier"),
    ],
    ids=["same", "no head", "unknown"],
)
def test_check_model_class_accepts_a_head_that_fits(preset, name):
    preset.check_model_class(name)


def test_check_model_class_refuses_the_head_of_another_task():
    with pytest.raises(
        ValueError,
        match="run contains a BertClassifier, but this task needs a BertSpan",
    ):
        CLASSIFIER.check_model_class("BertSpanLabeler")


def test_another_pooling_than_the_average_is_warned_of(caplog):
    Preset("model", pooling="pooling by cls").warn_of_pooling()
    assert "model was trained with pooling by cls" in caplog.text


def test_the_average_is_not_warned_of(caplog):
    Preset("model").warn_of_pooling()
    assert not caplog.text
