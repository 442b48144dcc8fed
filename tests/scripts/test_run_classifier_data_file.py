"""Runs of run_classifier.py on one table: the split, the defaults, the files.

Most look at one run. Those that start more commands are slow.
"""

import re
import shutil

import pytest

from files.json_files import read_json
from serving import engines
from tests.support import script_runner
from tests.support.output_files import read_results
from tests.support.paths import SAMPLES
from tests.support.script_runner import FinishedRun, check_refusals, split_flags
from tests.support.tables.csv_files import read_csv, write_csv
from tests.support.tasks.task_runs import (
    list_evaluated_steps,
    read_length,
    run_commands,
)

TOPICS = SAMPLES / "topics"
# Columns of a table of tickets.
TICKETS = ("number", "message", "category")
# A user sees so many lines without scrolling, on a tall screen.
LINES_OF_SCREEN = 60


@pytest.fixture(scope="module")
def rows():
    """Rows of a table, two of them without a text."""
    topics = read_csv(TOPICS / "train.csv")[:90]
    rows = [(i, row["text"], row["label"]) for i, row in enumerate(topics)]
    label = rows[0][2]
    return [*rows[:40], (90, "", label), (91, " ", f"{label} "), *rows[40:]]


def labels_of(rows):
    """Returns the labels in the table's rows."""
    return {row[2].strip() for row in rows}


@pytest.fixture(scope="module")
def finished_run(tmp_path_factory, model_flags, rows):
    """FinishedRun on tickets.csv. A test that changes it copies its folder."""
    folder = tmp_path_factory.mktemp("table")
    write_csv(folder / "tickets.csv", TICKETS, rows)
    flags = model_flags | split_flags("""
        --data_file=tickets.csv --output_dir=run
        --num_train_epochs=2 --train_batch_size=16
    """)
    done = script_runner.run("run_classifier.py", folder, **flags).check()
    return FinishedRun(folder, flags, done)


@pytest.fixture
def copied_folder(finished_run, tmp_path):
    """A copy of the folder of `finished_run` for one test."""
    return shutil.copytree(finished_run.folder, tmp_path / "copied")


def test_the_log_of_a_run_fits_on_a_screen(finished_run):
    assert len(finished_run.done.stderr.splitlines()) <= LINES_OF_SCREEN


def test_the_log_counts_the_rows_that_are_left_out(finished_run):
    assert "2 rows without text left out" in finished_run.done.stderr


def test_the_log_names_flags_that_may_find_the_missed_labels(
    finished_run, rows
):
    advice = re.search(
        "finds no example of (.+) in the dev set.*", finished_run.done.stderr
    )
    assert {*advice[1].split(", ")} < labels_of(rows)
    assert "--learning_rate=" in advice[0]
    # Twice the epochs of the run.
    assert "--num_train_epochs=4" in advice[0]


def test_the_log_shows_the_scores_of_the_labels_once(finished_run):
    assert finished_run.done.stderr.count("precision ") == 1


def test_the_card_names_the_labels_that_the_model_never_finds(finished_run):
    card = (finished_run.folder / "run/README.md").read_text()
    assert "(never found)" in card


@pytest.fixture(scope="module")
def dev_predictions(finished_run):
    """The rows of the table that a run writes about its dev set."""
    return read_csv(finished_run.folder / "run/dev_predictions.csv")


def test_predictions_stand_beside_the_columns_of_the_table(
    dev_predictions, rows
):
    assert len(dev_predictions) == 25
    columns = "number message category label probability correct"
    assert [*dev_predictions[0]] == columns.split()
    rows_by_number = {str(row[0]): row for row in rows}
    for prediction in dev_predictions:
        _, text, label = rows_by_number[prediction["number"]]
        assert (prediction["message"], prediction["category"]) == (text, label)


def test_the_accuracy_is_that_of_the_predictions(finished_run, dev_predictions):
    num_right = 0
    for prediction in dev_predictions:
        is_right = prediction["label"] == prediction["category"]
        assert (prediction["correct"] == "true") == is_right
        num_right += is_right
    accuracy = read_results(finished_run.folder / "run")["eval_accuracy"]
    assert accuracy == pytest.approx(num_right / 25, abs=1e-6)


def test_columns_with_clear_names_are_found(finished_run, rows):
    described = read_json(finished_run.folder / "run/model.json")
    settings = described["origin"]["settings"]
    assert settings["split"]["key"] == ["message"]
    assert settings["labels"] == sorted(labels_of(rows))


@pytest.mark.slow
def test_the_commands_that_a_run_names_read_the_table(
    copied_folder, finished_run, rows
):
    # The columns that training found are read here too.
    assert run_commands(finished_run.done, copied_folder) == 2
    answers = read_csv(copied_folder / "answers.csv")
    assert [answer["message"] for answer in answers] == [row[1] for row in rows]
    assert {answer["label"] for answer in answers} <= {"", *labels_of(rows)}


def test_the_folder_of_a_run_leads_to_its_export(finished_run):
    folder = finished_run.folder
    assert engines.find_export_folder(folder / "run") == folder / "run_model"


