"""The table of what initial weights are worth."""

import argparse
import importlib
import itertools
import json
import sys
from pathlib import Path

import pytest

from tests.golden import ROOT


@pytest.fixture
def recipe(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "recipes")
    return importlib.import_module("worth")


def test_each_start_has_the_rate_that_was_best_for_its_first_seed(
    recipe, tmp_path
):
    figures = {
        "MRPC": {
            # A mean below the other rate's only figure changes nothing.
            "random": {1e-4: [0.70, 0.60], 3e-4: [0.69]},
            "mine": {1e-4: [0.70], 3e-4: [0.72, 0.74]},
        },
        "RTE": {
            "random": {1e-4: [0.50], 3e-4: [0.51, 0.53]},
            "mine": {1e-4: [0.55, 0.55], 3e-4: [0.54]},
        },
    }
    table = recipe.write_tables(figures, options(tmp_path))
    assert table.splitlines()[2:] == [
        "| MRPC | 65.0 ± 7.1 (0.0001) | 73.0 ± 1.4 (0.0003) |",
        "| RTE | 52.0 ± 1.4 (0.0003) | 55.0 ± 0.0 (0.0001) |",
        "| average | 58.5 | 64.0 |",
    ]
    assert (tmp_path / "worth.md").read_text() == table


def test_only_a_task_whose_runs_are_all_done_has_a_row(recipe, tmp_path):
    for task, start, rate, seed in itertools.product(
        ("MRPC", "RTE", "CoLA", "QNLI"), ("random", "mine"), RATES, (1, 2)
    ):
        add_run(recipe, tmp_path, start, task, rate, seed)
    # The best rate has one seed; a rate is missing; the first seed is missing.
    for row in ("RTE_rate_0.0001_seed_2", "CoLA_rate_0.0003_seed_1"):
        (tmp_path / "mine" / row / "eval_results.txt").unlink()
    for rate in RATES:
        row = f"QNLI_rate_{rate:g}_seed_1"
        (tmp_path / "mine" / row / "eval_results.txt").unlink()
    figures = recipe.read_figures(options(tmp_path), ("random", "mine"))
    assert figures["RTE"]["mine"] == {1e-4: [0.71], 3e-4: [0.71, 0.72]}
    table = recipe.write_tables(figures, options(tmp_path)).splitlines()
    # RTE's rates are equally good, and the first of them lacks a seed.
    assert table[2:] == ["| MRPC | 71.5 ± 0.7 (0.0001) | 71.5 ± 0.7 (0.0001) |"]


def test_the_table_has_tasks_that_another_command_ran(recipe, tmp_path):
    for task, rate, seed in itertools.product(("CoLA", "RTE"), RATES, (1, 2)):
        add_run(recipe, tmp_path, "random", task, rate, seed)
    figures = recipe.read_figures(options(tmp_path), ("random",))
    table = recipe.write_tables(figures, options(tmp_path))
    assert [line.split()[1] for line in table.splitlines()[2:]] == [
        "CoLA",
        "RTE",
        "average",
    ]
    written = json.loads((tmp_path / "worth.json").read_text())
    assert written["RTE"]["random"] == {
        "0.0001": [0.71, 0.72],
        "0.0003": [0.71, 0.72],
    }


RATES = (1e-4, 3e-4)


def options(folder):
    return argparse.Namespace(
        output_dir=folder, seed=[1, 2], learning_rate=RATES
    )


def add_run(recipe, folder, start, task, rate, seed):
    """Writes what a finished run leaves; its figure is 0.7 + seed / 100."""
    found = recipe.row_folder(options(folder), start, task, rate, seed)
    found.mkdir(parents=True)
    (found / "eval_results.txt").write_text(
        f"{recipe.TASKS[task].figure} = {0.7 + seed / 100}\n"
    )


