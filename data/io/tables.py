"""Reads tables row by row: CSV, TSV, JSON lines, Parquet and plain text.

Training and predict.py both use this reader. Text is UTF-8, with or without a
byte-order mark, and the file may be compressed with gzip (`.gz`). A table of
any size needs only the memory of a few rows. Errors name the file and the line.
"""

import csv
import dataclasses
import difflib
import itertools
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from absl import logging

from command_line import flags
from command_line.installation import install_command
from data.io import text_files
from files.json_files import parse_json
from files.paths import StrPath

# {ending of a file's name: format of the table}.
ENDINGS = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".txt": "text",
}
FORMS = tuple(dict.fromkeys(ENDINGS.values()))
# Values of --delimiter.
DELIMITERS = (",", ";", "tab")
# Matches the first line of JSON lines, and of a file that is one JSON list,
# which is an error. Does not match a text that begins with [MASK].
_JSON = re.compile(r"\s*(\{|\[\s*([\"{]|$))")

# What Prodigy's column `answer` says of the label of a row.
DECISIONS = ("accept", "reject", "ignore")

# A row: (number of its first line, {column: cell}). If the row is malformed, a
# ValueError replaces the dict.
Row = tuple[int, dict[str, Any] | ValueError]
# A tuple whose last element is a row, {column: cell}.
Placed = TypeVar("Placed", bound=tuple)


class Repeated(str):
    """Key of a column whose name an earlier column of the table has too.

    The key is the name and a number, such as "Labels.1", so that a row keeps
    the cells of both columns.

    Attributes:
        name: the name in the file.
    """

    name: str

    def __new__(cls, name: str, taken: Collection[str]) -> "Repeated":
        """Creates the first key `name.1`, `name.2` that is not in `taken`."""
        keys = (f"{name}.{number}" for number in itertools.count(1))
        key = super().__new__(cls, next(x for x in keys if x not in taken))
        key.name = name
        return key


class Layout(NamedTuple):
    """The format, quotes, delimiter and header of a table.

    Attributes:
        form: one of FORMS. None = the ending of the file's name decides. For
            other endings, the first line decides: JSON lines if it begins with
            `{`, else plain text.
        quoting: whether `"` quotes cells of CSV and TSV, as spreadsheets write
            them. If False, `"` is an ordinary character.
        delimiter: character between cells of CSV and TSV, one of DELIMITERS.
            None = a tab in TSV. In CSV, it is the comma, semicolon or tab that
            the first line contains.
        has_header: whether the first line of CSV and TSV names the columns. If
            False, their names are "1", "2" and so on.
    """

    form: str | None = None
    quoting: bool = True
    delimiter: str | None = None
    has_header: bool = True


_DEFAULT = Layout()


@dataclasses.dataclass(frozen=True, kw_only=True)
class LayoutOptions:
    """Flags of scripts that read tables: the layout of CSV and TSV."""

    quoting: bool = flags.training(
        True,
        'In CSV and TSV files, treat " as the quote around a cell, not as an '
        "ordinary character.",
    )
    delimiter: str | None = flags.training(
        None,
        "Character between the cells of CSV and TSV. By default, it is a tab "
        "in TSV. In CSV, it is the comma, semicolon or tab that the header "
        "line contains. CSV without a header line needs this flag.",
        choices=DELIMITERS,
    )


def form_of(path: StrPath) -> str | None:
    """Returns the format of the ending of a file's name, or None. Skips .gz."""
    name = str(path).removesuffix(".gz")
    return next((ENDINGS[end] for end in ENDINGS if name.endswith(end)), None)


class Table:
    """A table whose file is opened once, to look at its columns and to read it.

    Args:
        path: path of the file.
        layout: how the table is written.

    Attributes:
        path: path of the file.
        layout: how the table is written.
    """

    def __init__(self, path: StrPath, layout: Layout = _DEFAULT) -> None:
        self.path = path
        self.layout = layout
        self._rows = read_rows(path, layout)

    def columns(self) -> list[str]:
        """Returns the names of the columns of the first row, [] without rows.

        Raises:
            OSError: the file cannot be read.
            ValueError: the first row is malformed.
        """
        for number, row in self._rows:
            if isinstance(row, ValueError):
                raise ValueError(f"{self.path}, line {number}: {row}")
            self._rows = itertools.chain([(number, row)], self._rows)
            return [*row]
        return []

    def read(self) -> Iterator[Row]:
        """Yields the rows as `read_rows` does. Call it once."""
        return self._rows


