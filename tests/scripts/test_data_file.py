"""Runs from one table or file: the split, the defaults and the files.

Most look at one run of run_classifier.py. Those that start more commands are
slow, and so are those of run_ner.py.
"""

import json
import shutil
from types import SimpleNamespace

import numpy as np
import pytest

import serving
from data.ner import span_files
from data.ner.entity_scoring import find_entities
from data.ner.word_splitting import find_words
from files.json_files import read_json
from serving import engines
from tests.support import output_files, script_runner
from tests.support.output_files import read_results
from tests.support.paths import SAMPLES
from tests.support.refusals import check_refusals
from tests.support.script_runner import parse_flags
from tests.support.tables.csv_files import read_csv, write_csv
from tests.support.tasks.task_runs import run_commands

TOPICS = SAMPLES / "topics"
# Columns of a table of tickets.
TICKETS = ("number", "message", "category")


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
    """(folder of a run on one table, its flags, its result).

    No test changes the folder. A test that would works on `copied_folder`.
    """
    folder = tmp_path_factory.mktemp("table")
    write_csv(folder / "tickets.csv", TICKETS, rows)
    flags = model_flags | parse_flags("""
        --data_file=tickets.csv --output_dir=run
        --num_train_epochs=2 --train_batch_size=16
    """)
    done = script_runner.run("run_classifier.py", folder, **flags).check()
    return folder, flags, done


@pytest.fixture
def copied_folder(finished_run, tmp_path):
    """A copy of the folder of `finished_run` for one test."""
    return shutil.copytree(finished_run[0], tmp_path / "copied")


def test_the_log_of_a_run_is_short_and_says_what_to_check(finished_run):
    folder, _, done = finished_run
    assert len(done.stderr.splitlines()) <= 60
    assert "2 rows without text left out" in done.stderr
    assert "--learning_rate" in done.stderr
    assert done.stderr.count("precision ") == 1
    assert "(never found)" in (folder / "run/README.md").read_text()


@pytest.fixture(scope="module")
def dev_predictions(finished_run):
    """The rows of the table that a run writes about its dev set."""
    return read_csv(finished_run[0] / "run/dev_predictions.csv")


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
    accuracy = read_results(finished_run[0] / "run")["eval_accuracy"]
    assert accuracy == pytest.approx(num_right / 25, abs=1e-6)


def test_columns_with_clear_names_are_found(finished_run, rows):
    described = read_json(finished_run[0] / "run/model.json")
    settings = described["origin"]["settings"]
    assert settings["split"]["key"] == ["message"]
    assert settings["labels"] == sorted(labels_of(rows))


@pytest.mark.slow
def test_the_commands_that_a_run_names_read_the_table(
    copied_folder, finished_run, rows
):
    # The columns that training found are read here too.
    assert run_commands(finished_run[2], copied_folder) == 2
    answers = read_csv(copied_folder / "answers.csv")
    assert [answer["message"] for answer in answers] == [row[1] for row in rows]
    assert {answer["label"] for answer in answers} <= {"", *labels_of(rows)}


def test_the_folder_of_a_run_leads_to_its_export(finished_run):
    folder = finished_run[0]
    assert engines.find_export(folder / "run") == folder / "run_model"


def test_the_card_of_a_run_says_what_was_trained(finished_run, rows):
    card = (finished_run[0] / "run/README.md").read_text()
    title = f"# A classifier of texts into {len(labels_of(rows))} labels"
    assert f"{title}, trained on tickets.csv\n" in card
    assert "| eval_loss |" in card
    assert "may delete `state`" in card


@pytest.mark.parametrize("name", ["run", "run_model"])
def test_a_card_shows_the_score_and_lists_every_file(finished_run, name):
    folder = finished_run[0] / name
    card = (folder / "README.md").read_text()
    assert "| f1_macro |" in card
    for path in folder.iterdir():
        file = path.name.split(".data")[0].replace(".index", "")
        assert f"`{file}" in card or file == "README.md"


@pytest.mark.slow
def test_the_code_on_the_card_of_a_run_asks_the_export(finished_run, rows):
    folder = finished_run[0]
    card = (folder / "run/README.md").read_text()
    assert 'predict.py --model=FOLDER_model "A text."' in card
    code = card.split("```python\n")[1].split("```")[0]
    code = code.replace("FOLDER", str(folder / "run"))
    used = {}
    exec(code.replace("bert.", "shown = bert."), used)
    assert {*used["shown"]["probabilities"]} == labels_of(rows)


def test_the_report_numbers_rows_as_a_spreadsheet_does(finished_run, rows):
    folder, _, _ = finished_run
    page = (folder / "run/report.html").read_text()
    predictions = read_csv(folder / "run/dev_predictions.csv")
    number = [row[1] for row in rows].index(predictions[0]["message"]) + 2
    assert f">row {number}<" in page
    assert "as in a spreadsheet" in page
    results = read_results(folder / "run")
    assert f"f1_macro = {results['f1_macro']:.4g}, eval_acc" in page


@pytest.mark.slow
def test_the_same_command_finds_a_run_that_has_ended(
    copied_folder, finished_run
):
    # 65 rows: after each epoch of 4 steps.
    check_run("run_classifier.py", copied_folder, finished_run[1], [4, 8])


