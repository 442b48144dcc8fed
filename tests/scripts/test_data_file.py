"""run_classifier.py from one table: its split, its defaults and its files."""

import csv
import json

import pytest

from data.classification.classifier_flags import TableOptions
from data.classification.pairs import PairProcessor, RankingProcessor
from tests import script_runner
from tests.script_runner import parse_flags, read_results
from tests.task_runs import run_commands

TOPICS = script_runner.SAMPLES / "topics"


def write_table(path, rows, names=("number", "message", "category")):
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([names, *rows])


def read_table(path):
    with path.open(encoding="utf-8", newline="") as file:
        return [*csv.DictReader(file)]


@pytest.fixture
def rows():
    found = read_table(TOPICS / "train.csv")[:90]
    rows = [(i, x["text"], x["label"]) for i, x in enumerate(found)]
    label = rows[0][2]
    return [*rows[:40], (90, "", label), (91, " ", f"{label} "), *rows[40:]]


@pytest.mark.slow
def test_one_table_is_all_that_a_run_needs(tmp_path, model_flags, rows):
    write_table(tmp_path / "tickets.csv", rows)
    flags = model_flags | parse_flags("""
        --data_file=tickets.csv --output_dir=run
        --num_train_epochs=2 --train_batch_size=16
    """)
    done = script_runner.run("run_classifier.py", tmp_path, **flags).check()
    assert "2 rows without text left out" in done.stderr
    assert len(done.stderr.splitlines()) <= 60
    assert done.stderr.count("precision ") == 1
    results = read_results(tmp_path / "run")
    found = read_table(tmp_path / "run/dev_predictions.csv")
    given = {str(row[0]): row for row in rows}
    assert len(found) == 18 and [*found[0]] == [
        *("number", "message", "category", "label", "probability", "correct")
    ]
    right = 0
    for row in found:
        _, text, label = given[row["number"]]
        assert (row["message"], row["category"]) == (text, label)
        assert (row["correct"] == "true") == (row["label"] == label)
        right += row["correct"] == "true"
    assert results["eval_accuracy"] == pytest.approx(right / 18, abs=1e-6)
    assert (tmp_path / "run/report.html").is_file()
    history = script_runner.read_lines(tmp_path / "run/history.jsonl")
    # 72 rows: after each epoch of 4.5 steps, and at the end.
    assert [x["step"] for x in history if x["kind"] == "eval"] == [4, 8, 9]
    # The columns that training found are read here too.
    assert run_commands(done, tmp_path) == 2
    answers = read_table(tmp_path / "answers.csv")
    assert [x["message"] for x in answers] == [row[1] for row in rows]
    labels = {row[2].strip() for row in rows}
    assert {x["label"] for x in answers} <= {"", *labels}
    card = (tmp_path / "run/README.md").read_text()
    title = f"# A classifier of texts into {len(labels)} labels, trained on"
    assert f"{title} tickets.csv\n" in card and "| eval_loss |" in card
    assert "| loss |" not in card and "| global_step |" not in card
    assert 'predict.py --model=run_model "A text."' in card
    # Two epochs at this rate are too short.
    assert "(never found)" in card and "--learning_rate" in done.stderr
    page = (tmp_path / "run/report.html").read_text()
    number = [row[1] for row in rows].index(found[0]["message"]) + 2
    assert f">row {number}<" in page
    settings = json.loads((tmp_path / "run/model.json").read_text())
    length = settings["origin"]["settings"]["flags"]["max_seq_length"]
    assert 8 <= length < 64
    again = script_runner.run("run_classifier.py", tmp_path, **flags).check()
    assert "has ended" in again.stderr
    assert read_results(tmp_path / "run") == results


def test_columns_are_found_or_asked_for(tmp_path, model_flags, rows):
    write_table(tmp_path / "tickets.csv", rows)
    names = ("number", "message", "queue")
    write_table(tmp_path / "none.csv", rows[:1], names)
    write_table(tmp_path / "one.csv", rows[:1], ("number", "note", "queue"))
    flags = model_flags | {"output_dir": "run"}
    script_runner.check_refusals(
        tmp_path,
        "run_classifier.py",
        flags,
        [
            ("--data_file=none.csv", "--label_column", "number, message"),
            (
                "--data_file=tickets.csv --label_column=number",
                "number",
                "'1', ",
            ),
            ("--data_file=one.csv --label_column=queue", "--text_column"),
            ("--data_file=one.csv --label_column=queu", "'queu'", "note"),
            ("--data_file=tickets.csv --data_dir=.", "--data_dir"),
        ],
    )


@pytest.mark.parametrize("create", [PairProcessor, RankingProcessor])
def test_pairs_and_queries_are_split_too(tmp_path, create):
    names = ("query", "passage", "relevance")
    rows = [(f"q{i // 4}", f"p{i}", int(i % 4 == 0)) for i in range(200)]
    write_table(tmp_path / "pairs.csv", rows, names)
    columns = ("text_column", "text_b_column", "label_column")
    given = dict(zip(columns, names, strict=True))
    path = str(tmp_path / "pairs.csv")
    options = TableOptions(data_file=path, given_flags=given, **given)
    processor = create(path, options)
    train, dev = (processor.read_set(path, x) for x in ("train", "dev"))
    assert len(dev) == 40 and len(train) == 160
    if create is RankingProcessor:
        queries = [{each.text_a for each in found} for found in (train, dev)]
        assert not queries[0] & queries[1]
