"""Sets of a folder or of one file, and what is said of both of them."""

import dataclasses
import os
import weakref

import pytest

from data.classification.user_tables.column_options import ColumnOptions
from data.classification.user_tables.user_table_processor import (
    open_table_processor,
)
from data.classification.user_tables.user_table_reader import UserTableReader
from data.classification.user_tables.user_table_tasks import SPEC_OF_TABLE_TASK
from data.sets.data_file_split import DataFileOptions
from data.sets.file_sets import FileSets, RepeatedTexts
from tests.support.tables.csv_files import write_csv
from tests.support.tables.labeled_tables import read_topics, split_rows


@pytest.mark.parametrize("order", [("train", "dev"), ("dev", "train")])
def test_copies_in_two_files_are_counted(tmp_path, caplog, order):
    rows = read_topics()
    for name, change in (("train", str), ("dev", str.upper)):
        changed = [(f"{change(text)} ", label) for text, label in rows[:99]]
        write_csv(tmp_path / f"{name}.csv", ("text", "label"), changed)
    processor = open_table_processor(
        SPEC_OF_TABLE_TASK["csv"],
        str(tmp_path),
        DataFileOptions(),
        ColumnOptions(labels=sorted({label for _, label in rows})),
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
    processor = open_table_processor(
        SPEC_OF_TABLE_TASK["csv"],
        None,
        DataFileOptions(data_file=str(path)),
        ColumnOptions(),
        frozenset(),
    )
    assert {"only trained", "only scored"} <= {*processor.read_labels()}
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
    return open_table_processor(
        SPEC_OF_TABLE_TASK["csv"],
        str(tmp_path),
        DataFileOptions(),
        ColumnOptions(),
        frozenset(),
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
    assert processor.read_labels() == ["x", "y"]


def test_a_dev_set_needs_no_train_set_if_flags_name_the_labels(tmp_path):
    (tmp_path / "dev.csv").write_text("text,label\nc,y\n")
    processor = open_table_processor(
        SPEC_OF_TABLE_TASK["csv"],
        str(tmp_path),
        DataFileOptions(),
        ColumnOptions(labels=["x", "y"]),
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
    keys = processor.file_sets.reader.keys_of([first, second, first])
    assert keys[0] == keys[2] != keys[1]


@dataclasses.dataclass(frozen=True, kw_only=True)
class RecordingReader(UserTableReader):
    """Lists the files that it reads, with the labels that they may contain."""

    read_files: list = dataclasses.field(default_factory=list)

    def read_file(self, file):
        """Reads the file, and appends it to the list."""
        self.read_files.append((os.path.basename(file.path), file.labels))
        return super().read_file(file)


@pytest.fixture
def create_recording(tmp_path):
    """A function that creates three sets in a folder, or those of a table."""
    (tmp_path / "train.csv").write_text("text,label\na,x\nb,y\n")
    (tmp_path / "dev.csv").write_text("text,label\nc,y\n")
    (tmp_path / "test.csv").write_text("text\nd\n")
    rows = [f"text {row},{'xy'[row % 2]}" for row in range(40)]
    (tmp_path / "table.csv").write_text("\n".join(["text,label", *rows]))

    def create(
        reader_class=RecordingReader,
        *,
        data_file=None,
        labels=None,
        output_mode="classification",
    ):
        data_file = data_file and str(tmp_path / data_file)
        reader = reader_class(
            source=data_file or tmp_path,
            options=ColumnOptions(),
            output_mode=output_mode,
            text_columns=["text"],
            label_columns=["label"],
            are_labels_in_rows=labels is None and output_mode != "regression",
        )
        return FileSets(
            reader,
            None if data_file else tmp_path,
            DataFileOptions(data_file=data_file),
            labels,
        )

    return create


@pytest.mark.parametrize(
    ("set_names", "read_files"),
    [
        (["train"], [("train.csv", None)]),
        (["dev"], [("train.csv", None), ("dev.csv", ["x", "y"])]),
        (["train", "dev"], [("train.csv", None), ("dev.csv", ["x", "y"])]),
        (["dev", "train"], [("train.csv", None), ("dev.csv", ["x", "y"])]),
        (
            ["test", "dev"],
            [
                ("train.csv", None),
                ("test.csv", ["x", "y"]),
                ("dev.csv", ["x", "y"]),
            ],
        ),
    ],
)
def test_the_train_set_of_a_folder_is_read_before_the_other_sets(
    create_recording, set_names, read_files
):
    file_sets = create_recording()
    for set_name in set_names:
        file_sets.read(set_name)
    assert file_sets.read_labels() == ["x", "y"]
    assert file_sets.reader.read_files == read_files


@pytest.mark.parametrize("set_names", [["train", "dev"], ["dev", "train"], []])
def test_a_data_file_is_read_once_for_both_sets_and_the_labels(
    create_recording, set_names
):
    file_sets = create_recording(data_file="table.csv")
    for set_name in set_names:
        file_sets.read(set_name)
    assert file_sets.read_labels() == ["x", "y"]
    assert len(file_sets.read("train")) + len(file_sets.read("dev")) == 40
    assert file_sets.reader.read_files == [("table.csv", None)]


def test_labels_of_flags_read_no_file(create_recording):
    file_sets = create_recording(labels=["y", "x"])
    assert file_sets.read_labels() == ["y", "x"]
    assert file_sets.reader.read_files == []
    file_sets.read("dev")
    assert file_sets.reader.read_files == [("dev.csv", ["y", "x"])]


def test_a_regression_has_no_labels_to_read(tmp_path, create_recording):
    (tmp_path / "dev.csv").write_text("text,label\nc,2.5\n")
    file_sets = create_recording(output_mode="regression")
    assert file_sets.read_labels() is None
    file_sets.read("dev")
    assert file_sets.reader.read_files == [("dev.csv", None)]


def test_sets_that_were_taken_are_not_read_for_the_labels_again(
    create_recording,
):
    file_sets = create_recording()
    file_sets.read_labels()
    file_sets.take("train")
    file_sets.take("dev")
    assert file_sets.read_labels() == ["x", "y"]
    assert [file for file, _ in file_sets.reader.read_files] == [
        "train.csv",
        "dev.csv",
    ]


def test_only_the_dev_set_of_a_data_file_keeps_its_rows(create_recording):
    file_sets = create_recording(data_file="table.csv")
    assert all(example.row is None for example in file_sets.read("train"))
    for example in file_sets.read("dev"):
        assert example.row == {"text": example.text_a, "label": example.label}


@dataclasses.dataclass(frozen=True, kw_only=True)
class WeakReader(RecordingReader):
    """Refers to the examples that it reads, without keeping them in memory."""

    references: list = dataclasses.field(default_factory=list)

    def read_file(self, file):
        """Reads the file, and appends a weak reference to each example."""
        examples = super().read_file(file)
        self.references.extend(map(weakref.ref, examples))
        return examples


def test_the_rows_of_a_train_set_are_freed(create_recording):
    """No cell of a row is held beside the texts and the label."""
    file_sets = create_recording(WeakReader, data_file="table.csv")
    dev_set = file_sets.read("dev")
    references = file_sets.reader.references
    assert len(references) == 40
    in_memory = [reference() for reference in references]
    assert [example for example in in_memory if example] == dev_set


KEYS = {"train": ["a", "b", "b", "c"], "dev": ["c", "b", "x"]}


@pytest.mark.parametrize("order", [("train", "dev"), ("dev", "train")])
def test_the_file_of_the_dev_set_is_named_in_any_order(caplog, order):
    texts = RepeatedTexts()
    for set_name in order:
        texts.add(set_name, f"{set_name}.csv", KEYS[set_name])
        texts.warn()
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    message = record.getMessage()
    assert message == "dev.csv: 2 texts are in the train set too"


@pytest.mark.parametrize("set_name", KEYS)
def test_a_single_set_has_no_copies(caplog, set_name):
    texts = RepeatedTexts()
    texts.add(set_name, "x.csv", ["a", "a"])
    texts.warn()
    assert not caplog.records


def test_sets_without_a_common_text_cause_no_warning(caplog):
    texts = RepeatedTexts()
    texts.add("train", "train.csv", ["a"])
    texts.add("dev", "dev.csv", ["b"])
    texts.warn()
    assert not caplog.records


def test_a_set_that_is_read_again_replaces_itself(caplog):
    texts = RepeatedTexts()
    texts.add("dev", "dev.csv", ["a"])
    texts.add("dev", "dev.csv", ["b"])
    texts.add("train", "train.csv", ["a"])
    texts.warn()
    assert not caplog.records
