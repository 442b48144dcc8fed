"""Files that are cut into ranges: the same rows, each once."""

import bz2
import gzip
import itertools
import json
import random

import pytest

from data.jobs import file_ranges
from data.jobs.file_ranges import FileRange
from data.tables import table_formats

ENDS = ["\n", "\r\n", "\r", "\n\n"]


def read_ranges(ranges, layout=table_formats.DEFAULT_LAYOUT):
    """Returns (number, row or the text of its error) of ranges."""
    return [
        (number, str(row) if isinstance(row, ValueError) else row)
        for file_range in ranges
        for number, row in file_ranges.read_range(file_range, layout)
    ]


def check_shares(paths, layout=table_formats.DEFAULT_LAYOUT, max_shares=40):
    """Cuts files into shares. Returns the largest number of shares."""
    paths = [*map(str, paths)]
    whole = read_ranges(map(FileRange, paths), layout)
    counts = []
    for number in range(1, max_shares):
        shares = file_ranges.split_files(paths, layout, number)
        assert len(shares) <= number
        assert all(shares)
        counts.append(len(shares))
        ranges = itertools.chain.from_iterable(shares)
        assert read_ranges(ranges, layout) == whole
    return max(counts)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name", ["a.txt", "a.jsonl", "a.log"])
def test_lines_are_read_once_and_keep_their_numbers(tmp_path, name, seed):
    rng = random.Random(seed)
    lines = []
    for number in range(60):
        text = rng.choice(["", "a", "\u4e2d" * 5, "[1]", "x" * 300, " "])
        if name == "a.jsonl" and rng.random() < 0.8:
            text = json.dumps({"text": text, "id": number})
        lines.append(text + rng.choice(ENDS))
    lines[0] = '{"text": "first"}\n' if name == "a.jsonl" else "first\n"
    mark = b"\xef\xbb\xbf" if seed % 2 else b""
    end = b"" if seed % 3 else b"the end"
    path = tmp_path / name
    path.write_bytes(mark + "".join(lines).encode() + b"\xff\n" + end)
    assert check_shares([path]) > 10
    small = tmp_path / "small.txt"
    small.write_text("one\ntwo")
    empty = tmp_path / "empty.txt"
    empty.write_text("")
    assert check_shares([small, empty, path, small]) > 10


@pytest.mark.parametrize(
    "name, contents",
    [
        ("a.csv", b'id,text\n1,"a\nb"\n' * 9),
        ("a.jsonl.gz", gzip.compress(b'{"text": "a"}\n' * 50, mtime=0)),
        ("a.txt", bz2.compress(b"a\n" * 50)),
        ("a.txt", "a\nb\n".encode("utf-16") * 9),
        ("a.json", b'[{"text": "a"},\n{"text": "b"}]'),
        ("a.json", b'{\n"data": [\n{"text": "a"},\n{"text": "b"}]}'),
    ],
)
def test_other_files_are_whole(tmp_path, name, contents):
    path = tmp_path / name
    path.write_bytes(contents)
    shares = file_ranges.split_files(
        [str(path)] * 3, table_formats.DEFAULT_LAYOUT, 20
    )
    assert shares == [[FileRange(str(path))]] * 3
    # Several small files are one share.
    shares = file_ranges.split_files(
        [str(path)] * 3, table_formats.DEFAULT_LAYOUT
    )
    assert shares == [[FileRange(str(path))] * 3]
    assert file_ranges.split_files([], table_formats.DEFAULT_LAYOUT) == [[]]


def test_an_encoding_is_read_from_the_beginning(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes("\u00e9\n".encode("cp1252") * 50)
    assert (
        check_shares(
            [path], table_formats.DEFAULT_LAYOUT._replace(encoding="cp1252")
        )
        == 1
    )


def test_parquet_is_cut_between_groups_of_rows(tmp_path):
    pyarrow = pytest.importorskip(
        "pyarrow", reason="needs requirements/tables.txt"
    )
    from pyarrow import parquet

    table = pyarrow.table({"id": range(95), "text": ["a"] * 95})
    parquet.write_table(table, tmp_path / "a.parquet", row_group_size=10)
    parquet.write_table(table[:7], tmp_path / "b.parquet")
    parquet.write_table(table[:0], tmp_path / "c.parquet")
    paths = [tmp_path / name for name in ("b.parquet", "a.parquet")]
    assert check_shares(paths) == 11
    assert check_shares([tmp_path / "a.parquet"]) == 10
    assert check_shares([tmp_path / "c.parquet", *paths]) == 12


def test_the_size_of_the_input_determines_the_shares(tmp_path):
    path = tmp_path / "a.txt"
    counts = []
    for megabytes in (0.1, 0.6, 2, 9, 40):
        path.write_bytes(b"the harbor\n" * int(megabytes * 2**20 / 11))
        shares = file_ranges.split_files(
            [str(path)], table_formats.DEFAULT_LAYOUT
        )
        counts.append(len(shares))
    assert counts == [1, 2, 7, 8, 9]


def test_a_long_line_is_in_one_range(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"x" * 3_000_000 + b"\r" + b"y" * 2_000_000 + b"\nend")
    assert check_shares([path], max_shares=9) == 2
