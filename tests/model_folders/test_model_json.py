"""The entries of model.json that serving trusts."""

import json

import pytest

from model_folders.model_json import ModelJson, check_entries, read_model_json
from model_folders.training_settings import (
    TrainingSettingsEntry,
)

DESCRIBED = {
    "version": 1,
    "task": {"name": "BertClassifier", "max_seq_length": 24},
}


def write_model_json(folder, contents):
    (folder / "model.json").write_text(json.dumps(contents))


def test_read_model_json_returns_the_entries(tmp_path):
    write_model_json(tmp_path, DESCRIBED)
    assert read_model_json(tmp_path) == DESCRIBED


def test_read_model_json_of_a_folder_without_one_is_empty(tmp_path):
    assert read_model_json(tmp_path) == {}


@pytest.mark.parametrize("version", [None, 0, 2, "1"])
def test_read_model_json_refuses_another_version(tmp_path, version):
    write_model_json(tmp_path, DESCRIBED | {"version": version})
    with pytest.raises(ValueError, match=f"has the version {version!r}; use"):
        read_model_json(tmp_path)


def test_read_model_json_names_the_file_of_a_wrong_entry(tmp_path):
    write_model_json(tmp_path, DESCRIBED | {"task": {"doc_stride": -1}})
    file = tmp_path / "model.json"
    with pytest.raises(ValueError, match=f"^{file}: `doc_stride` must not be"):
        read_model_json(tmp_path)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_seq_length", 3),
        ("num_texts", None),
        ("output_mode", "regression"),
        ("labels", None),
        ("trim_padding", False),
        ("split", {"rule": 1, "clean_fraction": 0}),
        ("data", [["train", "rows.csv", 9, 7]]),
        ("an entry of a user", object()),
    ],
)
def test_check_entries_accepts_values_of_their_types(name, value):
    check_entries({name: value}, TrainingSettingsEntry, "model.json")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_seq_length", 2),
        ("max_seq_length", True),
        ("num_texts", 3),
        ("output_mode", "ranking"),
        ("labels", "no"),
        ("trim_padding", "no"),
        ("n_best_size", 0),
        ("data", [[7]]),
        ("split", []),
    ],
)
def test_check_entries_refuses_other_values(name, value):
    with pytest.raises(ValueError, match=f"^model.json: `{name}` must not be"):
        check_entries({name: value}, TrainingSettingsEntry, "model.json")


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({"left_to_right": 1}, "left_to_right"),
        ({"split": {"rule": -1}}, "rule"),
        ({"flags": {"trim_padding": "no"}}, "trim_padding"),
    ],
)
def test_check_entries_names_the_innermost_entry(settings, name):
    entries = {"origin": {"settings": settings}}
    with pytest.raises(ValueError, match=f"`{name}` must not be"):
        check_entries(entries, ModelJson, "model.json")


@pytest.mark.parametrize("entries", [{"task": []}, {"origin": {"settings": 1}}])
def test_check_entries_refuses_what_is_not_an_object(entries):
    with pytest.raises(ValueError, match=r"`(task|settings)` must not be"):
        check_entries(entries, ModelJson, "model.json")
