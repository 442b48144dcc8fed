"""What the processor of a user's own tables knows beside their rows."""

import numpy as np
import pytest

from data.classification import metrics
from data.classification.classification_examples import InputExample
from data.classification.user_tables.table_columns import ColumnOptions
from data.classification.user_tables.table_processor import open_table_processor
from data.classification.user_tables.table_tasks import DEFINITION_OF_TABLE_TASK
from data.sets.data_file_options import DataFileOptions
from tests.support.tables.csv_files import write_csv
from tests.support.tables.labeled_tables import (
    open_task_processor,
    read_examples,
    write_train_set,
)


@pytest.fixture
def topics(tmp_path):
    """The processor of tables of single texts, whose dev set is missing."""
    (tmp_path / "train.csv").write_text("text,label\na,yes\nb,no\n")
    (tmp_path / "test.csv").write_text("text,label\nc,yes\n")
    return open_task_processor("csv", tmp_path)


@pytest.mark.parametrize(
    ("task_name", "columns"),
    [
        ("embedding", ("text", "text_b", "score")),
        ("ranking", ("query", "passage", "relevance")),
    ],
)
def test_a_task_of_pairs_knows_its_usual_columns(tmp_path, task_name, columns):
    path = tmp_path / "train.csv"
    write_csv(path, columns, [("Who?", "Anna.", 1), ("Who?", "Bob.", 0)])
    examples = open_task_processor(task_name, tmp_path).sets.read("train")
    texts = [(example.text_a, example.text_b) for example in examples]
    assert texts == [("Who?", "Anna."), ("Who?", "Bob.")]
    assert [float(example.label) for example in examples] == [1, 0]


@pytest.mark.parametrize("mode", [*metrics.METRICS_OF_MODE])
def test_the_kind_of_the_labels_decides_the_metrics(tmp_path, mode):
    processor = open_task_processor("csv", tmp_path, output_mode=mode)
    assert processor.metrics == metrics.METRICS_OF_MODE[mode]


def test_the_sets_are_those_of_the_files(topics):
    (first, second) = topics.sets.read("train")
    assert (first.text_a, second.text_a) == ("a", "b")
    assert topics.sets.read_labels() == ["no", "yes"]


def test_tables_are_one_set_of_each_kind(topics):
    assert topics.dev_sets == ("dev",)
    assert topics.test_sets == ("test",)


def test_take_of_a_missing_dev_set_is_an_error(topics):
    with pytest.raises(FileNotFoundError, match="there is no dev set"):
        topics.take("dev")


def test_take_keeps_the_labels_of_a_test_set(topics):
    (example,) = topics.take("test")
    assert example.label == "yes"


@pytest.fixture
def train_and_dev(tmp_path):
    """The processor of a train set and a dev set that share one text."""
    (tmp_path / "train.csv").write_text("text,label\na,x\nb,y\n")
    (tmp_path / "dev.csv").write_text("text,label\nB ,y\n")
    return open_task_processor("csv", tmp_path)


def test_texts_of_the_train_set_in_the_dev_set_are_warned_of(
    train_and_dev, caplog
):
    train_and_dev.sets.read("dev")
    assert "dev.csv: 1 texts are in the train set too" in caplog.text


def test_examples_of_a_train_set_keep_no_row(train_and_dev):
    rows = [example.row for example in train_and_dev.sets.read("train")]
    assert rows == [None, None]


def test_examples_of_a_dev_set_keep_their_rows(train_and_dev):
    (example,) = train_and_dev.sets.read("dev")
    assert example.row == {"text": "B ", "label": "y"}


def test_equal_texts_have_equal_keys(train_and_dev):
    first, second = train_and_dev.sets.read("train")
    keys = train_and_dev.sets.reader.compute_keys([first, second, first])
    assert keys[0] == keys[2] != keys[1]


def test_a_dev_set_needs_no_train_set_if_flags_name_the_labels(tmp_path):
    (tmp_path / "dev.csv").write_text("text,label\nc,y\n")
    processor = open_task_processor("csv", tmp_path, labels=["x", "y"])
    assert [example.label for example in processor.sets.read("dev")] == ["y"]


def test_a_single_text_is_one_text(topics):
    assert topics.num_texts == 1


def test_rankings_are_scored_by_the_texts_of_the_queries(tmp_path):
    processor = open_task_processor("ranking", tmp_path)
    queries = ["a", "a", "b"]
    examples = [InputExample("dev-1", query, "passage") for query in queries]
    labels = np.array([0.0, 1.0, 2.0])
    predictions = np.array([3.0, 1.0, 2.0])
    scores = processor.score(examples, labels, predictions)
    expected = metrics.score_ranking(queries, labels, predictions)
    assert scores.overall == expected


@pytest.fixture
def commas_file(tmp_path):
    """A train set whose label column has a comma in its name."""
    rows = "".join(f"t{i},{i % 2}\n" for i in range(40))
    path = tmp_path / "train.csv"
    path.write_text(f'text,"Category, main"\n{rows}')
    return path


def check_commas(data_dir, data_file):
    """Checks the labels of the column whose name contains a comma."""
    processor = open_table_processor(
        DEFINITION_OF_TABLE_TASK["csv"],
        data_dir,
        DataFileOptions(data_file=data_file),
        ColumnOptions(label_column="Category, main"),
        {"label_column": "Category, main"},
    )
    assert processor.sets.read_labels() == ["0", "1"]
    assert processor.output_mode == "classification"


def test_a_name_with_commas_is_one_column_of_a_folder(commas_file):
    check_commas(commas_file.parent, None)


def test_a_name_with_commas_is_one_column_of_a_data_file(commas_file):
    check_commas(None, str(commas_file))


def test_a_malformed_table_does_not_pass_for_a_missing_one(tmp_path):
    flags = {"label_column": "a,b"}
    assert open_task_processor("csv", tmp_path, **flags).sets.read_labels() == [
        "a",
        "b",
    ]
    (tmp_path / "dev.jsonl").write_text('{"text": "x", "a,b": "y"}\n')
    processor = open_task_processor("csv", tmp_path, **flags)
    assert processor.output_mode == "classification"
    (tmp_path / "train.jsonl").write_text('{"text": "x", \n')
    with pytest.raises(ValueError, match=r"train\.jsonl is not valid"):
        open_task_processor("csv", tmp_path, **flags)


def test_a_missing_table_is_named_by_the_files_that_may_be_it(tmp_path):
    names = "dev.csv or dev.tsv or dev.jsonl"
    with pytest.raises(FileNotFoundError, match=names):
        read_examples(tmp_path, "dev.txt", "", labels=["x", "y"])


def test_two_train_sets_are_an_error(tmp_path):
    (tmp_path / "train.tsv").write_text("text\tlabel\na\tx\n")
    sets = write_train_set(tmp_path, "text,label\na,x\nb,y\n")
    with pytest.raises(ValueError, match=r"train\.csv and .*train\.tsv"):
        sets.read_labels()