def test_the_card_of_a_run_says_what_was_trained(finished_run, rows):
    card = (finished_run.folder / "run/README.md").read_text()
    title = f"# A classifier of texts into {len(labels_of(rows))} labels"
    assert f"{title}, trained on tickets.csv\n" in card
    assert "| eval_loss |" in card
    assert "may delete `state`" in card


@pytest.mark.parametrize("name", ["run", "run_model"])
def test_a_card_shows_the_score_and_lists_every_file(finished_run, name):
    folder = finished_run.folder / name
    card = (folder / "README.md").read_text()
    assert "| f1_macro |" in card
    for path in folder.iterdir():
        file = path.name.split(".data")[0].replace(".index", "")
        assert f"`{file}" in card or file == "README.md"


@pytest.mark.slow
def test_the_code_on_the_card_of_a_run_asks_the_export(finished_run, rows):
    folder = finished_run.folder
    card = (folder / "run/README.md").read_text()
    assert 'predict.py --model=FOLDER_model "A text."' in card
    code = card.split("```python\n")[1].split("```")[0]
    code = code.replace("FOLDER", str(folder / "run"))
    used = {}
    exec(code.replace("bert.", "shown = bert."), used)
    assert {*used["shown"]["probabilities"]} == labels_of(rows)


def test_the_report_numbers_rows_as_a_spreadsheet_does(finished_run, rows):
    folder = finished_run.folder
    page = (folder / "run/report.html").read_text()
    predictions = read_csv(folder / "run/dev_predictions.csv")
    number = [row[1] for row in rows].index(predictions[0]["message"]) + 2
    assert f">row {number}<" in page
    assert "as in a spreadsheet" in page
    results = read_results(folder / "run")
    assert f"f1_macro = {results['f1_macro']:.4g}, eval_acc" in page


def test_the_dev_set_is_evaluated_after_each_epoch(finished_run):
    # 65 rows, in 4 steps for each of the two epochs.
    assert list_evaluated_steps(finished_run.folder / "run") == [4, 8]


def test_the_length_of_a_run_fits_its_short_rows(finished_run):
    assert 8 <= read_length(finished_run.folder / "run") < 64


@pytest.mark.slow
def test_the_same_command_finds_a_run_that_has_ended(
    copied_folder, finished_run
):
    results = read_results(copied_folder / "run")
    again = script_runner.run(
        "run_classifier.py", copied_folder, **finished_run.flags
    ).check()
    assert "has ended" in again.stderr
    assert read_results(copied_folder / "run") == results


@pytest.mark.slow
@pytest.mark.parametrize(
    "case",
    [
        ("--data_file=no.csv", "no.csv"),
        ("--init_checkpoint=no", "no"),
        ("--init_checkpoint=run_model --output_dir=new", "an export"),
    ],
)
def test_a_wrong_path_beside_a_run_that_has_ended_is_refused(
    copied_folder, finished_run, case
):
    check_refusals(
        copied_folder, "run_classifier.py", finished_run.flags, [case]
    )


@pytest.fixture(scope="module")
def odd_tables(tmp_path_factory, rows):
    """Folder with tables whose columns are not clear. No test changes it."""
    folder = tmp_path_factory.mktemp("odd_tables")
    write_csv(folder / "tickets.csv", TICKETS, rows)
    write_csv(folder / "no_rows.csv", TICKETS, [])
    # Neither of the last two names says which column contains the labels.
    names = ("number", "note", "queue")
    write_csv(folder / "unclear.csv", names, rows[:1])
    days = [(f"text {i}", i % 40) for i in range(90)]
    write_csv(folder / "days.csv", ("text", "label"), days)
    return folder


@pytest.mark.parametrize(
    ("flags", "parts"),
    [
        pytest.param(
            "--data_file=unclear.csv --text_column=note",
            ["--label_column"],
            id="no column of labels",
        ),
        pytest.param(
            "--data_file=unclear.csv --label_column=queue",
            ["--text_column"],
            id="no column of texts",
        ),
        pytest.param(
            "--data_file=unclear.csv --label_column=queu",
            ["'queu'", "note"],
            id="a misspelled column",
        ),
        pytest.param(
            "--data_file=days.csv",
            ["=label", "40 labels in 90 rows", "'2'"],
            id="a column of numbers",
        ),
    ],
)
def test_columns_that_are_not_found_are_asked_for(
    odd_tables, model_flags, flags, parts
):
    check_refusals(
        odd_tables,
        "run_classifier.py",
        model_flags | {"output_dir": "run"},
        [(flags, *parts)],
    )


@pytest.mark.parametrize(
    ("flags", "part"),
    [
        pytest.param("--data_file=no_rows.csv", "no rows", id="no rows"),
        pytest.param(
            "--data_file=tickets.csv --data_dir=.",
            "--data_dir",
            id="a file and a folder",
        ),
        pytest.param(
            "--data_file=tickets.csv --epochs=3",
            "--num_train_epochs",
            id="an unknown flag",
        ),
    ],
)
def test_an_error_about_the_data_file_names_its_cause(
    odd_tables, model_flags, flags, part
):
    check_refusals(
        odd_tables,
        "run_classifier.py",
        model_flags | {"output_dir": "run"},
        [(flags, part)],
    )
