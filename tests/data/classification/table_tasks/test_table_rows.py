"""The rows of a table, their numbers, and the log of those left out."""

import pytest

from data.classification.table_tasks.table_rows import (
    RowCounts,
    read_labeled_rows,
)
from data.tables.table_layout import TableLayout
from data.tables.tables import Table
from tests.support.tables.table_rows import write_table


@pytest.fixture
def read(tmp_path):
    """(data, label_columns, may_lack) -> rows of a table of texts."""

    def read(data, label_columns=("label",), may_lack=False):
        path = write_table(tmp_path / "train.csv", data)
        layout = TableLayout(has_header=None)
        rows = read_labeled_rows(
            Table(path, layout),
            ["text"],
            label_columns,
            may_lack_labels=may_lack,
        )
        return [*rows]

    return read


def test_rows_are_numbered_as_a_spreadsheet_does(read):
    rows = read("text,label\na,x\nb,y\n")
    assert [row.spreadsheet_number for row in rows] == [2, 3]
    assert rows[1].where.endswith("train.csv, line 3")
    assert rows[1].cells == {"text": "b", "label": "y"}


def test_only_some_sets_may_lack_the_labels(read):
    with pytest.raises(ValueError, match="'label'"):
        read("text\na\n")
    (row,) = read("text\na\n", may_lack=True)
    assert row.cells == {"text": "a"}


def test_rejected_rows_are_left_out(read):
    rows = read("text,label,answer\na,x,accept\nb,y,reject\n")
    assert [row.cells["text"] for row in rows] == ["a"]


def test_the_log_counts_what_rows_lack(caplog):
    counts = RowCounts(num_respelled=3)
    counts.left_out["text"] += 2
    counts.left_out["a label"] += 1
    counts.log("train.csv")
    line = (
        "train.csv: 2 rows without text left out, 1 rows without a label "
        "left out"
    )
    assert line in caplog.messages


def test_nothing_is_logged_of_a_set_that_is_complete(caplog):
    RowCounts().log("train.csv")
    assert not caplog.messages
