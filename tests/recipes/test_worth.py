"""The table of what initial weights are worth."""

import importlib

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
            "random": {1e-4: [0.50], 3e-4: [0.51]},
            "mine": {1e-4: [0.55], 3e-4: [0.54]},
        },
    }
    table = recipe.write_tables(figures, tmp_path)
    assert table.splitlines()[2:] == [
        "| MRPC | 65.0 ± 7.1 (0.0001) | 73.0 ± 1.4 (0.0003) |",
        "| RTE | 51.0 (0.0003) | 55.0 (0.0001) |",
        "| average | 58.0 | 64.0 |",
    ]
    assert (tmp_path / "worth.md").read_text() == table


def test_a_task_that_is_not_done_has_no_row(recipe, tmp_path):
    figures = {
        "MRPC": {"random": {1e-4: [0.7]}, "mine": {1e-4: [0.8]}},
        "RTE": {"random": {1e-4: [0.5]}, "mine": {}},
    }
    table = recipe.write_tables(figures, tmp_path).splitlines()
    assert table[2:] == ["| MRPC | 70.0 (0.0001) | 80.0 (0.0001) |"]
