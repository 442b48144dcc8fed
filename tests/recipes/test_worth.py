"""The table of what initial weights are worth."""

import importlib
import json
import sys

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
    table = recipe.write_tables(figures, 2, tmp_path)
    assert table.splitlines()[2:] == [
        "| MRPC | 65.0 ± 7.1 (0.0001) | 73.0 ± 1.4 (0.0003) |",
        "| RTE | 52.0 ± 1.4 (0.0003) | 55.0 ± 0.0 (0.0001) |",
        "| average | 58.5 | 64.0 |",
    ]
    assert (tmp_path / "worth.md").read_text() == table


def test_a_task_that_is_not_done_has_no_row(recipe, tmp_path):
    """Nor one with fewer seeds than the others, whose deviation would mislead.

    That happened: a mean of two seeds stood in a table of three.
    """
    figures = {
        "MRPC": {"random": {1e-4: [0.7] * 2}, "mine": {1e-4: [0.8] * 2}},
        "RTE": {"random": {1e-4: [0.5] * 2}, "mine": {}},
        "CoLA": {"random": {1e-4: [0.5] * 2}, "mine": {1e-4: [0.5]}},
    }
    table = recipe.write_tables(figures, 2, tmp_path).splitlines()
    assert table[2:] == ["| MRPC | 70.0 ± 0.0 (0.0001) | 80.0 ± 0.0 (0.0001) |"]


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


def test_rows_of_another_checkpoint_do_not_pass_for_this_ones(
    recipe, tmp_path, monkeypatch
):
    for step in (1, 2):
        (tmp_path / f"model.ckpt-{step}.index").touch()
    (tmp_path / "bert_config.json").write_text("{}")
    (tmp_path / "RTE").mkdir()
    done = tmp_path / "output/mine/RTE_rate_0.0001_seed_1"
    done.mkdir(parents=True)
    (done.parent / "start.json").write_text(
        json.dumps({"init_checkpoint": str(tmp_path / "model.ckpt-1")})
    )
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit, match=r"start\.json is of other settings"):
        call(recipe, monkeypatch, "mine=model.ckpt-2")


def call(recipe, monkeypatch, start):
    monkeypatch.setattr(
        sys,
        "argv",
        f"worth.py --model_dir=. --data_dir=. --output_dir=output "
        f"--task RTE --start={start}".split(),
    )
    recipe.main()
