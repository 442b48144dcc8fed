"""A class or settings that differ from those a model was trained with."""

import json

import pytest

from model_folders.kinds import ModelClass
from model_folders.reading import settings_check
from model_folders.reading.preset import Preset, read_preset
from tests.support.log_lines import logged_warnings
from tests.support.models import tiny_config


def test_a_recorded_network_without_sizes_names_the_file(tmp_path):
    provenance = {"settings": {"bert_config": {"hidden_size": 4}}}
    file = tmp_path / "model.json"
    file.write_text(json.dumps({"version": 1, "origin": provenance}))
    with pytest.raises(ValueError, match=f"^{file}: .*`vocab_size`$"):
        settings_check.check_trained_settings(
            read_preset(tmp_path), tiny_config()
        )


def test_the_first_difference_has_a_dotted_name():
    recorded = {"labels": ["a"], "bert_config": {"hidden_size": 4}}
    current = {"labels": ["a"], "bert_config": {"hidden_size": 8}}
    difference = settings_check.find_first_difference(
        recorded, current, recorded.keys()
    )
    assert difference == ("bert_config.hidden_size", 4, 8)


def test_equal_settings_have_no_difference():
    settings = {"labels": ["a"], "bert_config": {"hidden_size": 4}}
    assert (
        settings_check.find_first_difference(settings, settings, settings)
        is None
    )


def test_settings_of_a_tokenizer_that_one_side_lacks_are_not_compared():
    recorded = {"tokenizer": {"do_lower_case": True, "vocab": "c0"}}
    current = {"tokenizer": {"do_lower_case": True}}
    names = ["tokenizer"]
    assert (
        settings_check.find_first_difference(recorded, current, names) is None
    )


@pytest.mark.parametrize(
    ("stated", "needed"),
    [
        (ModelClass.CLASSIFIER, ModelClass.CLASSIFIER),
        (ModelClass.CLASSIFIER, ModelClass.ENCODER),
        (ModelClass.ENCODER, ModelClass.MULTIPLE_CHOICE),
        (ModelClass.PRETRAINER, ModelClass.MULTIPLE_CHOICE),
        (ModelClass.MULTIPLE_CHOICE, ModelClass.MULTIPLE_CHOICE),
        (None, ModelClass.MULTIPLE_CHOICE),
        (None, ModelClass.CLASSIFIER),
    ],
)
def test_check_model_class_accepts_a_head_that_fits(stated, needed):
    settings_check.check_model_class(Preset("run", model_class=stated), needed)


@pytest.mark.parametrize(
    ("stated", "needed"),
    [
        (ModelClass.CLASSIFIER, ModelClass.SPAN_LABELER),
        (ModelClass.CLASSIFIER, ModelClass.MULTIPLE_CHOICE),
        (ModelClass.TOKEN_CLASSIFIER, ModelClass.MULTIPLE_CHOICE),
        (ModelClass.SPAN_LABELER, ModelClass.MULTIPLE_CHOICE),
    ],
)
def test_check_model_class_refuses_the_head_of_another_task(stated, needed):
    error = f"run contains a {stated}, but this task needs a {needed}"
    with pytest.raises(ValueError, match=error):
        settings_check.check_model_class(
            Preset("run", model_class=stated), needed
        )


def test_another_pooling_than_the_average_is_warned_of(caplog):
    settings_check.warn_of_pooling(Preset("model", pooling="pooling by cls"))
    (warning,) = logged_warnings(caplog)
    assert "pooling by cls" in warning


def test_the_average_is_not_warned_of(caplog):
    settings_check.warn_of_pooling(Preset("model"))
    assert not caplog.text


@pytest.mark.parametrize("name", ["max_seq_length", "export_seq_length"])
def test_a_length_beyond_the_positions_is_refused(name):
    lengths = {"max_seq_length": 8, "export_seq_length": 8, name: 65}
    says = f"--{name}=65 .* 64 positions .*config.json"
    with pytest.raises(ValueError, match=says):
        settings_check.check_lengths(tiny_config(), "config.json", **lengths)


@pytest.mark.parametrize("length", [None, 8, 64])
def test_a_length_within_the_positions_is_accepted(length):
    settings_check.check_lengths(
        tiny_config(), "config.json", max_seq_length=length
    )
