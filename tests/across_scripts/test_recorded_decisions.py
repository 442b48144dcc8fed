"""Later commands on the folder of a run keep what the run decided.

test_recorded_decisions_chain.py starts runs from runs, and
tests/training/dev_set/test_comparison.py tests without runs which rows are in
doubt.
"""

import json
import shutil

import pytest

from files.json_files import read_json
from tests.support.log_lines import printed_warnings
from tests.support.output_files import read_results
from tests.support.tables.csv_files import read_csv, write_csv
from tests.support.tasks.table_commands import (
    Commands,
    list_doubt_warnings,
    read_recorded_split,
    read_topics,
    write_table,
)

# Files of the run that a command which does not train may replace.
RESULTS = ("README.md", "dev_predictions.csv", "eval_results.txt", "model.json")
# The log says this of scores that no file of the run gets.
ONLY_SHOWN = "are only shown"


def read_result_files(folder):
    """Returns {name: bytes} of the results of a run."""
    return {name: (folder / name).read_bytes() for name in RESULTS}


@pytest.fixture(scope="module")
def rows():
    """Texts and labels of a table."""
    return read_topics()


@pytest.fixture(scope="module")
def new_rows(rows):
    """Texts and labels that the table lacks."""
    return [(f"new text {i}", rows[0][1]) for i in range(12)]


@pytest.fixture(scope="module")
def trained_run(tmp_path_factory, model_flags, rows):
    """Commands in a folder with a `run` that held out a part of its table.

    No test changes the folder.
    """
    commands = Commands(tmp_path_factory.mktemp("split"), model_flags)
    write_table(commands.folder / "table.csv", rows)
    commands.train("run", seed=1, dev_fraction=0.3)
    return commands


@pytest.fixture
def commands(trained_run, tmp_path):
    """Commands in a copy of the folder of `trained_run`, for one test."""
    return trained_run.copied_to(tmp_path / "copy")


@pytest.fixture
def folder(commands):
    """The folder of `commands`."""
    return commands.folder


def change_json(path, change):
    """Calls a function that changes the contents of a JSON file."""
    value = read_json(path)
    change(value)
    path.write_text(json.dumps(value))


def texts_in(folder):
    """Returns the texts of a dev set that was scored, in capitals."""
    rows = read_csv(folder / "dev_predictions.csv")
    return {row["text"].upper() for row in rows}


def test_a_run_records_the_split_of_its_table(trained_run):
    assert read_recorded_split(trained_run.folder / "run") == {
        "rule": 1,
        "dev_fraction": 0.3,
        "key": ["text"],
        "clean_fraction": 0.3,
    }


@pytest.mark.parametrize(
    "flags",
    [
        pytest.param({}, id="no flags"),
        pytest.param({"seed": 2}, id="another seed"),
        pytest.param(
            {"dev_fraction": 0.3},
            id="the run's fraction",
            marks=pytest.mark.slow,
        ),
        pytest.param({"seed": 1}, id="the run's seed", marks=pytest.mark.slow),
    ],
)
def test_an_evaluation_scores_the_runs_own_dev_set(commands, folder, flags):
    before = read_results(folder / "run")
    predictions = (folder / "run/dev_predictions.csv").read_bytes()
    done = commands.evaluate(**flags).check()
    assert not printed_warnings(done)
    assert read_results(folder / "run") == before
    assert (folder / "run/dev_predictions.csv").read_bytes() == predictions


@pytest.mark.parametrize(
    "fraction", [0.5, pytest.param(0.31, marks=pytest.mark.slow)]
)
def test_a_dev_set_larger_than_that_of_the_run_is_warned_of(commands, fraction):
    done = commands.evaluate(dev_fraction=fraction).check()
    (warning,) = list_doubt_warnings(done)
    for text in (f"={fraction:g}.", "--output_dir=run", "=0.3,"):
        assert text in warning


def test_a_dev_set_smaller_than_that_of_the_run_is_not_warned_of(commands):
    done = commands.evaluate(dev_fraction=0.2).check()
    assert not list_doubt_warnings(done)


@pytest.mark.parametrize("fraction", [0.5, 0.2])
def test_scores_of_another_fraction_are_shown_and_change_no_file(
    commands, folder, fraction
):
    before = read_result_files(folder / "run")
    export = (folder / "run_model/README.md").stat().st_mtime_ns
    done = commands.evaluate(dev_fraction=fraction).check()
    assert "eval_accuracy" in done.stderr
    assert ONLY_SHOWN in done.stderr
    assert read_result_files(folder / "run") == before
    assert (folder / "run_model/README.md").stat().st_mtime_ns == export


def add_rows(rows, new_rows):
    return rows + new_rows


def drop_rows(rows, new_rows):
    return rows[20:]


def sort_rows(rows, new_rows):
    return sorted(rows)


