"""Entries of any type in the files of a folder: read, or one line names them.

Other programs write these files too, and users edit them.
"""

import copy
import json

import pytest

from model_folders.reading.input_length import read_max_seq_length
from model_folders.reading.preset import read_preset
from tests.support.models import tiny_config
from training.dev_set.rules import dev_set_rule_of
from training.dev_set.set_fingerprints import set_fingerprints_of

MISSING = object()
ODD = [
    MISSING,
    None,
    True,
    False,
    -1,
    5,
    1.5,
    2**70,
    "",
    "x",
    [],
    [1],
    [""],
    [None],
    ["a", 5],
    {},
    {"a": 1},
    {"content": 5},
]
WORDS = [{"id": 0, "content": "[CLS]"}, {"id": 1, "content": "[SEP]"}]
FILES = {
    "model.json": {
        "version": 1,
        "task": {
            "name": "BertClassifier",
            "output_mode": "classification",
            "max_seq_length": 24,
            "labels": ["no", "yes"],
            "num_texts": 1,
        },
        "origin": {
            "command": {"data_file": "rows.csv"},
            "settings": {
                "tokenizer": {"do_lower_case": True, "vocab": "c061778f"},
                "labels": ["no", "yes"],
                "data": [["train", "rows.csv", 98, 2862599716]],
                "split": {
                    "rule": 1,
                    "dev_fraction": 0.2,
                    "key": ["text"],
                    "clean_fraction": 0.2,
                },
                "flags": {"trim_padding": True, "dev_fraction": 0.2},
            },
        },
        "checksums": {"model.tflite": "7a94492e"},
        "files": ["model.json"],
    },
    "tokenizer.json": {
        "added_tokens": WORDS,
        "normalizer": {"type": "BertNormalizer", "lowercase": True},
        "model": {"type": "WordPiece", "vocab": {"[CLS]": 0, "[SEP]": 1}},
    },
    "tokenizer_config.json": {
        "do_lower_case": True,
        "cls_token": "[CLS]",
        "model_max_length": 24,
        "additional_special_tokens": ["[A]"],
        "added_tokens_decoder": {"0": {"content": "[CLS]"}},
        "tokenizer_class": "BertTokenizer",
    },
    "config.json": {
        **tiny_config().to_dict(),
        "model_type": "bert",
        "architectures": ["BertForSequenceClassification"],
        "id2label": {"0": "no", "1": "yes"},
        "problem_type": "single_label_classification",
    },
    "added_tokens.json": {"a": 5},
    "special_tokens_map.json": {
        "additional_special_tokens": ["a"],
        "cls_token": {"content": "[CLS]"},
    },
    "modules.json": [{"idx": 0, "path": "", "type": "models.Transformer"}],
    "sentence_bert_config.json": {"max_seq_length": 8},
    "1_Pooling/config.json": {"pooling_mode_mean_tokens": True},
}
# The files of a preset of KerasHub, beside config.json.
PRESET = {
    "task.json": {
        "class_name": "BertTextClassifier",
        "registered_name": "keras_hub>BertTextClassifier",
        "config": {"num_classes": 2, "activation": "sigmoid"},
    },
    "preprocessor.json": {
        "class_name": "BertTextClassifierPreprocessor",
        "registered_name": "keras_hub>BertTextClassifierPreprocessor",
        "config": {"sequence_length": 8},
    },
    "tokenizer.json": {
        "class_name": "BertTokenizer",
        "registered_name": "keras_hub>BertTokenizer",
        "config": {"lowercase": True, "strip_accents": True},
    },
    "config.json": {
        "class_name": "BertBackbone",
        "registered_name": "keras_hub>BertBackbone",
        "config": {
            "vocabulary_size": 8,
            "num_layers": 1,
            "num_heads": 1,
            "hidden_dim": 4,
            "intermediate_dim": 4,
            "max_sequence_length": 16,
        },
    },
}


def entry_paths(value, before=()):
    """Yields the path of every entry of a JSON value."""
    entries = ()
    if isinstance(value, dict):
        entries = value.items()
    elif isinstance(value, list):
        entries = enumerate(value)
    for key, inner in entries:
        yield (*before, key)
        yield from entry_paths(inner, (*before, key))


def with_value(value, place, new):
    """Returns a copy of a JSON value with another value at a place."""
    changed = copy.deepcopy(value)
    *outer, last = place
    inner = changed
    for key in outer:
        inner = inner[key]
    if new is MISSING:
        del inner[last]
    else:
        inner[last] = new
    return changed


def error_of(folder):
    """Reads a folder, and returns the text of the ValueError or ""."""
    try:
        preset = read_preset(folder)
        preset.load_config()
        read_max_seq_length(preset, "BertClassifier", 64)
        _ = preset.network_arguments
        _ = (set_fingerprints_of(preset), dev_set_rule_of(preset))
        _ = (preset.trim_padding, preset.network_arguments)
    except ValueError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("file", FILES)
def test_an_odd_entry_is_read_or_named(file, tmp_path):
    path = tmp_path / file
    path.parent.mkdir(exist_ok=True)
    check_odd_entries(path, FILES[file], tmp_path)


@pytest.mark.parametrize("file", PRESET)
def test_an_odd_entry_of_a_preset_is_read_or_named(file, tmp_path):
    for name, values in PRESET.items():
        (tmp_path / name).write_text(json.dumps(values))
    check_odd_entries(tmp_path / file, PRESET[file], tmp_path)


def check_odd_entries(path, values, folder):
    """Checks a folder with each entry of a file replaced by odd values."""
    path.write_text(json.dumps(values))
    assert not error_of(folder)
    for place in entry_paths(values):
        for new in ODD:
            path.write_text(json.dumps(with_value(values, place, new)))
            error = error_of(folder)
            assert not error or str(path) in error, (place, new)
            assert "\n" not in error, (place, new)


# {name of a file: the configuration of a network in it}
CONFIGS = {
    "config.json": FILES["config.json"],
    "bert_config.json": tiny_config().to_dict(),
}


@pytest.mark.parametrize("hidden_act", [False, 0, [], {}, 0.0])
@pytest.mark.parametrize("file", CONFIGS)
def test_an_activation_that_is_not_a_name_is_an_error(
    file, hidden_act, tmp_path
):
    values = CONFIGS[file] | {"hidden_act": hidden_act}
    (tmp_path / file).write_text(json.dumps(values))
    with pytest.raises(ValueError, match=rf"{file}: `hidden_act` must be"):
        read_preset(tmp_path).load_config()


@pytest.mark.parametrize("hidden_act", [None, "", "linear"])
@pytest.mark.parametrize("file", CONFIGS)
def test_an_activation_of_null_is_the_linear_one(file, hidden_act, tmp_path):
    values = CONFIGS[file] | {"hidden_act": hidden_act}
    (tmp_path / file).write_text(json.dumps(values))
    config = read_preset(tmp_path).load_config()
    assert (config.hidden_act or "linear") == "linear"
