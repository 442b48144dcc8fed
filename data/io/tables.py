"""Reads tables row by row: CSV, TSV, JSON lines, Parquet and plain text.

Training and predict.py both use this reader. Text is UTF-8, with or without a
byte-order mark, and the file may be compressed with gzip (`.gz`). A table of
any size needs only the memory of a few rows. Errors name the file and the line.
"""

import contextlib
import csv
import itertools
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from data.io import text_files
from files import requirements
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
# {format: characters that may separate cells, the usual one first}.
_DELIMITERS = {"csv": ",;\t", "tsv": "\t"}
# Matches the first line of a JSON Lines file, and of a file that is one JSON
# list, so that `read_rows` can reject the list. Does not match [MASK], with
# which a line of plain text may begin.
_JSON = re.compile(r"\s*(\{|\[\s*([\"{]|$))")
# Number of Parquet rows to read at a time.
_PARQUET_ROWS = 256

# A row: (number of its first line, {column: cell}). If the row is malformed, a
# ValueError replaces the dict.
Row = tuple[int, dict[str, Any] | ValueError]
# A list with one entry for each required column. The entry lists the names
# that the column may have.
Needed = Sequence[Sequence[str]]


def form_of(path: StrPath) -> str | None:
    """Returns the table format that the ending of a file's name indicates.

    Ignores `.gz`. Returns None for unknown endings.
    """
    name = str(path).removesuffix(".gz")
    return next((ENDINGS[end] for end in ENDINGS if name.endswith(end)), None)


def read_table(
    path: StrPath,
    text_columns: Sequence[str],
    columns: Sequence[str] = (),
    quoting: bool = True,
    optional_columns: Sequence[str] = (),
) -> Iterator[tuple[str, list[Any]]]:
    """Yields the cells of some columns of a table. Fails at a malformed row.

    Args:
        path: path of a file with one of the ENDINGS.
        text_columns: names of one or more columns whose cells must be text.
        columns: names of other columns that must exist. In JSON and Parquet,
            their cells may have any type.
        quoting: whether `"` quotes cells of CSV and TSV.
        optional_columns: names of columns that the table, or a JSON object in
            it, may lack.

    Yields:
        (where, cells). `where` names the file and the line, for error messages.
        `cells` is a list with one cell for each requested column: first
        `text_columns`, then `columns`, then `optional_columns`. A missing cell
        is None.

    Raises:
        OSError: the file cannot be read.
        ValueError: a column is missing, or a line is malformed.
    """
    needed = [*text_columns, *columns]
    names = [*needed, *optional_columns]
    for number, row in read_rows(
        path, [[name] for name in needed], optional_columns, quoting=quoting
    ):
        where = f"{path}, line {number}"
        if isinstance(row, ValueError):
            raise ValueError(f"{where}: {row}")
        for column in text_columns:
            if not isinstance(row[column], str):
                raise ValueError(
                    f"{where}, column {column!r}: the text must be a string. "
                    f"Received: {str(row[column])[:80]}"
                )
        yield where, [row.get(name) for name in names]


