"""What commands say of odd entries in the model.json of their run."""

import json

import pytest

import modeling
from model_folders import model_json
from model_folders.checkpoint_folders import find_best_checkpoint
from tests.support import models
from tests.support.tasks import toy_task
from tests.support.tasks.run_settings import (
    RECORDS,
    start_or_resume,
    touch_checkpoint,
)
from training.run_files.run_folder import RunFolder


@pytest.fixture
def folder(tmp_path):
    """The folder of a run, without any files yet."""
    return tmp_path / "run"


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"version": 2}, "version 2"),
        ({"origin": [1]}, "origin"),
        ({"task": {"max_seq_length": 2}}, "max_seq_length"),
        ({"task": {"doc_stride": -1}}, "doc_stride"),
        ({"task": {"num_texts": 3}}, "num_texts"),
        ({"task": {"output_mode": "regresion"}}, "output_mode"),
        ({"task": {"load_best": "no"}}, "load_best"),
    ],
)
def test_a_file_of_another_form_is_named(folder, change, name):
    touch_checkpoint(folder)
    (folder / model_json.MODEL_JSON_FILE).write_text(
        json.dumps({"version": 1} | change)
    )
    with pytest.raises(ValueError, match=rf"model\.json.*{name}"):
        toy_task.load_toy_starting_point(folder, do_eval=True)


def entry_paths(entries, path=()):
    """Yields the path of each entry in a dict of dicts."""
    for name, value in entries.items():
        yield (*path, name)
        if isinstance(value, dict):
            yield from entry_paths(value, (*path, name))


def odd_variants(text):
    """Yields JSON with one entry replaced, for all entries of an object."""
    for *parents, name in entry_paths(json.loads(text)):
        for odd in (None, [], {}, "x", -1, [[1]], {"a": None}):
            entries = inner = json.loads(text)
            for parent in parents:
                inner = inner[parent]
            inner[name] = odd
            yield json.dumps(entries)


@pytest.fixture
def described(folder):
    """(path of a run's model.json with all entries, the run's settings)."""
    training_settings = {
        "eval_input_file": RECORDS,
        "bert_config": modeling.BertConfig(**models.TINY).to_dict(),
        "tokenizer": {"do_lower_case": True, "vocab": "c061778f"},
        "labels": ["no", "yes"],
    }
    start_or_resume(folder, training_settings)
    starting_point = toy_task.create_starting_point(
        toy_task.create_config(folder), None
    )
    RunFolder.open(starting_point).best_step.record(1)
    return folder / model_json.MODEL_JSON_FILE, training_settings


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(
            lambda folder, training_settings: toy_task.load_toy_starting_point(
                folder, max_seq_length=8, do_eval=True
            ),
            id="evaluate",
        ),
        pytest.param(
            lambda folder, training_settings: toy_task.load_toy_starting_point(
                folder, max_seq_length=8, do_train=True
            ),
            id="train",
        ),
        pytest.param(
            lambda folder, training_settings: find_best_checkpoint(folder),
            id="find the best step",
        ),
        pytest.param(start_or_resume, id="resume"),
    ],
)
def test_an_odd_entry_is_accepted_or_an_error_of_one_line(command, described):
    """Any other error than a ValueError would show a user a traceback."""
    path, training_settings = described
    errors = []
    for variant in odd_variants(path.read_text()):
        path.write_text(variant)
        try:
            command(path.parent, training_settings)
        except ValueError as error:
            errors.append(str(error))
    assert errors
    assert not [error for error in errors if "\n" in error]