def check_run(script, folder, flags, steps):
    """Checks what a run with --data_file leaves besides the predictions."""
    results = read_results(folder / "run")
    history = output_files.read_json_lines(folder / "run/history.jsonl")
    assert [
        entry["step"] for entry in history if entry["kind"] == "eval"
    ] == steps
    settings = json.loads((folder / "run/model.json").read_text())
    length = settings["origin"]["settings"]["flags"]["max_seq_length"]
    assert 8 <= length < 64
    again = script_runner.run(script, folder, **flags).check()
    assert "has ended" in again.stderr
    assert read_results(folder / "run") == results
    cases = [("--data_file=no.csv", "no.csv"), ("--init_checkpoint=no", "no")]
    cases += [("--init_checkpoint=run_model --output_dir=new", "an export")]
    check_refusals(folder, script, flags, cases)


@pytest.fixture(scope="module")
def entities(request, tmp_path_factory, model_flags):
    """A run of run_ner.py on one file whose ending is the parameter.

    `rows` is {text: (its row of the file, its right entities)}. Tests may add
    files to the folder, but change none.
    """
    folder = tmp_path_factory.mktemp("entities")
    text = (SAMPLES / "entities/train.txt").read_text()
    sentences = [*dict.fromkeys(text.split("\n\n"))][:80]
    rows = {}
    for sentence in sentences:
        words, tags = zip(*map(str.split, sentence.split("\n")), strict=True)
        text = " ".join(words)
        places = find_words(text, words)
        right = [
            [places[first][0], places[after - 1][1], entity_type]
            for entity_type, first, after in find_entities(tags)
        ]
        rows[text] = {"id": len(rows), "text": text, "label": right}, right
        if request.param == "txt":
            rows[text] = {"words": [*words], "labels": [*tags]}, right
    lines = [json.dumps(row) for row, _ in rows.values()]
    path = folder / f"names.{request.param}"
    path.write_text("\n\n".join(sentences if path.suffix == ".txt" else lines))
    flags = model_flags | parse_flags(f"""
        --data_file={path.name} --output_dir=run --train_batch_size=4
        --learning_rate=2e-3
    """)
    done = script_runner.run("run_ner.py", folder, **flags).check()
    return SimpleNamespace(
        folder=folder, path=path, rows=rows, flags=flags, done=done
    )


for_each_format_of_entities = pytest.mark.parametrize(
    "entities", ["txt", "jsonl"], indirect=True
)


@pytest.mark.slow
@for_each_format_of_entities
def test_a_run_on_one_file_of_entities_names_its_files(entities):
    lines = "\n  run/report.html\n  run/dev_predictions.jsonl\n"
    assert lines in entities.done.stderr


@pytest.mark.slow
@for_each_format_of_entities
def test_the_commands_that_a_run_of_entities_names_succeed(entities):
    is_json = entities.path.suffix == ".jsonl"
    assert run_commands(entities.done, entities.folder) == 1 + is_json


@pytest.mark.slow
@for_each_format_of_entities
def test_predicted_entities_of_the_dev_set_have_the_score_of_the_run(entities):
    folder = entities.folder
    entries = output_files.read_json_lines(folder / "run/dev_predictions.jsonl")
    assert len(entries) == 17
    counts = np.zeros(3, int)
    for entry in entries:
        row, right = entities.rows[entry["text"]]
        assert row.items() <= entry.items()
        predicted = entry["predicted_entities"]
        assert entry["correct"] == (predicted == right)
        assert len(entry["probabilities"]) == len(predicted)
        assert all(
            0 < probability <= 1 for probability in entry["probabilities"]
        )
        both = sum(one in right for one in predicted)
        counts += len(predicted), len(right), both
    f1 = read_results(folder / "run")["f1"]
    assert f1 == pytest.approx(2 * counts[2] / counts[:2].sum())
    assert f1 > 0


@pytest.mark.slow
@for_each_format_of_entities
def test_the_same_command_finds_a_run_of_entities_that_has_ended(entities):
    steps = [*range(15, 106, 15), 110]
    check_run("run_ner.py", entities.folder, entities.flags, steps)


@pytest.mark.slow
@pytest.mark.parametrize("entities", ["jsonl"], indirect=True)
def test_entities_of_a_test_set_are_those_of_the_dev_set(entities):
    """The same model answers the same for a test set, and in its export."""
    folder = entities.folder
    shutil.copy(entities.path, folder / "test.jsonl")
    flags = "--init_checkpoint=run --data_dir=. --output_dir=again --do_predict"
    done = script_runner.run("run_ner.py", folder, **parse_flags(flags))
    assert done.check().stderr.endswith("\n  again/predictions.jsonl\n")
    path = folder / "again/predictions.jsonl"
    labels = [
        example.labels
        for example in span_files.read_annotated_texts(path, "dev")
    ]
    lines = output_files.read_json_lines(path)
    assert labels == [line["labels"] for line in lines]
    assert [line["id"] for line in lines] == [*range(len(entities.rows))]
    tagged = {line["text"]: line["entities"] for line in lines}
    for entry in output_files.read_json_lines(
        folder / "run/dev_predictions.jsonl"
    ):
        assert tagged[entry["text"]] == entry["predicted_entities"]
    answers = serving.load(folder / "run_model").tag([*tagged])
    assert [one["label"] for one in answers] == [*tagged.values()]


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
def test_what_does_not_go_with_a_table_is_refused(
    odd_tables, model_flags, flags, part
):
    check_refusals(
        odd_tables,
        "run_classifier.py",
        model_flags | {"output_dir": "run"},
        [(flags, part)],
    )
