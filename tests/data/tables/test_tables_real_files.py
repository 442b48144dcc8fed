"""Tables as programs and people write them, with their right rows.

The files in testdata/tables are short examples of what spreadsheets, pandas,
Spark, the hub and annotation tools write. The name of a file says what is odd
about it. truth.jsonl has what a reader finds in it: the names of the columns,
the number of rows and a cell, or the error, which is a ValueError unless it has
another type in `raises`.
"""

import builtins
import json
from pathlib import Path

import pytest

from tests.support.tables.table_rows import read_file_rows

TABLES = Path(__file__).parents[2] / "testdata" / "tables"
TRUTH = [
    json.loads(line)
    for line in (TABLES / "truth.jsonl").read_text(encoding="utf-8").split("\n")
    if line
]


def check_rows(rows, truth):
    """Compares the names of the columns, the number of rows and a cell."""
    assert len(rows) == truth["rows"]
    keys = [getattr(key, "name", key) for key in rows[0]]
    assert keys == (truth["names"] or [str(i + 1) for i in range(len(keys))])
    number, column, text = truth["cell"]
    cell = [*rows[number].values()][column]
    assert text in cell if truth.get("is_part") else cell == text


def tables_where(condition):
    """Returns a mark that runs a test for each table of a condition."""
    chosen = [truth for truth in TRUTH if condition(truth)]
    files = [truth["file"] for truth in chosen]
    return pytest.mark.parametrize("truth", chosen, ids=files)


@tables_where(lambda truth: "error" not in truth)
def test_a_table_is_read_right(truth):
    check_rows(read_file_rows(TABLES / truth["file"]), truth)


@tables_where(lambda truth: "error" in truth)
def test_a_table_that_could_be_read_wrong_is_refused(truth):
    error = getattr(builtins, truth.get("raises", "ValueError"))
    with pytest.raises(error, match=truth["error"]):
        read_file_rows(TABLES / truth["file"])


@tables_where(lambda truth: "flags" in truth)
def test_a_refused_table_is_read_right_with_its_flag(truth):
    check_rows(read_file_rows(TABLES / truth["file"], **truth["flags"]), truth)


def test_no_table_is_left_out():
    files = {path.name for path in TABLES.iterdir()}
    assert {truth["file"] for truth in TRUTH} == files - {"truth.jsonl"}


def test_most_tables_need_no_flag():
    needs_flag = ["flags" in truth for truth in TRUTH]
    assert sum(needs_flag) < len(TRUTH) / 4
