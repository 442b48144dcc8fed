"""Rows of a range of a file. test_file_splitting.py cuts files into ranges."""

from data.jobs.file_ranges import FileRange, read_range
from data.tables.table_layout import DEFAULT_LAYOUT


def test_a_range_of_lines_is_read_from_its_start_to_its_end(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("one\ntwo\nthree\n")
    file_range = FileRange(
        str(path), "text", start=4, end=8, first_row_number=2
    )
    assert [*read_range(file_range, DEFAULT_LAYOUT)] == [(2, {"text": "two"})]


def test_a_range_of_json_lines_has_the_numbers_of_its_rows(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"id": 1}\n{"id": 2}\n')
    file_range = FileRange(
        str(path), "jsonl", start=10, end=20, first_row_number=2
    )
    assert [*read_range(file_range, DEFAULT_LAYOUT)] == [(2, {"id": 2})]


def test_a_range_without_a_kind_is_the_whole_file(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("id,text\n1,a\n")
    rows = [*read_range(FileRange(str(path)), DEFAULT_LAYOUT)]
    assert rows == [(2, {"id": "1", "text": "a"})]
