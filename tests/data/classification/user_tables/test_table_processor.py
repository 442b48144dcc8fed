"""Opens the tables of a folder, or one table, as the sets of a task.

test_table_reader.py tests the rows of a table.
"""

import numpy as np
import pytest

from data.classification import metrics
from data.classification.classification_examples import InputExample
from tests.support.tables.labeled_tables import open_tables


@pytest.mark.parametrize(
    ("task_name", "columns"),
    [
        ("embedding", "text,text_b,score"),
        ("ranking", "query,passage,relevance"),
    ],
)
def test_a_task_of_pairs_knows_its_usual_columns(tmp_path, task_name, columns):
    (tmp_path / "train.csv").write_text(
        f"{columns}\nWho?,Anna.,1\nWho?,Bob.,0\n"
    )
    first, second = open_tables(tmp_path, task_name).sets.read("train")
    assert (first.text_a, first.text_b, first.label) == ("Who?", "Anna.", 1.0)
    assert (second.text_a, second.text_b, second.label) == ("Who?", "Bob.", 0.0)


@pytest.mark.parametrize("mode", [*metrics.METRICS_OF_MODE])
def test_the_kind_of_the_labels_decides_the_metrics(tmp_path, mode):
    processor = open_tables(tmp_path, output_mode=mode)
    assert processor.metrics == metrics.METRICS_OF_MODE[mode]


def test_each_table_of_a_folder_is_one_set(tmp_path):
    (tmp_path / "train.csv").write_text("text,label\na,yes\nb,no\n")
    (tmp_path / "test.csv").write_text("text,label\nc,yes\n")
    processor = open_tables(tmp_path)
    assert processor.dev_sets == ("dev",)
    assert processor.test_sets == ("test",)
    assert processor.sets.read_labels() == ["no", "yes"]
    texts = [example.text_a for example in processor.sets.read("train")]
    assert texts == ["a", "b"]


def test_take_of_a_missing_dev_set_is_an_error(tmp_path):
    (tmp_path / "train.csv").write_text("text,label\na,yes\nb,no\n")
    with pytest.raises(FileNotFoundError, match="there is no dev set"):
        open_tables(tmp_path).take("dev")


def test_take_keeps_the_labels_of_a_test_set(tmp_path):
    (tmp_path / "train.csv").write_text("text,label\na,yes\nb,no\n")
    (tmp_path / "test.csv").write_text("text,label\nc,yes\n")
    (example,) = open_tables(tmp_path).take("test")
    assert (example.text_a, example.label) == ("c", "yes")


def test_texts_of_the_train_set_in_the_dev_set_are_warned_of(tmp_path, caplog):
    (tmp_path / "train.csv").write_text("text,label\na,x\nb,y\n")
    (tmp_path / "dev.csv").write_text("text,label\nB ,y\n")
    open_tables(tmp_path).sets.read("dev")
    (message,) = (text for text in caplog.messages if "dev.csv" in text)
    assert "1 texts" in message


def test_only_examples_of_a_dev_set_keep_their_rows(tmp_path):
    (tmp_path / "train.csv").write_text("text,label\na,x\nb,y\n")
    (tmp_path / "dev.csv").write_text("text,label\nc ,y\n")
    sets = open_tables(tmp_path).sets
    assert [example.row for example in sets.read("train")] == [None, None]
    (example,) = sets.read("dev")
    assert example.row == {"text": "c ", "label": "y"}


def test_equal_texts_have_equal_keys(tmp_path):
    (tmp_path / "train.csv").write_text("text,label\na,x\nb,y\nA ,x\n")
    sets = open_tables(tmp_path).sets
    first, second, third = sets.reader.compute_keys(sets.read("train"))
    assert first == third != second


def test_a_dev_set_needs_no_train_set_if_flags_name_the_labels(tmp_path):
    (tmp_path / "dev.csv").write_text("text,label\nc,y\n")
    processor = open_tables(tmp_path, labels=["x", "y"])
    assert [example.label for example in processor.sets.read("dev")] == ["y"]


@pytest.mark.parametrize(("text_b", "num_texts"), [(None, 1), ("reply", 2)])
def test_an_example_has_one_text_or_two(tmp_path, text_b, num_texts):
    processor = open_tables(tmp_path, text_b_column=text_b)
    assert processor.num_texts == num_texts


def test_rankings_are_scored_by_the_texts_of_the_queries(tmp_path):
    processor = open_tables(tmp_path, "ranking")
    queries = ["a", "a", "b"]
    examples = [InputExample("dev-1", query, "passage") for query in queries]
    labels = np.array([0.0, 1.0, 2.0])
    predictions = np.array([3.0, 1.0, 2.0])
    scores = processor.score(examples, labels, predictions)
    expected = metrics.score_ranking(queries, labels, predictions)
    assert scores.overall == expected


# Columns of which one has a comma in its name.
COMMAS = 'text,"Category, main"\n' + "".join(
    f"t{number},{number % 2}\n" for number in range(40)
)


def test_a_name_with_commas_is_one_column_of_a_folder(tmp_path):
    (tmp_path / "train.csv").write_text(COMMAS)
    processor = open_tables(tmp_path, label_column="Category, main")
    assert processor.sets.read_labels() == ["0", "1"]
    assert processor.output_mode == "classification"


def test_a_name_with_commas_is_one_column_of_a_data_file(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(COMMAS)
    processor = open_tables(None, data_file=path, label_column="Category, main")
    assert processor.sets.read_labels() == ["0", "1"]
    assert processor.output_mode == "classification"


def test_without_a_table_a_comma_is_between_two_columns(tmp_path):
    processor = open_tables(tmp_path, label_column="a,b")
    assert processor.sets.read_labels() == ["a", "b"]


def test_the_first_set_that_exists_shows_what_a_comma_means(tmp_path):
    (tmp_path / "dev.jsonl").write_text('{"text": "x", "a,b": "y"}\n')
    processor = open_tables(tmp_path, label_column="a,b")
    assert processor.output_mode == "classification"


def test_a_malformed_table_does_not_pass_for_a_missing_one(tmp_path):
    (tmp_path / "dev.jsonl").write_text('{"text": "x", "a,b": "y"}\n')
    (tmp_path / "train.jsonl").write_text('{"text": "x", \n')
    with pytest.raises(ValueError, match=r"train\.jsonl is not valid"):
        open_tables(tmp_path, label_column="a,b")


def test_a_missing_table_is_named_by_the_files_that_may_be_it(tmp_path):
    (tmp_path / "dev.txt").write_text("text,label\na,x\n")
    sets = open_tables(tmp_path, labels=["x", "y"]).sets
    names = "dev.csv or dev.tsv or dev.jsonl"
    with pytest.raises(FileNotFoundError, match=names):
        sets.read("dev")


def test_two_train_sets_are_an_error(tmp_path):
    (tmp_path / "train.csv").write_text("text,label\na,x\nb,y\n")
    (tmp_path / "train.tsv").write_text("text\tlabel\na\tx\n")
    with pytest.raises(ValueError, match=r"train\.csv and .*train\.tsv"):
        open_tables(tmp_path).sets.read_labels()