@pytest.mark.parametrize(
    ("start", "message"),
    [
        ("model.ckpt-1", "is not NAME=CHECKPOINT"),
        ("../mine=model.ckpt-1", "is not NAME=CHECKPOINT"),
        ("data=model.ckpt-1", "is not NAME=CHECKPOINT"),
        ("random=model.ckpt-1", "there is a start random already"),
        ("mine=model.ckpt-2", "there is no model.ckpt-2.index"),
    ],
)
def test_a_wrong_start_is_refused(
    recipe, tmp_path, monkeypatch, capsys, start, message
):
    (tmp_path / "model.ckpt-1.index").touch()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as stopped:
        call(recipe, monkeypatch, start)
    assert stopped.value.code == 2
    assert f"--start={start}" in (error := capsys.readouterr().err)
    assert message in error
    assert not (tmp_path / "output").exists()


@pytest.fixture
def scripts(recipe, tmp_path, monkeypatch):
    """Replaces the scripts, in a folder with files; returns their flags."""
    for name in (
        *("vocab.txt", "model.ckpt-1.index", "model.ckpt-2.index"),
        *("RTE/train.tsv", "RTE/dev.tsv"),
        *("conll2003/train.txt", "conll2003/valid.txt"),
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "bert_config.json").write_text("{}")
    monkeypatch.chdir(tmp_path)
    given = []

    def run_script(command, **_):
        flags = dict(each[2:].split("=") for each in command[2:] if "=" in each)
        given.append(flags)
        # Random weights learn better at the low rate, the others at the high.
        low = "1e-05" if "init_checkpoint" in flags else "0.01"
        figure = 0.4 if flags["learning_rate"] == low else 0.6
        folder = Path(flags["output_dir"])
        folder.mkdir(parents=True)
        (folder / "eval_results.txt").write_text(
            f"eval_accuracy = {figure}\nf1 = {figure}\n"
        )
        return 0

    monkeypatch.setattr(recipe.runs.child, "run", run_script)
    return given


def test_rows_of_another_checkpoint_do_not_pass_for_this_ones(
    recipe, scripts, monkeypatch
):
    call(recipe, monkeypatch, "mine=model.ckpt-1")
    number = len(scripts)
    call(recipe, monkeypatch, "mine=model.ckpt-1")
    with pytest.raises(SystemExit, match=r"start\.json is of other settings"):
        call(recipe, monkeypatch, "mine=model.ckpt-2")
    # Nor may rows of which nobody knows the checkpoint.
    Path("output/mine/start.json").unlink()
    with pytest.raises(
        SystemExit, match=r"seed_1.* is there without .*start.js"
    ):
        call(recipe, monkeypatch, "mine=model.ckpt-2")
    assert len(scripts) == number == 8


def test_later_seeds_have_the_best_rate_of_the_first(
    recipe, scripts, tmp_path, monkeypatch
):
    call(
        recipe,
        monkeypatch,
        "mine=model.ckpt-1",
        *("--task", "RTE", "CoNLL", "--seed", "5", "6"),
        *("--learning_rate", "1e-5", "1e-2"),
    )
    found = {
        (Path(flags["output_dir"]).parts[1:], flags["num_train_epochs"])
        for flags in scripts
    }
    assert len(scripts) == 12
    assert found == {
        ((start, f"{task}_rate_{rate}_seed_{seed}"), epochs)
        for task, epochs in (("RTE", "10"), ("CoNLL", "3"))
        for start, rate, seed in (
            ("random", "1e-05", 5),
            ("random", "0.01", 5),
            ("random", "1e-05", 6),
            ("mine", "1e-05", 5),
            ("mine", "0.01", 5),
            ("mine", "0.01", 6),
        )
    }
    assert {flags.get("init_checkpoint") for flags in scripts} == {
        None,
        str(tmp_path / "model.ckpt-1"),
    }
    table = Path("output/worth.md").read_text()
    row = "| RTE | 60.0 ± 0.0 (1e-05) | 60.0 ± 0.0 (0.01) |"
    assert row in table


def call(recipe, monkeypatch, start, *more):
    flags = "--model_dir=. --data_dir=. --output_dir=output".split()
    more = more or ("--task", "RTE")
    monkeypatch.setattr(
        sys, "argv", ["worth.py", *flags, f"--start={start}", *more]
    )
    recipe.main()