def read_rows(
    path: StrPath,
    needed: Needed = (),
    optional: Sequence[str] = (),
    form: str | None = None,
    quoting: bool = True,
    most: int | None = None,
) -> Iterator[Row]:
    """Yields each row of a table, or an error for a malformed row.

    The first line of CSV and TSV names the columns. But if the requested
    columns are numbers, where 1 is the first column, the first line is data.
    Commas, semicolons or tabs may separate the cells of CSV.

    Args:
        path: path of a file, or text_files.STDIN.
        needed: columns that must exist, each as a list of the names that the
            column may have.
        optional: names of other columns to read.
        form: format of the table, one of FORMS. None = the format that the
            file's name indicates. If the name has no known ending, the first
            line decides: JSON lines if it begins with `{`, else plain text.
        quoting: whether `"` quotes cells of CSV and TSV, as spreadsheets
            write them. If False, `"` is an ordinary character.
        most: maximum length of a line and of a cell, in bytes. If it is set,
            bytes that are not UTF-8 become lone surrogates. If it is None,
            such bytes are dropped with a warning.

    Yields:
        (number of the row's first line, row). `row` is {column: cell}, or a
        ValueError if the row is malformed. The dict contains the requested
        columns, or all columns if none are requested or the rows are JSON. The
        only column of plain text is `text`.

    Raises:
        OSError: the file cannot be read.
        ValueError: a column is missing, a line of CSV or TSV is longer than
            `most`, or an unclosed quote spans several lines.
    """
    form = form or form_of(path)
    if form == "parquet":
        yield from _read_parquet(path, needed, optional)
        return
    numbered: Iterable[tuple[int, str | ValueError]]
    if most is None:
        numbered = text_files.read_numbered(path, is_quoted=True)
    else:
        numbered = text_files.read_limited(path, most)
    # Skip the byte order mark that some editors write.
    lines: Iterator[tuple[int, str | ValueError]] = (
        (n, x.removeprefix("\ufeff") if n == 1 and isinstance(x, str) else x)
        for n, x in numbered
    )
    if form is None:
        first = next(filter(_is_filled, lines), None)
        lines = itertools.chain([first] if first else [], lines)
        is_json = first and _JSON.match(str(first[1]))
        form = "jsonl" if is_json else "text"
    if form in _DELIMITERS:
        # Raise csv's default limit of 131,072 characters, because a cell may be
        # a whole document.
        csv.field_size_limit(max(most or 2**31 - 1, 1 << 17))
        yield from _read_separated(path, lines, needed, optional, form, quoting)
        return
    for number, line in filter(_is_filled, lines):
        if isinstance(line, ValueError):
            yield number, line
        elif form == "text":
            yield number, {"text": line.rstrip("\r")}
        else:
            try:
                row: dict[str, Any] = parse_json(line, "the row")
            except ValueError as error:
                yield number, error
                continue
            lost = [x for x in needed if row.keys().isdisjoint(x)]
            if lost:
                wanted = " or ".join(map(repr, lost[0]))
                problem = f"the row has no {wanted}, only the fields {[*row]}"
                yield number, ValueError(problem)
            else:
                yield number, row


def _is_filled(numbered: tuple[int, str | ValueError]) -> bool:
    return bool(str(numbered[1]).strip())


def _read_separated(
    path: StrPath,
    lines: Iterable[tuple[int, str | ValueError]],
    needed: Needed,
    optional: Sequence[str],
    form: str,
    quoting: bool,
) -> Iterator[Row]:
    """Yields the rows of a CSV or TSV file.

    Yields a ValueError for a row that contains too few or too many cells,
    repeats the names of the columns, or contains other rows in a quoted cell.
    """

    def end_lines() -> Iterator[str]:
        for number, line in lines:
            if isinstance(line, ValueError):
                raise ValueError(f"{path}, line {number}: {line}")
            yield f"{line}\n"

    text = end_lines()
    wanted = [*itertools.chain(*needed), *optional]
    are_numbers = all(name.isdecimal() and int(name) > 0 for name in wanted)

    def read(lines: Iterable[str], delimiter: str) -> Any:
        return csv.reader(
            lines,
            delimiter=delimiter,
            quoting=csv.QUOTE_MINIMAL if quoting else csv.QUOTE_NONE,
            strict=True,
        )

    def name(row: Sequence[str]) -> Sequence[str]:
        numbers = [str(number) for number in range(1, len(row) + 1)]
        return numbers if are_numbers else row

    # The first line that is not blank determines the delimiter.
    head: list[str] = []
    while not "".join(head).strip() and (line := next(text, "")):
        head.append(line)
    # Choose a delimiter with which the first line contains all needed columns.
    # If no delimiter does, choose the one that yields the most columns.
    fits = {delimiter: (False, 0) for delimiter in _DELIMITERS[form]}
    for delimiter in fits:
        # Ignore a malformed line here, because it is reported below.
        with contextlib.suppress(csv.Error):
            names = name(next(read(head[-1:], delimiter), []))
            has_all = bool(needed) and all(
                not {*some}.isdisjoint(names) for some in needed
            )
            fits[delimiter] = has_all, 0 if has_all else len(names)
    reader = read(itertools.chain(head, text), max(fits, key=fits.__getitem__))
    columns: list[tuple[str, int]] = []
    width = 0
    while True:
        # A quoted cell may span lines. Number the row by its first line.
        number = reader.line_num + 1
        try:
            row = next(reader, None)
        except csv.Error as error:
            problem = (
                f"{error}. Close the quote, or turn quoting off if quotes are "
                "ordinary characters in this table"
            )
            if "new-line character" in str(error):
                problem = text_files.CARRIAGE_RETURN
            # Stop if the malformed row spans several lines, because an unclosed
            # quote hides where the next row begins.
            if reader.line_num > number or not width:
                raise ValueError(f"{path}, line {number}: {problem}") from None
            yield number, ValueError(problem)
            continue
        if row is None:
            return
        if not row:
            continue
        if not width:
            names, width = name(row), len(row)
            where = f"{path}, line {number}"
            columns = [(name, index) for index, name in enumerate(names)]
            if wanted:
                columns = _find_columns(names, needed, optional, where)
            if not are_numbers:
                continue
        problem = ""
        if len(row) != width:
            problem = (
                f"the line has {len(row)} columns, but the first line has "
                f"{width}"
            )
        elif row == names and width > 1 and not are_numbers:
            problem = "the line repeats the names of the columns. Remove it"
        elif form == "tsv" and any(
            "\n" in cell and _contains_lines(cell, index, width)
            for index, cell in enumerate(row)
        ):
            problem = (
                "a quoted cell contains the next lines of the table. If quotes "
                "are ordinary characters here, turn quoting off. Otherwise "
                "replace the tabs in the cell by spaces"
            )
        if problem:
            yield number, ValueError(f"{problem}. Received: {row}"[:300])
        else:
            yield number, {column: row[index] for column, index in columns}