def capitalize_rows(rows, new_rows):
    return [(text.upper(), label) for text, label in rows]


CHANGES = [add_rows, drop_rows, sort_rows, capitalize_rows]


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
def test_scores_of_another_table_are_shown_and_change_no_file(
    commands, folder, rows, new_rows, change
):
    write_table(folder / "other.csv", change(rows, new_rows))
    before = read_result_files(folder / "run")
    done = commands.evaluate(data_file="other.csv").check()
    assert not list_doubt_warnings(done)
    assert ONLY_SHOWN in done.stderr
    assert read_result_files(folder / "run") == before


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
def test_the_dev_set_of_another_table_has_no_row_that_was_trained_on(
    commands, folder, rows, new_rows, change
):
    write_table(folder / "other.csv", change(rows, new_rows))
    done = commands.evaluate(
        "scored", init_checkpoint="run", data_file="other.csv"
    ).check()
    assert not printed_warnings(done)
    # Each row of it was one before, or is new.
    trained_texts = {text.upper() for text, _ in rows}
    assert texts_in(folder / "scored") & trained_texts <= texts_in(
        folder / "run"
    )


@pytest.fixture
def other_rule(folder):
    """Gives the run in `folder` a rule for the dev set of another version."""

    def change(described):
        described["origin"]["settings"]["split"]["rule"] += 1

    change_json(folder / "run/model.json", change)


@pytest.mark.usefixtures("other_rule")
def test_a_run_of_another_rule_is_scored_and_left_as_it_is(commands, folder):
    before = read_result_files(folder / "run")
    done = commands.evaluate().check()
    (warning,) = list_doubt_warnings(done)
    assert "--output_dir=run chose its dev set in another way" in warning
    assert "eval_accuracy" in done.stderr
    assert read_result_files(folder / "run") == before


@pytest.mark.slow
@pytest.mark.usefixtures("other_rule")
def test_a_start_from_a_run_of_another_split_rule_is_warned_of(
    commands, folder
):
    done = commands.train("changed", init_checkpoint="run")
    assert "--init_checkpoint=run chose its" in list_doubt_warnings(done)[0]
    assert read_recorded_split(folder / "changed")["clean_fraction"] == 0


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (add_rows, "table.csv has changed: 90 rows then, 102 now"),
        (sort_rows, "table.csv has changed, although it has 90 rows"),
    ],
)
def test_a_run_does_not_go_on_with_another_table(
    commands, folder, rows, new_rows, change, error
):
    write_table(folder / "table.csv", change(rows, new_rows))
    done = commands.resume()
    assert error in done.error
    assert "--init_checkpoint=run" in done.error


def test_a_run_does_not_go_on_with_another_fraction(commands):
    done = commands.resume(dev_fraction=0.4)
    assert "--dev_fraction=0.3; received 0.4" in done.error


@pytest.fixture
def of_titles(tmp_path, model_flags, rows):
    """Commands after a `run` on the titles of a table of titles and texts."""
    titled = [
        (" ".join(text.split()[-3:]), text, label) for text, label in rows
    ]
    write_csv(tmp_path / "table.csv", ("title", "text", "label"), titled)
    commands = Commands(tmp_path, model_flags)
    commands.train("run", text_column="title")
    return commands


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [
        {"output_dir": "run"},
        {"output_dir": "new", "init_checkpoint": "run"},
    ],
    ids=["the run", "a new folder"],
)
def test_a_split_by_another_text_column_is_warned_of(of_titles, model):
    before = read_result_files(of_titles.folder / "run")
    done = of_titles.evaluate(**model, text_column="text").check()
    (warning,) = list_doubt_warnings(done)
    assert "by 'title'" in warning
    assert "by 'text'" in warning
    assert read_result_files(of_titles.folder / "run") == before


def test_a_data_dir_with_the_table_of_the_run_is_refused(commands, folder):
    (folder / "data").mkdir()
    shutil.copy(folder / "table.csv", folder / "data/dev.csv")
    before = read_result_files(folder / "run")
    error = commands.evaluate_set("data").error
    assert "dev.csv" in error
    assert "table.csv" in error
    assert read_result_files(folder / "run") == before


def test_replacing_scores_of_another_dev_set_is_warned_of(
    commands, folder, rows
):
    (folder / "other").mkdir()
    write_table(folder / "other/dev.csv", rows[:20])
    done = commands.evaluate_set("other").check()
    assert "dev.csv is not the dev set of --output_dir=run" in done.stderr
    assert "which was of table.csv" in done.stderr


def test_two_files_that_disagree_on_the_casing_are_both_named(commands, folder):
    def change(settings):
        settings["do_lower_case"] = not settings["do_lower_case"]

    change_json(folder / "run/tokenizer_config.json", change)
    done = commands.evaluate()
    assert "tokenizer_config.json" in done.error
    assert "model.json" in done.error
