"""Recipes write and remove only files of their own."""

import argparse
import importlib
import json
import os

import pytest

from tests.golden import ROOT


@pytest.fixture
def tasks(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "recipes")
    return importlib.import_module("tasks")


def test_the_data_are_not_replaced_by_a_part_of_them(tmp_path, tasks):
    source = tmp_path / "data" / "SST-2"
    source.mkdir(parents=True)
    (source / "train.tsv").write_text("mine")
    options = argparse.Namespace(
        data_dir=tmp_path / "data",
        output_dir=tmp_path,
        model_dir=tmp_path,
        mixed_precision="float32",
    )
    sst_2 = tasks.TASKS["SST-2"]
    with pytest.raises(SystemExit, match="data/SST-2 is where the recipe"):
        tasks.create_flags(options, {"SST-2": sst_2}, "config")
    assert (source / "train.tsv").read_text() == "mine"


def test_a_users_copies_of_weights_stay(tmp_path, tasks, monkeypatch):
    kept = ["model.ckpt-5-good.index", "model.ckpt-2.backup.zip"]
    written = ["model.ckpt-9.index", "model.ckpt-9.data-00000-of-00001"]

    def run(*_):
        for name in (*kept, *written):
            (tmp_path / name).write_text("weights")
        (tmp_path / "eval_results.txt").write_text("eval_accuracy = 0.5\n")

    monkeypatch.setattr(tasks.runs, "run", run)
    assert tasks.run_row(tasks.TASKS["RTE"], {}, None, tmp_path) == 0.5
    assert sorted(os.listdir(tmp_path)) == sorted([*kept, "eval_results.txt"])


def test_rows_of_other_settings_are_refused(tmp_path, tasks):
    options = argparse.Namespace(
        data_dir=tmp_path / "data",
        output_dir=tmp_path / "out",
        model_dir=tmp_path,
        mixed_precision="float32",
    )
    for _ in range(2):
        tasks.create_flags(options, {}, "config", learning_rate=1e-4)
    with pytest.raises(SystemExit, match="settings.json is of other settings"):
        tasks.create_flags(options, {}, "config", learning_rate=5e-5)


def test_a_row_whose_export_was_killed_runs_again(tmp_path, tasks, monkeypatch):
    folder, model, given = tmp_path / "row", tmp_path / "row/model", []

    def run(script, log, flags):
        given.append(flags)
        # An export begins in its folder, with files of other names.
        model.mkdir(parents=True, exist_ok=True)
        (folder / "eval_results.txt").write_text("eval_accuracy = 0.5\n")
        if len(given) > 1:
            (model / "bert_model.ckpt.index").write_text("weights")

    monkeypatch.setattr(tasks.runs, "run", run)
    for _ in range(3):
        tasks.run_row(
            tasks.TASKS["RTE"], {}, None, folder, export_weights=model
        )
    assert [flags["export_weights"] for flags in given] == [model, model]
    trained = {"do_train": True, "do_eval": True, "num_train_epochs": 3}
    assert given[0].items() >= trained.items()
    evaluated = tmp_path / "evaluated"
    folder = evaluated
    evaluated.mkdir()
    tasks.run_row(tasks.TASKS["RTE"], {}, model, evaluated, train=False)
    assert given[2]["do_train"] is None and given[2]["do_eval"]


def test_a_folder_that_is_not_named_is_refused(tasks, capsys):
    flags = ["--model_dir=m", "--data_dir=d", "--output_dir="]
    with pytest.raises(SystemExit):
        tasks.runs.create_parser("", "").parse_args(flags)
    assert "--output_dir: is empty" in capsys.readouterr().err


def test_another_models_configuration_is_kept(tmp_path, tasks):
    path = tmp_path / "bert_config.json"
    for _ in range(2):
        tasks.runs.write_once(path, {"hidden_size": 16})
    with pytest.raises(SystemExit, match="json is of other settings"):
        tasks.runs.write_once(path, {"hidden_size": 32})
    assert json.loads(path.read_text()) == {"hidden_size": 16}