def _contains_lines(cell: str, index: int, width: int) -> bool:
    """Returns whether a quoted cell of a TSV file seems to contain other rows.

    This happens if two rows contain a stray quote in their column `index`, and
    the text between these quotes was read as one cell. `width` is the number of
    columns of a row.
    """
    tabs = [part.count("\t") for part in cell.split("\n")]
    inner = [width - 1] * (len(tabs) - 2)
    return width > 1 and tabs == [width - 1 - index, *inner, index]


def _find_columns(
    names: Sequence[str],
    needed: Needed,
    optional: Sequence[str],
    where: str,
) -> list[tuple[str, int]]:
    """Returns (name, index) of each needed or optional column of a table.

    Raises a ValueError if a needed column is missing or ambiguous.
    """
    found = []
    for some in (*needed, *([name] for name in optional)):
        matches = [each for each in enumerate(names) if each[1] in some]
        if len(matches) != 1 and (matches or some in needed):
            raise ValueError(
                f"{where}: the table must have exactly one column named "
                f"{' or '.join(map(repr, some))}; its columns are "
                f"{', '.join(map(repr, names))[:500]}. Set --text_column, "
                "--label_column and so on to the columns' names, or to their "
                "numbers if the first line of CSV or TSV contains no names"
            )
        found += [(name, index) for index, name in matches]
    return found


def _read_parquet(
    path: StrPath, needed: Needed, optional: Sequence[str]
) -> Iterator[Row]:
    """Yields the rows of a Parquet file, numbered from 1."""
    try:
        # An optional package.
        import pyarrow.parquet
    except ImportError:
        raise ValueError(
            f"{path}: Parquet needs pyarrow: "
            f"{requirements.install('requirements/tables.txt')}"
        ) from None
    try:
        with (
            text_files.open_raw(path) as file,
            pyarrow.parquet.ParquetFile(file) as table,
        ):
            found = _find_columns(
                table.schema_arrow.names, needed, optional, str(path)
            )
            names = [*dict.fromkeys(name for name, _ in found)]
            names = names or table.schema_arrow.names
            rows = itertools.chain.from_iterable(
                batch.to_pylist()
                for batch in table.iter_batches(_PARQUET_ROWS, columns=names)
            )
            for number, row in enumerate(rows, start=1):
                yield number, {name: _to_json(row[name]) for name in names}
    except (pyarrow.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        reason = " ".join(str(error).split())[:200]
        raise ValueError(
            f"{path} cannot be read as Parquet: {reason}. Save it again"
        ) from error


def _to_json(cell: Any) -> Any:
    """Converts a Parquet cell to a value that JSON can represent.

    NaN and infinity become None. Dates and other types become strings.
    """
    if isinstance(cell, float) and not math.isfinite(cell):
        return None
    if isinstance(cell, bytes):
        # Some programs write text as bytes without declaring it as a string.
        # As in text files, drop bytes that are not UTF-8.
        return cell.decode("utf-8", "ignore")
    if isinstance(cell, str | int | float | list | dict | None):
        return cell
    return str(cell)
