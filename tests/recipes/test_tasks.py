"""Recipes write and remove only files of their own."""

import argparse
import importlib
import os

import pytest

from tests.golden import ROOT


@pytest.fixture
def tasks(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "recipes")
    return importlib.import_module("tasks")


@pytest.fixture
def options(tmp_path):
    """Options of a recipe; the data has CoLA and SST-2."""
    for name in ("CoLA/train.tsv", "CoLA/dev.tsv", "SST-2/train.tsv"):
        path = tmp_path / "data" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("a\tb\n" * 3)
    (tmp_path / "data/SST-2/dev.tsv").write_text("a\tb\n" * 3)
    for name in ("vocab.txt", "bert_config.json"):
        (tmp_path / name).touch()
    return argparse.Namespace(
        data_dir=tmp_path / "data",
        output_dir=tmp_path / "out",
        model_dir=tmp_path,
        mixed_precision="float32",
    )


def create(tasks, options, *names, **shared):
    found = {name: tasks.TASKS[name] for name in names}
    return tasks.create_flags(options, found, "config", "*/*_seed_*", **shared)


@pytest.mark.parametrize(
    ("output", "message"),
    [
        (".", "data/SST-2 is where the recipe writes its own part"),
        ("out", "data/SST-2/train.tsv is there without .*/settings.json"),
    ],
)
def test_a_users_own_data_are_not_replaced(
    tmp_path, tasks, options, output, message
):
    options.output_dir = tmp_path / output
    mine = options.output_dir / "data/SST-2/train.tsv"
    mine.parent.mkdir(parents=True, exist_ok=True)
    mine.write_text("mine")
    with pytest.raises(SystemExit, match=message):
        create(tasks, options, "SST-2")
    assert mine.read_text() == "mine"


@pytest.mark.parametrize(
    ("task", "file", "text", "message"),
    [
        ("SST-2", "train.tsv", "", "SST-2/train.tsv has 0 examples"),
        ("STS-B", "dev.tsv", "", "STS-B/dev.tsv has 0 examples"),
        (
            "QNLI",
            "dev.tsv",
            "a\tb\n" * 3,
            "QNLI/dev.tsv has 2 examples .* needs 1001",
        ),
        (
            "SQuAD",
            "train-v1.1.json",
            "{}",
            "train-v1.1.json has no 'data'",
        ),
        ("SQuAD", "dev-v1.1.json", "[", "dev-v1.1.json"),
    ],
)
def test_a_file_without_examples_is_named(
    tmp_path, tasks, task, file, text, message
):
    source = tmp_path / task
    source.mkdir()
    for name in ("train.tsv", "dev.tsv"):
        (source / name).write_text("a\tb\n" * 3)
    for name in ("train-v1.1.json", "dev-v1.1.json"):
        (source / name).write_text('{"data": []}')
    (source / file).write_text(text)
    with pytest.raises(ValueError, match=message):
        tasks.TASKS[task].prepare(source, tmp_path)


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


def test_rows_of_other_settings_are_refused(tmp_path, tasks, options):
    create(tasks, options, "CoLA", learning_rate=5e-5)
    create(tasks, options, "SST-2", learning_rate=5e-5)
    with pytest.raises(
        SystemExit, match="learning_rate is 5e-05 there and 0.0"
    ):
        create(tasks, options, "CoLA", learning_rate=1e-4)
    (tmp_path / "data").rename(tmp_path / "others")
    options.data_dir = tmp_path / "others"
    with pytest.raises(
        SystemExit, match="data_dir is .*/data there and .*/oth"
    ):
        create(tasks, options, "CoLA", learning_rate=5e-5)


def test_rows_without_their_settings_are_refused(tasks, options):
    (options.output_dir / "mine/RTE_seed_1").mkdir(parents=True)
    with pytest.raises(SystemExit, match="RTE_seed_1 is there without .*sett"):
        create(tasks, options, "CoLA")


def test_missing_files_are_found_before_anything_is_written(
    tmp_path, tasks, options
):
    with pytest.raises(SystemExit, match="data has none of the folders RTE"):
        create(tasks, options, "RTE")
    (tmp_path / "data/CoLA/dev.tsv").unlink()
    with pytest.raises(SystemExit, match="--data_dir: there is no .*CoLA/dev"):
        create(tasks, options, "SST-2", "CoLA")
    (tmp_path / "vocab.txt").unlink()
    with pytest.raises(SystemExit, match="--model_dir: there is no .*/vocab"):
        create(tasks, options, "CoLA")
    assert not options.output_dir.exists()


def test_a_folder_of_hugging_face_is_a_model_too(tmp_path, tasks, options):
    (tmp_path / "bert_config.json").rename(tmp_path / "config.json")
    assert create(tasks, options, "CoLA")


@pytest.mark.parametrize("text", ["", "eval_accuracy\n", "other = 0.5\n"])
def test_damaged_results_are_named(tmp_path, tasks, text):
    path = tmp_path / "eval_results.txt"
    path.write_text(text)
    with pytest.raises(
        ValueError, match="eval_accuracy as NAME = FIGURE; remove"
    ):
        tasks.read_figure(tasks.TASKS["RTE"], tmp_path)


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


@pytest.mark.parametrize(
    ("flag", "message"),
    [
        ("--output_dir=", "--output_dir: is empty"),
        ("--model_dir=m", "--model_dir: m is not a folder"),
        ("--data_dir=d", "--data_dir: d is not a folder"),
        ("--mixed_precision=bfloat", "--mixed_precision: invalid choice"),
        ("--seed", "--seed: expected at least one argument"),
        ("--seed=1 1", "--seed: one value is given twice"),
        ("--seed=1 -2", "--seed: '-2' is not a whole number from 0"),
    ],
)
def test_a_wrong_argument_is_named(tasks, tmp_path, capsys, flag, message):
    flags = [f"--model_dir={tmp_path}", f"--data_dir={tmp_path}"]
    with pytest.raises(SystemExit) as stopped:
        tasks.runs.create_parser("", "").parse_args(
            [*flags, "--output_dir=out", *flag.replace("=1", " 1").split()]
        )
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err


def test_a_failure_is_said_on_stderr(tasks, tmp_path, capfd):
    log = tmp_path / "log.txt"
    with pytest.raises(SystemExit) as stopped:
        tasks.runs.run("plot_runs.py", log, {"runs": tmp_path / "none"})
    assert stopped.value.code == 1
    lines = capfd.readouterr().err.splitlines()
    assert lines[-1] == f"error: plot_runs.py failed; above is the end of {log}"
    assert "give --html or --png" in lines[-2]


def test_an_error_of_a_file_is_one_line(tasks, tmp_path):
    with pytest.raises(SystemExit, match=r"^error: .*bert_config.json"):
        tasks.runs.main(
            lambda: tasks.runs.add_dropout(
                tmp_path / "bert_config.json", tmp_path / "fine_tuning"
            )
        )


def test_another_models_configuration_is_kept(tmp_path, tasks):
    path = tmp_path / "bert_config.json"
    tasks.runs.write_once(path, {"hidden_size": 16, "phases": (1, 2)})
    made = path.stat().st_mtime_ns
    tasks.runs.write_once(path, {"hidden_size": 16, "phases": (1, 2)})
    with pytest.raises(SystemExit, match="json is of other settings"):
        tasks.runs.write_once(path, {"hidden_size": 32, "phases": (1, 2)})
    assert path.stat().st_mtime_ns == made
