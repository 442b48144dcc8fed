"""Files that are cut into ranges: the same rows, each once."""

import bz2
import gzip
import itertools
import json
import random

import pytest

from data.tables.file_ranges import FileRange, read_range, split_files
from data.tables.table_layout import DEFAULT_LAYOUT

ENDS = ["\n", "\r\n", "\r", "\n\n"]


def read_ranges(ranges, layout=DEFAULT_LAYOUT):
    """Returns (number, row or the text of its error) of ranges."""
    return [
        (number, str(row) if isinstance(row, ValueError) else row)
        for file_range in ranges
        for number, row in read_range(file_range, layout)
    ]


def read_whole(paths, layout=DEFAULT_LAYOUT):
    """Returns what `read_ranges` returns of files that are not cut."""
    return read_ranges([FileRange(str(path)) for path in paths], layout)


def split_paths(paths, max_parts, layout=DEFAULT_LAYOUT):
    """Cuts files into at most so many parts, and returns the parts."""
    return split_files([*map(str, paths)], layout, max_parts)


def read_parts(parts, layout=DEFAULT_LAYOUT):
    """Returns what `read_ranges` returns of all parts, one after the other."""
    return read_ranges(itertools.chain.from_iterable(parts), layout)


def write_odd_lines(path, seed):
    """Writes lines of many lengths and endings, one of wrong bytes."""
    rng = random.Random(seed)
    lines = []
    for number in range(60):
        text = rng.choice(["", "a", "\u4e2d" * 5, "[1]", "x" * 300, " "])
        if path.suffix == ".jsonl" and rng.random() < 0.8:
            text = json.dumps({"text": text, "id": number})
        lines.append(text + rng.choice(ENDS))
    lines[0] = '{"text": "first"}\n' if path.suffix == ".jsonl" else "first\n"
    mark = b"\xef\xbb\xbf" if seed % 2 else b""
    end = b"" if seed % 3 else b"the end"
    path.write_bytes(mark + "".join(lines).encode() + b"\xff\n" + end)


for_each_seed = pytest.mark.parametrize("seed", range(6))
for_each_name = pytest.mark.parametrize("name", ["a.txt", "a.jsonl", "a.log"])


@for_each_seed
@for_each_name
def test_lines_are_read_once_and_keep_their_numbers(tmp_path, name, seed):
    write_odd_lines(tmp_path / name, seed)
    whole = read_whole([tmp_path / name])
    for max_parts in range(1, 40):
        parts = split_paths([tmp_path / name], max_parts)
        assert read_parts(parts) == whole


@for_each_seed
@for_each_name
def test_lines_of_several_files_are_read_once(tmp_path, name, seed):
    write_odd_lines(tmp_path / name, seed)
    (tmp_path / "small.txt").write_text("one\ntwo")
    (tmp_path / "empty.txt").write_text("")
    names_read = ("small.txt", "empty.txt", name, "small.txt")
    paths = [tmp_path / name_read for name_read in names_read]
    whole = read_whole(paths)
    for max_parts in range(1, 40):
        assert read_parts(split_paths(paths, max_parts)) == whole


@for_each_name
def test_a_small_file_of_lines_is_cut_as_well(tmp_path, name):
    write_odd_lines(tmp_path / name, seed=0)
    assert 10 < len(split_paths([tmp_path / name], 39)) <= 39


@for_each_name
def test_no_part_is_without_a_range(tmp_path, name):
    write_odd_lines(tmp_path / name, seed=0)
    for max_parts in range(1, 40):
        assert all(split_paths([tmp_path / name], max_parts))


@pytest.mark.parametrize(
    ("name", "contents"),
    [
        ("a.csv", b'id,text\n1,"a\nb"\n' * 9),
        ("a.jsonl.gz", gzip.compress(b'{"text": "a"}\n' * 50, mtime=0)),
        ("a.txt", bz2.compress(b"a\n" * 50)),
        ("a.txt", "a\nb\n".encode("utf-16") * 9),
        ("a.json", b'[{"text": "a"},\n{"text": "b"}]'),
        ("a.json", b'{\n"data": [\n{"text": "a"},\n{"text": "b"}]}'),
    ],
)
def test_files_that_cannot_be_cut_are_one_range(tmp_path, name, contents):
    path = tmp_path / name
    path.write_bytes(contents)
    parts = split_files([str(path)] * 3, DEFAULT_LAYOUT, 20)
    assert parts == [[FileRange(str(path))]] * 3
    # Several small files are one part.
    parts = split_files([str(path)] * 3, DEFAULT_LAYOUT)
    assert parts == [[FileRange(str(path))] * 3]
    assert split_files([], DEFAULT_LAYOUT) == [[]]


def test_an_encoding_is_read_from_the_beginning(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes("\u00e9\n".encode("cp1252") * 50)
    layout = DEFAULT_LAYOUT._replace(encoding="cp1252")
    parts = split_paths([path], 39, layout)
    assert len(parts) == 1
    assert read_parts(parts, layout) == read_whole([path], layout)


def test_parquet_is_cut_between_groups_of_rows(tmp_path):
    pyarrow = pytest.importorskip(
        "pyarrow", reason="needs requirements/tables.txt"
    )
    from pyarrow import parquet

    table = pyarrow.table({"id": range(95), "text": ["a"] * 95})
    parquet.write_table(table, tmp_path / "a.parquet", row_group_size=10)
    parquet.write_table(table[:7], tmp_path / "b.parquet")
    parquet.write_table(table[:0], tmp_path / "c.parquet")
    names_read = ("c.parquet", "b.parquet", "a.parquet")
    paths = [tmp_path / name for name in names_read]
    parts = split_paths(paths, 39)
    # 1 of the empty file, 1 of the small file and 10 of the others.
    assert len(parts) == 12
    assert read_parts(parts) == read_whole(paths)


def test_the_size_of_the_input_determines_the_shares(tmp_path):
    path = tmp_path / "a.txt"
    counts = []
    for megabytes in (0.1, 0.6, 2, 9, 40):
        path.write_bytes(b"the harbor\n" * int(megabytes * 2**20 / 11))
        parts = split_files([str(path)], DEFAULT_LAYOUT)
        counts.append(len(parts))
    assert counts == [1, 2, 7, 8, 9]


def test_a_long_line_is_in_one_range(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"x" * 3_000_000 + b"\r" + b"y" * 2_000_000 + b"\nend")
    parts = split_paths([path], 8)
    assert len(parts) == 2
    assert read_parts(parts) == read_whole([path])


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
