"""The rows of Parquet files, their types, and damaged files."""

import numpy as np
import pytest

from data.tables.tables import Table, read_rows, read_table
from tests.support.tables.table_rows import write_table


@pytest.fixture
def pyarrow():
    """The module pyarrow, with its pyarrow.parquet."""
    reason = "needs requirements/tables.txt"
    pytest.importorskip("pyarrow.parquet", reason=reason)
    return pytest.importorskip("pyarrow", reason=reason)


PARQUET_ROWS = [
    {"n": 1.5, "text": "a", "label": 1, "words": ["b", "c"]},
    {"n": 0.5, "text": "d", "label": None, "words": None},
] * 300


@pytest.fixture
def parquet_file(pyarrow, tmp_path):
    """A file of PARQUET_ROWS and a row that contains no number."""
    last = {"n": np.nan, "text": "", "label": 1, "words": []}
    table = pyarrow.Table.from_pylist([*PARQUET_ROWS, last])
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet")
    return tmp_path / "a.parquet"


def test_the_rows_of_a_parquet_file_have_the_types_of_python(parquet_file):
    actual = [*read_rows(parquet_file)]
    assert [number for number, _ in actual] == [*range(1, 602)]
    assert actual[0][1] == PARQUET_ROWS[0]
    last = {"n": None, "text": "", "label": 1, "words": []}
    assert actual[-1][1] == last


def test_a_large_number_of_a_parquet_file_stays_exact(pyarrow, tmp_path):
    table = pyarrow.table({"id": np.array([2**63], np.uint64)})
    pyarrow.parquet.write_table(table, tmp_path / "ids.parquet")
    assert [*read_rows(tmp_path / "ids.parquet")] == [(1, {"id": 2**63})]


@pytest.mark.parametrize(
    ("column", "culprit"), [("q", "'q'"), ("label", "line 1, column 'label'")]
)
def test_a_column_of_a_parquet_file_must_be_text(parquet_file, column, culprit):
    with pytest.raises(ValueError, match=culprit):
        next(read_table(Table(parquet_file), [column]))


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: b"a,b\n1,2\n",
        lambda content: content[:500],
    ],
)
def test_a_damaged_parquet_file_is_named(parquet_file, tmp_path, damage):
    broken = damage(parquet_file.read_bytes())
    with pytest.raises(
        ValueError, match=r"b\.parquet: Parquet (file size|magic bytes)"
    ):
        next(read_rows(write_table(tmp_path / "b.parquet", broken)))


def test_a_missing_parquet_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"No such file .*c\.parquet"):
        next(read_rows(tmp_path / "c.parquet"))


def test_cells_of_parquet_that_python_lacks_are_text(pyarrow, tmp_path):
    late = pyarrow.array([2**55, None], pyarrow.timestamp("ms"))
    exact = pyarrow.array([1, None], pyarrow.timestamp("ns"))
    table = pyarrow.Table.from_arrays([late, exact, exact], [*"abb"])
    path = tmp_path / "a.parquet"
    pyarrow.parquet.write_table(table, path)
    (_, first), (_, second) = read_rows(path)
    assert [*first] == ["a", "b", "b.1"]
    assert str(first["b"]) == "1970-01-01 00:00:00.000000001"
    assert second == {"a": None, "b": None, "b.1": None}
