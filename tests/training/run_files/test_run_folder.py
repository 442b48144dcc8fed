"""The files that describe a run's model, and those of its results.

test_resuming.py compares the settings in them.
"""

import json
import os

import pytest

import modeling
from model_folders import model_json
from model_folders.checkpoint_folders import find_best_checkpoint
from model_folders.reading import preset_reading
from tests.support import models
from tests.support.paths import ROOT
from tests.support.tasks import toy_task
from tests.support.tasks.run_settings import (
    RECORDS,
    start_or_resume,
    touch_checkpoint,
)
from training.run_files.run_folder import RunFolder, RunResults


@pytest.fixture
def folder(tmp_path):
    """A folder with a checkpoint, so that its settings count."""
    return touch_checkpoint(tmp_path)


def test_results_of_earlier_weights_are_named(tmp_path, caplog):
    """The file stays, as it may be the user's, but is not of these weights."""
    options = toy_task.create_run(
        tmp_path, max_seq_length=8, do_train=True, do_eval=True
    )
    results = tmp_path / "run/eval_results.txt"

    def train(epochs, **changes):
        changes["num_train_epochs"] = epochs
        caplog.clear()
        toy_task.run_task(toy_task.ToyTask, options | changes)
        return str(results) in caplog.text

    assert not train(1)
    # Nothing is left to train.
    assert not train(1, do_eval=False)
    assert train(2, do_eval=False)
    assert "global_step = 3" in results.read_text()
    assert not train(3)


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
    (folder / model_json.MODEL_JSON_FILE).write_text(
        json.dumps({"version": 1} | change)
    )
    with pytest.raises(ValueError, match=rf"model\.json.*{name}"):
        toy_task.resolve_config(folder, do_eval=True)


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
    settings = {
        "eval_input_file": RECORDS,
        "bert_config": modeling.BertConfig(**models.TINY).to_dict(),
        "tokenizer": {"do_lower_case": True, "vocab": "c061778f"},
        "labels": ["no", "yes"],
    }
    start_or_resume(folder, settings)
    start = toy_task.create_start(toy_task.create_config(folder), None)
    RunFolder.open(start).best_step.set(1)
    return folder / model_json.MODEL_JSON_FILE, settings


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(
            lambda folder, settings: toy_task.resolve_config(
                folder, max_seq_length=8, do_eval=True
            ),
            id="evaluate",
        ),
        pytest.param(
            lambda folder, settings: toy_task.resolve_config(
                folder, max_seq_length=8, do_train=True
            ),
            id="train",
        ),
        pytest.param(
            lambda folder, settings: find_best_checkpoint(folder),
            id="find the best step",
        ),
        pytest.param(start_or_resume, id="resume"),
    ],
)
def test_an_odd_entry_is_accepted_or_an_error_of_one_line(command, described):
    """Any other error than a ValueError would show a user a traceback."""
    path, settings = described
    errors = []
    for variant in odd_variants(path.read_text()):
        path.write_text(variant)
        try:
            command(path.parent, settings)
        except ValueError as error:
            errors.append(str(error))
    assert errors
    assert not [error for error in errors if "\n" in error]


def test_tags_of_another_toolkit_may_be_of_any_scheme():
    folder = ROOT / "tests/testdata/huggingface/BertForTokenClassification"
    assert (
        preset_reading.read_preset(folder).head_settings["legal_tags"] is False
    )


@pytest.fixture
def results(tmp_path):
    """The results of a run in `tmp_path`."""
    return RunResults(tmp_path, is_chief=True)


def test_scores_are_sorted_lines_as_google_writes_them(results, tmp_path):
    results.write_dev_scores({"global_step": 3, "eval_accuracy": 0.5})
    text = (tmp_path / "eval_results.txt").read_text()
    assert text == "eval_accuracy = 0.5\nglobal_step = 3\n"


def test_the_scores_of_a_second_test_set_are_in_a_file_of_their_own(
    results, tmp_path
):
    results.write_test_scores({"eval_accuracy": 0.5}, "_mm")
    assert (tmp_path / "test_eval_results_mm.txt").is_file()


def test_a_worker_logs_its_scores_and_writes_no_file(tmp_path, caplog):
    with caplog.at_level("INFO", logger="absl"):
        RunResults(tmp_path, is_chief=False).write_dev_scores({"f1": 0.5})
    assert "f1" in caplog.text
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize(
    ("age", "is_named"),
    [
        pytest.param(10, True, id="before this command"),
        pytest.param(-10, False, id="by this command"),
    ],
)
def test_results_that_an_earlier_command_wrote_are_named(
    results, tmp_path, caplog, age, is_named
):
    begin_time = 1_000_000
    path = tmp_path / "predictions.csv"
    path.touch()
    os.utime(path, (begin_time - age, begin_time - age))
    results.warn_of_earlier_files(begin_time)
    assert (str(path) in caplog.text) == is_named


def test_reports_and_predictions_are_shown_at_the_end(results, tmp_path):
    for name in ("report.html", "predictions.csv", "eval_results.txt"):
        (tmp_path / name).touch()
    assert results.list_shown_files() == [
        str(tmp_path / "report.html"),
        str(tmp_path / "predictions.csv"),
    ]
