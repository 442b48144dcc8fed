"""The maximum length of inputs that files beside weights record."""

import json

import pytest

from model_folders.reading.input_length import read_max_seq_length
from model_folders.reading.preset import Preset
from model_folders.training_settings import TrainingSettings

# {file: its entries}, each with another length.
LENGTHS = {
    "sentence_bert_config.json": {"max_seq_length": 24},
    "tokenizer_config.json": {"model_max_length": 32},
}


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
    assert read_max_seq_length(preset, "BertClassifier", 64) == length


def test_the_length_of_the_head_is_preferred_to_all_others(tmp_path):
    for name, entries in LENGTHS.items():
        (tmp_path / name).write_text(json.dumps(entries))
    preset = Preset(
        str(tmp_path),
        head_settings={"max_seq_length": 8},
        training_settings=TrainingSettings(head={"max_seq_length": 16}),
    )
    assert read_max_seq_length(preset, "BertClassifier", 64) == 8


def test_the_length_is_not_above_the_positions():
    preset = Preset("run", head_settings={"max_seq_length": 512})
    assert read_max_seq_length(preset, "BertClassifier", 64) == 64


@pytest.mark.parametrize(
    ("model_class", "length"),
    [("BertClassifier", 16), ("BertMultipleChoice", 64)],
)
def test_the_length_of_choices_is_not_that_of_the_run(model_class, length):
    """It may be the total length of all choices."""
    preset = Preset(
        "run", training_settings=TrainingSettings(head={"max_seq_length": 16})
    )
    assert read_max_seq_length(preset, model_class, 64) == length
