"""Sets of a folder or of one file, and what is said of both of them.

data/processors/file_processor.py reads them.
data/classification/table_sets/repeated_texts.py finds texts that both contain.
"""

import pytest

from data.classification.classification_options import TableOptions
from data.classification.task_selection.table_task_specs import TABLE_TASK_SPECS
from data.tables.data_file_options import DataFileOptions
from tests.support.tables.csv_files import write_csv
from tests.support.tables.split_tables import read_topics, split_rows


@pytest.mark.parametrize("order", [("train", "dev"), ("dev", "train")])
def test_copies_in_two_files_are_counted(tmp_path, caplog, order):
    rows = read_topics()
    for name, change in (("train", str), ("dev", str.upper)):
        changed = [(f"{change(text)} ", label) for text, label in rows[:99]]
        write_csv(tmp_path / f"{name}.csv", ("text", "label"), changed)
    processor = TABLE_TASK_SPECS["csv"].create_processor(
        str(tmp_path),
        DataFileOptions(),
        TableOptions(labels=sorted({label for _, label in rows})),
        frozenset(),
    )
    for set_name in order:
        processor.read(set_name)
    num = len({text for text, _ in rows[:99]})
    assert f"dev.csv: {num} texts are in the train set too" in caplog.text


def test_labels_come_from_both_sets_and_missing_ones_are_named(
    tmp_path, caplog
):
    rows = read_topics()
    train, dev = split_rows(tmp_path, rows)
    added = [(*train[0], "only trained")] * 5 + [(*dev[0], "only scored")]
    path = tmp_path / "table.csv"
    write_csv(path, ("text", "label"), rows + added)
    caplog.clear()
    processor = TABLE_TASK_SPECS["csv"].create_processor(
        None,
        DataFileOptions(data_file=str(path)),
        TableOptions(),
        frozenset(),
    )
    assert {"only trained", "only scored"} <= {*processor.find_labels()}
    (warning,) = [
        record.message
        for record in caplog.records
        if record.levelname == "WARNING"
    ]
    assert "the dev set has none of only trained" in warning
    assert "the train set has none of only scored" in warning
    assert "--data_dir" in warning


@pytest.fixture
def processor(tmp_path):
    """The processor of a folder with a train set and a dev set."""
    (tmp_path / "train.csv").write_text("text,label\na,x\nb,y\n")
    (tmp_path / "dev.csv").write_text("text,label\nc,y\n")
    return TABLE_TASK_SPECS["csv"].create_processor(
        str(tmp_path), DataFileOptions(), TableOptions(), frozenset()
    )


def test_examples_of_a_train_set_keep_no_row(processor):
    assert [example.row for example in processor.read("train")] == [None, None]


def test_examples_of_a_dev_set_keep_their_rows(processor):
    (example,) = processor.read("dev")
    assert example.row == {"text": "c", "label": "y"}


def test_a_set_is_read_once(processor):
    assert processor.read("dev") is processor.read("dev")


def test_a_dev_set_that_is_read_first_reads_the_train_set_once(
    tmp_path, processor
):
    processor.read("dev")
    (tmp_path / "train.csv").unlink()
    assert len(processor.read("train")) == 2
    assert processor.find_labels() == ["x", "y"]


def test_a_dev_set_needs_no_train_set_if_flags_name_the_labels(tmp_path):
    (tmp_path / "dev.csv").write_text("text,label\nc,y\n")
    processor = TABLE_TASK_SPECS["csv"].create_processor(
        str(tmp_path),
        DataFileOptions(),
        TableOptions(labels=["x", "y"]),
        frozenset(),
    )
    assert [example.label for example in processor.read("dev")] == ["y"]


def test_a_dev_set_may_contain_only_labels_of_the_train_set(
    tmp_path, processor
):
    (tmp_path / "dev.csv").write_text("text,label\nc,z\n")
    with pytest.raises(ValueError, match="unknown label 'z'"):
        processor.read("dev")


def test_equal_texts_have_equal_keys(processor):
    first, second = processor.read("train")
    keys = processor.keys_of([first, second, first])
    assert keys[0] == keys[2] != keys[1]
