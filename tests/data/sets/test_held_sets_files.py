"""Sets of a folder or of one file, and what is said of both of them."""

import csv
import dataclasses
import os
import weakref
from types import MappingProxyType

import pytest

from data.sets.data_file_options import DataFileOptions
from data.sets.example_reader import ExampleReader
from data.sets.held_sets import FileSets
from tests.support.log_lines import logged_warnings


@dataclasses.dataclass(frozen=True)
class RowOfText:
    """A text and its label, and the row that they were read from."""

    text: str
    label: str | None
    row: dict | None

    @property
    def texts(self):
        """The text."""
        return [self.text]

    def without_row(self):
        """Returns a copy without the row."""
        return dataclasses.replace(self, row=None)


class RecordingReader(ExampleReader):
    """Lists the files that it reads, with the labels that they may contain.

    Their columns are "text" and "label".
    """

    file_names = MappingProxyType(
        {name: [f"{name}.csv"] for name in ("train", "dev", "test")}
    )
    key_names = ("text",)

    def __init__(self, labels, has_labels):
        self.labels_of_flags = labels
        self.has_labels = has_labels
        self.read_files = []

    def read_file(self, file):
        """Reads the file, and appends it to the list."""
        self.read_files.append((os.path.basename(file.path), file.labels))
        with open(file.path, newline="") as lines:
            rows = [*csv.DictReader(lines)]
        return [
            RowOfText(
                row["text"], row.get("label"), row if file.keeps_rows else None
            )
            for row in rows
        ]

    def collect_labels(self, source, train, dev):
        """Returns the labels of both sets."""
        return sorted({example.label for example in [*train, *dev]})

    def labels_of(self, example):
        """Returns the label."""
        return [example.label]


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
        labels=(),
        has_labels=True,
        warns_of_repetitions=False,
    ):
        return FileSets(
            reader_class(labels, has_labels),
            None if data_file else tmp_path,
            DataFileOptions(data_file=data_file and str(tmp_path / data_file)),
            warns_of_repetitions=warns_of_repetitions,
        )

    return create


@pytest.mark.parametrize("order", [("train", "dev"), ("dev", "train")])
def test_copies_in_two_files_are_counted(
    tmp_path, create_recording, caplog, order
):
    (tmp_path / "train.csv").write_text("text,label\na,x\nb,y\nc,y\n")
    (tmp_path / "dev.csv").write_text("text,label\nA ,x\nC ,y\nd,y\n")
    file_sets = create_recording(warns_of_repetitions=True)
    for set_name in order:
        file_sets.read(set_name)
    (warning,) = logged_warnings(caplog)
    assert "dev.csv: 2 texts" in warning


@pytest.fixture
def rare_labels(tmp_path, create_recording):
    """The sets of a table, each of which has a label that the other lacks."""
    file_sets = create_recording(data_file="table.csv")
    trained, scored = (
        file_sets.read(name)[0].text for name in ("train", "dev")
    )
    with open(tmp_path / "table.csv", "a") as file:
        # A row is in the set of its text.
        file.write(f"\n{trained},only trained\n{scored},only scored\n")
    return create_recording(data_file="table.csv")


def test_labels_of_a_data_file_come_from_both_sets(rare_labels):
    labels = ["only scored", "only trained", "x", "y"]
    assert rare_labels.read_labels() == labels


def test_labels_that_one_set_of_a_data_file_lacks_are_named(
    rare_labels, caplog
):
    caplog.clear()
    rare_labels.read("train")
    (warning,) = logged_warnings(caplog)
    assert "the dev set has none of only trained" in warning
    assert "the train set has none of only scored" in warning
    assert "--data_dir" in warning


def test_the_sizes_and_labels_of_both_sets_are_logged(create_recording, caplog):
    caplog.set_level("INFO")
    file_sets = create_recording(data_file="table.csv")
    train, dev = file_sets.read("train"), file_sets.read("dev")
    assert (
        f"table.csv: {len(train)} examples to train on, {len(dev)} for the dev "
        "set"
    ) in caplog.text
    counts = [
        f"{label} {count_label(train, label)} + {count_label(dev, label)}"
        for label in "xy"
    ]
    assert ", ".join(counts) in caplog.text
    assert not logged_warnings(caplog)


def count_label(examples, label):
    """Returns how many examples have a label."""
    return sum(example.label == label for example in examples)


def test_a_set_is_read_once(create_recording):
    file_sets = create_recording()
    assert file_sets.read("dev") is file_sets.read("dev")


@pytest.mark.parametrize("data_file", [None, "table.csv"])
def test_the_labels_stay_after_the_sets_were_taken(create_recording, data_file):
    file_sets = create_recording(data_file=data_file)
    file_sets.take("train")
    file_sets.take("dev")
    assert file_sets.read_labels() == ["x", "y"]


@pytest.mark.parametrize(
    ("set_names", "read_files"),
    [
        (["train"], [("train.csv", ())]),
        (["dev"], [("train.csv", ()), ("dev.csv", ["x", "y"])]),
        (["train", "dev"], [("train.csv", ()), ("dev.csv", ["x", "y"])]),
        (["dev", "train"], [("train.csv", ()), ("dev.csv", ["x", "y"])]),
        (
            ["test", "dev"],
            [
                ("train.csv", ()),
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
    assert file_sets.reader.read_files == [("table.csv", ())]


def test_labels_of_flags_read_no_file(create_recording):
    file_sets = create_recording(labels=["y", "x"])
    assert file_sets.read_labels() == ["y", "x"]
    assert file_sets.reader.read_files == []
    file_sets.read("dev")
    assert file_sets.reader.read_files == [("dev.csv", ["y", "x"])]


def test_a_regression_has_no_labels_to_read(tmp_path, create_recording):
    (tmp_path / "dev.csv").write_text("text,label\nc,2.5\n")
    file_sets = create_recording(has_labels=False)
    assert file_sets.read_labels() is None
    file_sets.read("dev")
    assert file_sets.reader.read_files == [("dev.csv", ())]


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
        assert example.row == {"text": example.text, "label": example.label}


class WeakReader(RecordingReader):
    """Refers to the examples that it reads, without keeping them in memory."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.references = []

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
