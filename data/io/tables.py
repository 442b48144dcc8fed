"""Reads tables row by row: CSV, TSV, JSON lines, Parquet and plain text.

Training and predict.py both use this reader. Text is UTF-8, with or without a
byte-order mark, and the file may be compressed with gzip (`.gz`). A table of
any size needs only the memory of a few rows. Errors name the file and the line.
"""

import csv
import itertools
import re
from collections.abc import Iterator, Sequence
from typing import Any

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

# A row: (number of its first line, {column: cell}). If the row is malformed, a
# ValueError replaces the dict.
Row = tuple[int, dict[str, Any] | ValueError]
# A list with one entry for each required column. The entry lists the names
# that the column may have.
Needed = Sequence[Sequence[str]]


def form_of(path: StrPath) -> str | None:
    """Returns the format of the ending of a file's name, or None. Skips .gz."""
    name = str(path).removesuffix(".gz")
    return next((ENDINGS[end] for end in ENDINGS if name.endswith(end)), None)


def read_table(
    path: StrPath,
    text_columns: Sequence[str],
    columns: Sequence[str] = (),
    optional_columns: Sequence[str] = (),
    quoting: bool = True,
    delimiter: str | None = None,
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields (where, row) of a table. Fails at a malformed row.

    The cells of `text_columns` are text. `where` names the file and the line.
    Raises the errors of `read_rows`, and a ValueError for a row.
    """
    needed = [[name] for name in (*text_columns, *columns)]
    rows = read_rows(path, needed, optional_columns, None, quoting, delimiter)
    for number, row in rows:
        where = f"{path}, line {number}"
        if isinstance(row, ValueError):
            raise ValueError(f"{where}: {row}")
        for column in text_columns:
            if not isinstance(row[column], str):
                raise ValueError(
                    f"{where}, column {column!r}: the text must be a string. "
                    f"Received: {str(row[column])[:80]}"
                )
        yield where, row


def read_rows(
    path: StrPath,
    needed: Needed = (),
    optional: Sequence[str] = (),
    form: str | None = None,
    quoting: bool = True,
    delimiter: str | None = None,
) -> Iterator[Row]:
    """Yields each row of a table, or an error for a malformed row.

    The first line of CSV and TSV names the columns. But if the requested
    columns are numbers, where 1 is the first column, the first line is data.

    Args:
        path: path of a file, or text_files.STDIN.
        needed: columns that must exist, each as a list of the names that the
            column may have.
        optional: names of other columns to read.
        form: one of FORMS. None = the ending of the file's name decides. For
            other endings, the first line decides: JSON lines if it begins with
            `{`, else plain text.
        quoting: whether `"` quotes cells of CSV and TSV, as spreadsheets write
            them. If False, `"` is an ordinary character.
        delimiter: character between cells of CSV and TSV, one of DELIMITERS.
            None = a tab in TSV. In CSV, it is the comma, semicolon or tab that
            the first line contains.

    Yields:
        (number of the row's first line, row). `row` is {column: cell}, or a
        ValueError if the row is malformed. The dict contains the requested
        columns, or all columns if none are requested or the rows are JSON. The
        only column of plain text is `text`. Blank lines are rows only there.

    Raises:
        OSError: the file cannot be read.
        ValueError: a column is missing, an unclosed quote spans several lines,
            or nothing tells the delimiter of CSV.
    """
    form = form or form_of(path)
    if form == "parquet":
        yield from _read_parquet(path, needed, optional)
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
    if form in ("text", "jsonl"):
        for number, line in lines:
            if form == "text" or line.strip():
                yield number, _parse_line(line, form, needed)
        return
    wanted = [*itertools.chain(*needed), *optional]
    by_number = bool(wanted) and all(map(str.isdecimal, wanted))
    delimiter = delimiter or ("tab" if form == "tsv" else None)
    if delimiter is None:
        delimiter = _find_delimiter(str(path), head, quoting, by_number)
    reader = csv.reader(
        (line for _, line in lines),
        delimiter="\t" if delimiter == "tab" else delimiter,
        quoting=csv.QUOTE_MINIMAL if quoting else csv.QUOTE_NONE,
        strict=True,
    )
    yield from _read_separated(path, reader, needed, optional, by_number)


def _parse_line(
    line: str, form: str | None, needed: Needed
) -> dict[str, Any] | ValueError:
    try:
        text_files.check_utf8(line)
        if form == "text":
            return {"text": line.rstrip("\r\n")}
        row = parse_json(line, "the row")
    except ValueError as error:
        return error
    for some in needed:
        if row.keys().isdisjoint(some):
            names = " or ".join(map(repr, some))
            return ValueError(
                f"the row has no {names}, only the fields {[*row]}"
            )
    return row


def _find_delimiter(
    path: str, head: str, quoting: bool, by_number: bool
) -> str:
    # A text in the first row may contain a separator. A column's name hardly
    # does.
    names = re.sub('"[^"]*"', "", head) if quoting else head
    found = [mark for mark in ",;\t" if mark in names]
    if by_number or len(found) > 1:
        raise ValueError(
            f"{path}: set --delimiter to the character between the cells, one "
            f"of {' '.join(DELIMITERS)}. The first line is {head[:80]!r}"
        )
    return found[0] if found else ","


def _read_separated(
    path: StrPath,
    reader: Any,
    needed: Needed,
    optional: Sequence[str],
    by_number: bool,
) -> Iterator[Row]:
    # Yields the rows of a csv.reader.
    # A cell may be a whole document, longer than csv's 131,072 characters.
    csv.field_size_limit(2**31 - 1)
    names: list[str] = []
    while True:
        # A quoted cell may span lines. Number the row by its first line.
        number = reader.line_num + 1
        try:
            row = next(reader, None)
        except csv.Error as error:
            problem = (
                f"{error}. Close the quote, or set --noquoting if quotes are "
                "ordinary characters in this table"
            )
            # Stop if the malformed row spans several lines, because an unclosed
            # quote hides where the next row begins.
            if reader.line_num > number or not names:
                raise ValueError(f"{path}, line {number}: {problem}") from None
            yield number, ValueError(problem)
            continue
        if row is None:
            return
        if not row:
            continue
        if not names:
            names = [*map(str, range(1, len(row) + 1))] if by_number else row
            where = f"{path}, line {number}"
            columns = _find_columns(names, needed, optional, where)
            last = max(columns.values())
            if not by_number:
                continue
        problem = ""
        if (len(row) <= last) if by_number else (len(row) != len(names)):
            problem = (
                f"the line has {len(row)} columns, but the first line has "
                f"{len(names)}"
            )
        elif row == names and len(names) > 1 and not by_number:
            problem = "the line repeats the names of the columns. Remove it"
        elif reader.dialect.delimiter == "\t" and any(
            cell.count("\t") == (len(cell.splitlines()) - 1) * last > 0
            for cell in row
        ):
            # csv reads a stray quote in each of two rows as one cell, with as
            # many tabs as rows have:  a<TAB>"b  c<TAB>d  e<TAB>f"
            problem = (
                "a quoted cell contains the next lines of the table. If quotes "
                "are ordinary characters here, set --noquoting. Otherwise "
                "replace the tabs in the cell by spaces"
            )
        try:
            text_files.check_utf8("".join(row))
        except ValueError as error:
            problem = str(error)
        if problem:
            yield number, ValueError(f"{problem}. Received: {row}"[:300])
        else:
            yield number, {name: row[index] for name, index in columns.items()}


def _find_columns(
    names: Sequence[str], needed: Needed, optional: Sequence[str], where: str
) -> dict[str, int]:
    # Returns {name of a requested column: its index}, or all columns.
    found: dict[str, int] = {}
    for some in (*needed, *([name] for name in optional)):
        matches = {i: name for i, name in enumerate(names) if name in some}
        if len(matches) > 1 or (some in needed and not matches):
            raise ValueError(
                f"{where}: the table must have exactly one column named "
                f"{' or '.join(map(repr, some))}; its columns are "
                f"{', '.join(map(repr, names))}"
            )
        found |= {name: i for i, name in matches.items()}
    return found or {name: i for i, name in enumerate(names)}


def _read_parquet(
    path: StrPath, needed: Needed, optional: Sequence[str]
) -> Iterator[Row]:
    try:
        # An optional package.
        import pyarrow.parquet
    except ImportError:
        raise ValueError(
            f"{path} needs pyarrow: pip install -r requirements/tables.txt"
        ) from None
    with text_files.open_binary(path) as file:
        try:
            table = pyarrow.parquet.ParquetFile(file)
        except pyarrow.ArrowException as error:
            raise ValueError(f"{path}: {error}") from error
        all_names = table.schema_arrow.names
        names = [*_find_columns(all_names, needed, optional, str(path))]
        batches = table.iter_batches(256, columns=names)
        rows = (row for batch in batches for row in batch.to_pylist())
        yield from enumerate(rows, start=1)