def read_table(
    table: Table,
    text_columns: Sequence[str],
    columns: Sequence[str] = (),
    may_lack: bool = False,
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields (where, row) of a table. Fails at a malformed row.

    Each row has a text in each of the `text_columns`, "" for an empty cell, and
    a cell in the other `columns`. `where` names the file and the line. If
    `may_lack`, a column that only the first row has is empty in the others.
    Raises the errors of `read_rows`, and a ValueError for a row.
    """
    known: set[str] = set()
    for number, row in table.read():
        where = f"{table.path}, line {number}"
        if isinstance(row, ValueError):
            raise ValueError(f"{where}: {row}")
        for column in known:
            row.setdefault(column, None)
        check_columns(where, row, text_columns)
        check_columns(where, row, columns)
        for column in text_columns:
            if row[column] is None:
                row[column] = ""
            if not isinstance(row[column], str):
                raise ValueError(
                    f"{where}, column {column!r}: the text must be a string. "
                    f"Received: {str(row[column])[:80]}"
                )
        if may_lack:
            known = {*text_columns, *columns}
        yield where, row


def check_columns(
    where: str, columns: Collection[str], needed: Iterable[str]
) -> None:
    """Raises a ValueError if a needed column is missing, or occurs twice.

    `where` is the beginning of the message.
    """
    repeated = {key.name for key in columns if isinstance(key, Repeated)}
    for column in needed:
        if column in repeated:
            raise ValueError(
                f"{where}: two columns are named {column!r}. Rename one of "
                "them, or choose another column"
            )
        if column not in columns:
            near = difflib.get_close_matches(column, columns, 1)
            hint = f". Did you mean {near[0]!r}?" if near else ""
            raise ValueError(
                f"{where}: there is no column {column!r}; the columns are "
                f"{', '.join(map(repr, columns))}{hint}"
            )


def accepted_rows(
    path: StrPath, rows: Iterable[Placed], named: Collection[str] = ()
) -> Iterator[Placed]:
    """Yields the rows that an annotator accepted in Prodigy.

    Prodigy writes its decision into the column `answer`. If its cells are
    "accept", "reject" or "ignore", the rejected and ignored rows are left out,
    and their number is logged. Rows from elsewhere, whose cell is empty, stay.
    If a cell is anything else, all rows are yielded.

    Args:
        path: the file, for the log.
        rows: tuples that end with a row, {column: cell}.
        named: columns that the flags name, which keep their own meaning.
    """
    rows = iter(rows)
    first = [*itertools.islice(rows, 1)]
    rows = itertools.chain(first, rows)
    if "answer" in named or not all("answer" in x[-1] for x in first):
        yield from rows
        return
    every = [*rows]
    answers = [each[-1].get("answer") for each in every]
    is_prodigy = all(x in (None, "", *DECISIONS) for x in answers)
    left_out = 0
    for each, answer in zip(every, answers, strict=True):
        if is_prodigy and answer in ("reject", "ignore"):
            left_out += 1
        else:
            yield each
    if left_out:
        logging.warning(
            "%s: %d rows left out, because their `answer` is not accept",
            path,
            left_out,
        )


def add_answer(
    row: Mapping[str, Any], answer: Mapping[str, Any]
) -> dict[str, Any]:
    """Returns a row of a table, and beside it an answer.

    A field of the answer begins with `predicted_` if the row has its name.
    """

    def has(name: str, value: object) -> bool:
        # In CSV, {"a": {"b": 1}} is the column a.b.
        inner = value if isinstance(value, dict) else ()
        return name in row or any(f"{name}.{key}" in row for key in inner)

    return {**row} | {
        f"predicted_{name}" if has(name, value) else name: value
        for name, value in answer.items()
    }


def read_rows(path: StrPath, layout: Layout = _DEFAULT) -> Iterator[Row]:
    """Yields each row of a table, or an error for a malformed row.

    Args:
        path: path of a file, or text_files.STDIN.
        layout: how the table is written.

    Yields:
        (number of the row's first line, row). `row` is {column: cell}, or a
        ValueError if the row is malformed. The only column of plain text is
        `text`. Blank lines are rows only there. If a name of CSV or TSV is
        repeated, the key of the later column is a `Repeated`. NaN becomes
        None, an empty cell.

    Raises:
        OSError: the file cannot be read.
        ValueError: an unclosed quote spans several lines, or nothing tells the
            delimiter of CSV.
    """
    form = layout.form or form_of(path)
    if form == "parquet":
        yield from _read_parquet(path)
        return
    lines = text_files.split_lines(path)
    # The first line that is not blank tells the format and the columns.
    first = []
    for numbered in lines if form != "text" else ():
        first.append(numbered)
        if numbered[1].strip():
            break
    head = first[-1][1] if first else ""
    lines = itertools.chain(first, lines)
    form = form or ("jsonl" if _JSON.match(head) else "text")
    if form in ("csv", "tsv"):
        mark = layout.delimiter or ("tab" if form == "tsv" else "")
        mark = mark or _find_delimiter(str(path), head, layout)
        mark = "\t" if mark == "tab" else mark
        yield from _read_separated(path, lines, mark, layout)
        return
    for number, line in lines:
        try:
            text_files.check_utf8(line)
            if form == "text":
                yield number, {"text": line.rstrip("\r\n")}
            elif line.strip():
                row = parse_json(line, "the row", may_be_infinite=True)
                yield number, _without_nan(row)
        except ValueError as error:
            yield number, error


def _find_delimiter(path: str, head: str, layout: Layout) -> str:
    # A text in the first row may contain a separator. A column's name hardly
    # does.
    names = re.sub('"[^"]*"', "", head) if layout.quoting else head
    marks = [mark for mark in ",;\t" if mark in names]
    if not layout.has_header or len(marks) > 1:
        raise ValueError(
            f"{path}: set --delimiter to the character between the cells, one "
            f"of {' '.join(DELIMITERS)}. The first line is {head[:80]!r}"
        )
    return marks[0] if marks else ","


def _read_separated(
    path: StrPath,
    lines: Iterable[tuple[int, str]],
    delimiter: str,
    layout: Layout,
) -> Iterator[Row]:
    # A cell may be a whole document, longer than csv's 131,072 characters.
    csv.field_size_limit(2**31 - 1)
    reader = csv.reader(
        (line for _, line in lines),
        delimiter=delimiter,
        quoting=csv.QUOTE_MINIMAL if layout.quoting else csv.QUOTE_NONE,
        strict=True,
    )
    names: list[str] = []
    keys: list[str] = []
    while True:
        # A quoted cell may span lines. Number the row by its first line.
        number = reader.line_num + 1
        try:
            row = next(reader, None)
        except csv.Error as error:
            unclosed = (
                f"{error}. Close the quote, or set --noquoting if quotes are "
                "ordinary characters in this table"
            )
            # Stop if the malformed row spans several lines, because an unclosed
            # quote hides where the next row begins.
            if reader.line_num > number or (layout.has_header and not names):
                raise ValueError(f"{path}, line {number}: {unclosed}") from None
            yield number, ValueError(unclosed)
            continue
        if row is None:
            return
        if not row:
            continue
        if layout.has_header and not names:
            names = row
            keys = _unique(names)
            continue
        try:
            _check_row(row, names, delimiter)
        except ValueError as error:
            yield number, ValueError(f"{error}. Received: {row}"[:300])
            continue
        columns = keys or map(str, range(1, len(row) + 1))
        yield number, dict(zip(columns, row, strict=True))


def _unique(names: Sequence[str]) -> list[str]:
    # Replaces each name that an earlier column has by a Repeated.
    keys: list[str] = []
    for name in names:
        taken = {*names, *keys}
        keys.append(Repeated(name, taken) if name in keys else name)
    return keys


def _without_nan(row: dict[str, Any]) -> dict[str, Any]:
    # NaN is an empty cell, as in pandas.
    return {k: v if v == v else None for k, v in row.items()}


def _check_row(row: list[str], names: list[str], delimiter: str) -> None:
    last = len(row) - 1
    if names and len(row) != len(names):
        raise ValueError(
            f"the line has {len(row)} columns, but the first line has "
            f"{len(names)}"
        )
    if row == names and len(names) > 1:
        raise ValueError("the line repeats the names of the columns. Remove it")
    # csv reads a stray quote in each of two rows as one cell, with as many tabs
    # as rows have:  a<TAB>"b  c<TAB>d  e<TAB>f"
    if delimiter == "\t" and any(
        cell.count("\t") == (len(cell.splitlines()) - 1) * last > 0
        for cell in row
    ):
        raise ValueError(
            "a quoted cell contains the next lines of the table. If quotes are "
            "ordinary characters here, set --noquoting. Otherwise replace the "
            "tabs in the cell by spaces"
        )
    text_files.check_utf8("".join(row))


def _read_parquet(path: StrPath) -> Iterator[Row]:
    try:
        # An optional package.
        import pyarrow.parquet
    except ImportError:
        raise ValueError(
            f"{path} needs pyarrow: {install_command('pyarrow')}"
        ) from None
    with text_files.open_binary(path) as file:
        try:
            table = pyarrow.parquet.ParquetFile(file)
        except pyarrow.ArrowException as error:
            raise ValueError(f"{path}: {error}") from error
        number = 0
        for batch in table.iter_batches(256):
            keys = _unique(batch.schema.names)
            columns = [_parquet_cells(column) for column in batch.columns]
            for cells in zip(*columns, strict=True):
                number += 1
                row = dict(zip(keys, cells, strict=True))
                yield number, _without_nan(row)


def _parquet_cells(column: Any) -> list[Any]:  # noqa: ANN401  pyarrow is optional
    try:
        return column.to_pylist()
    except (ValueError, OverflowError):
        # Python's dates have no nanoseconds, and end with the year 9999.
        return column.cast("string").to_pylist()
