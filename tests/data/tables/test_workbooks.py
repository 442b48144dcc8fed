"""Excel workbooks: the sheet, the cells as texts, and what cannot be read."""

import sys

import pytest

from data.tables.table_layout import TableLayout
from data.tables.tables import Table, read_rows, read_table
from tests.support.log_lines import logged_warnings
from tests.support.tables import workbooks

pytest.importorskip("python_calamine", reason="needs requirements/tables.txt")

NAMES = ["id", "text", "label"]


def read_sheet(path, **layout):
    return [*read_rows(path, TableLayout(**{"has_header": None} | layout))]


def test_cells_are_texts_as_in_csv(tmp_path):
    rows = [
        NAMES,
        [7, 'a "b"\nc', True],
        [0.5, "007", None],
        [-1e15, "NA", "x"],
    ]
    path = workbooks.write_workbook(tmp_path / "A.XLSX", {"Data": rows})
    assert read_sheet(path) == [
        (2, {"id": "7", "text": 'a "b"\nc', "label": "TRUE"}),
        (3, {"id": "0.5", "text": "007", "label": ""}),
        (4, {"id": "-1000000000000000", "text": "NA", "label": "x"}),
    ]
    row, *_ = read_table(Table(path), ["text"], ["label"])
    assert (row.row_number, row.cells["id"]) == (2, "7")
    assert row.place == f"{path}, line 2"


@pytest.fixture
def workbook(tmp_path):
    """Path of a workbook with a hidden sheet and two others."""
    sheets = {"old": [["a"]], "new": [["text"], ["b"]], "c": [["text"], ["d"]]}
    return workbooks.write_workbook(tmp_path / "a.xlsx", sheets, hidden=["old"])


def test_the_first_sheet_that_is_not_hidden_is_read(workbook, caplog):
    caplog.set_level("INFO", logger="absl")
    assert read_sheet(workbook) == [(2, {"text": "b"})]
    assert "'new'" in caplog.text
    assert "--sheet" in caplog.text


def test_the_sheet_of_the_flag_is_read(workbook):
    assert read_sheet(workbook, sheet="c") == [(2, {"text": "d"})]


def test_a_missing_sheet_is_named_with_those_of_the_workbook(workbook):
    with pytest.raises(ValueError, match="'d'; the sheets are 'old', 'new'"):
        read_sheet(workbook, sheet="d")


def test_the_first_shown_sheet_that_contains_cells_is_read(tmp_path):
    rows = [["text", "label"], ["A boat", "sea"]]
    sheets = {"front": [], "old": [NAMES], "data": rows, "more": [NAMES]}
    path = workbooks.write_workbook(tmp_path / "a.xlsx", sheets, hidden=["old"])
    assert read_sheet(path) == [(2, {"text": "A boat", "label": "sea"})]
    assert [*read_rows(path, TableLayout(sheet="front"))] == []


def test_empty_rows_are_counted(tmp_path, caplog):
    rows = [[], ["text"], ["a"], [None], [""], ["b"], [""]]
    path = workbooks.write_workbook(tmp_path / "a.xlsx", {"s": rows})
    assert read_sheet(path) == [(3, {"text": "a"}), (6, {"text": "b"})]
    (warning,) = logged_warnings(caplog)
    assert "2 empty rows" in warning
    assert "row 4" in warning


def test_a_formula_without_a_value_is_named(tmp_path):
    rows = [NAMES, [("1+1", 2), ('IF(1,"")', ""), ('"x"', "x")]]
    path = workbooks.write_workbook(tmp_path / "a.xlsx", {"s": rows})
    assert read_sheet(path) == [(2, {"id": "2", "text": "", "label": "x"})]
    rows[1][1] = b'"a"&amp;"b"'
    workbooks.write_workbook(path, {"s": rows})
    with pytest.raises(ValueError, match="the cell B2 of the sheet 's'"):
        read_sheet(path)
    # In a sheet that is not read, it does not matter.
    workbooks.write_workbook(path, {"r": [["text"], ["a"]], "s": rows})
    assert read_sheet(path) == [(2, {"text": "a"})]


def test_a_title_above_the_names_is_named(tmp_path):
    rows = [["Export of May"], NAMES, [1, "a", "x"], [2, "b", "y"]]
    path = workbooks.write_workbook(tmp_path / "a.xlsx", {"s": rows})
    with pytest.raises(ValueError, match="'Export of May', seems to be a"):
        read_sheet(path)


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: b"text,label\n",
        lambda data: data[:300],
        lambda data: data[:-30],
    ],
)
def test_a_damaged_workbook_is_named(tmp_path, damage):
    path = workbooks.write_workbook(
        tmp_path / "a.xlsx", {"s": [NAMES, [1, "a", "x"]]}
    )
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(ValueError, match=r"a\.xlsx is a damaged Excel"):
        read_sheet(path)


def test_a_workbook_that_is_named_as_csv_is_refused(tmp_path):
    path = workbooks.write_workbook(
        tmp_path / "a.xlsx", {"s": [NAMES, [1, "a", "x"]]}
    )
    with pytest.raises(ValueError, match="Excel workbook"):
        read_sheet(path.rename(tmp_path / "a.csv"))


def test_without_the_package_one_sentence_says_so(tmp_path, monkeypatch):
    path = workbooks.write_workbook(tmp_path / "a.xlsx", {"s": [NAMES]})
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with pytest.raises(ValueError, match=r"tables\.txt.*CSV UTF-8"):
        read_sheet(path)
