"""Guesses how a table of cells and marks is written: CSV, TSV and the like.

Python's csv must be told the delimiter and the quotes of a table. This module
guesses them by the first 200 rows. The first line is not enough, because the
name of a column may contain a line break, and a text any delimiter.
"""

import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from data.tables import extra_header_lines, header_detection, table_checks
from data.tables.csv_rows import MAX_ROWS, NO_DELIMITER, Dialect, TableSample
from data.tables.rows import compute_common_width
from data.tables.table_layout import (
    CHARACTER_OF_DELIMITER,
    DELIMITER_OF_CHARACTER,
    DELIMITERS,
    TableLayout,
)


class SampledTable(NamedTuple):
    """A table whose first lines were read, as `guess_dialect` returns it.

    Attributes:
        dialect: the marks between and around the cells.
        has_header: whether the first row names the columns.
        lines: all lines of the file, also those that were read.
        width: number of cells of at least half of the first rows. 0 if they
            have no common width, None if no row was read.
    """

    dialect: Dialect
    has_header: bool
    lines: Iterator[str]
    width: int | None


def guess_dialect(
    path: str, lines: Iterator[str], layout: TableLayout, *, is_tsv: bool
) -> SampledTable:
    r"""Guesses the dialect of a table, and whether it has a header.

    Examples:
        Any delimiter may be in a quoted cell. Only `;` cuts these rows into
        the same number of cells:

        >>> lines = ['id;text\n', '1;"a, b"\n', '2;"c; d"\n']
        >>> table = guess_dialect(
        ...     "f.csv", iter(lines), TableLayout(), is_tsv=False
        ... )
        >>> table.dialect.delimiter, table.has_header, table.width
        (';', True, 2)

    Args:
        path: path of the file, for messages.
        lines: lines of the file with their ends.
        layout: what the user chose. The lines show what is None in it.
        is_tsv: whether the file's name says that tabs separate the cells.

    Raises:
        ValueError: nothing shows the delimiter or the header, or the first line
            is a title. The message names the flag to set.
    """
    is_complete = layout.quoting is not None and layout.has_header is not None
    if layout.delimiter and is_complete:
        delimiter = CHARACTER_OF_DELIMITER[layout.delimiter]
        dialect = Dialect(delimiter, bool(layout.quoting))
        return SampledTable(dialect, bool(layout.has_header), lines, width=None)
    sample = TableSample(lines)
    hint = sample.take_hint(DELIMITER_OF_CHARACTER)
    if hint and not layout.delimiter:
        layout = layout._replace(delimiter=DELIMITER_OF_CHARACTER[hint])
    try:
        return _guess_by_sample(path, sample, layout, is_tsv=is_tsv)
    except ValueError:
        # In another encoding, nothing is what it seems to be.
        sample.check_encoding(path, layout.encoding)
        raise


def _guess_by_sample(
    path: str, sample: TableSample, layout: TableLayout, *, is_tsv: bool
) -> SampledTable:
    """Guesses the dialect and the header by the first lines of a table."""
    first_lines = [*itertools.islice(sample, 3)]
    table_checks.check_first_lines(path, first_lines)
    dialect = _choose_dialect(path, sample, layout, is_tsv=is_tsv)
    rows = sample.read_first_rows(dialect)
    if layout.quoting is not False:
        table_checks.check_quotes(path, rows)
        table_checks.check_apostrophes(path, rows)
    if not layout.delimiter:
        _check_delimiter(path, sample, rows)
    has_header = header_detection.has_header(path, rows, layout, first_lines)
    width = compute_common_width([*map(len, rows)]) if rows else None
    return SampledTable(
        dialect, has_header, lines=sample.all_lines(), width=width
    )


def _check_delimiter(
    path: str, sample: TableSample, rows: Sequence[Sequence[str]]
) -> None:
    """Checks that no mark that is not a delimiter separates the cells.

    Raises:
        ValueError: such a mark seems to separate them, for example a blank.
    """
    has_one_column = not any(any(row[1:]) for row in rows)
    if has_one_column:
        rows_by_blanks = sample.read_first_rows(Dialect(" "))
        table_checks.check_blanks(path, sample.lines_read, rows_by_blanks)
    table_checks.check_one_column(path, rows)


class _FittingDialect(NamedTuple):
    """A dialect under which all rows have one width.

    Attributes:
        num_stray: number of quotes that quote no cell.
        level: index of the dialect in `_list_dialects`.
        dialect: the dialect.
    """

    num_stray: int
    level: int
    dialect: Dialect


def _choose_dialect(
    path: str, sample: TableSample, layout: TableLayout, *, is_tsv: bool
) -> Dialect:
    """Chooses a dialect of the user's delimiter, or by the first lines.

    Without the user's delimiter, the strictest dialect that fits the first
    lines is chosen. In a .tsv file, only tabs may separate the cells.

    Raises:
        ValueError: several delimiters fit equally well, or only delimiters
            other than tabs fit a .tsv file. Or none fits, and the first row
            contains several. The message names --delimiter.
    """
    if layout.delimiter:
        delimiter = CHARACTER_OF_DELIMITER[layout.delimiter]
        fit = _find_fitting_dialect(sample, delimiter, layout)
        return fit.dialect if fit else _choose_usual_dialect(delimiter, layout)
    delimiters = _list_delimiters(sample)
    fits = {
        delimiter: fit
        for delimiter in delimiters
        if (fit := _find_fitting_dialect(sample, delimiter, layout))
    }
    if is_tsv:
        return _choose_dialect_of_tsv(path, sample, layout, fits)
    if not fits:
        return _choose_by_names(path, sample, delimiters, layout)
    strictest = _choose_strictest(fits.values())
    if len(strictest) > 1:
        raise _unknown_delimiter_error(path, sample)
    return strictest[0]


def _choose_dialect_of_tsv(
    path: str,
    sample: TableSample,
    layout: TableLayout,
    fits: Mapping[str, _FittingDialect],
) -> Dialect:
    """Chooses the dialect of a file whose name says that it contains tabs.

    `fits` are {delimiter: its dialect} of the delimiters that fit the first
    lines. Tabs are chosen if they fit, or if no delimiter does: then the reader
    of the rows raises an error at a malformed row. If only other delimiters
    fit, the name may be wrong, so this function raises a ValueError.
    """
    if "\t" in fits:
        return fits["\t"].dialect
    if fits:
        raise _unknown_delimiter_error(path, sample)
    return _choose_usual_dialect("\t", layout)


def _list_delimiters(sample: TableSample) -> list[str]:
    """Returns the delimiters that the first lines contain."""
    text = "".join(itertools.islice(sample, MAX_ROWS))
    return [
        delimiter for delimiter in DELIMITER_OF_CHARACTER if delimiter in text
    ]


def _choose_strictest(fits: Collection[_FittingDialect]) -> list[Dialect]:
    """Returns the strictest dialect, or several that are equally strict."""
    lowest = min(map(_strictness_of, fits))
    return [fit.dialect for fit in fits if _strictness_of(fit) == lowest]


def _choose_by_names(
    path: str,
    sample: TableSample,
    delimiters: Sequence[str],
    layout: TableLayout,
) -> Dialect:
    """Chooses the dialect of a malformed sample, which no dialect fits.

    The names of the columns, in the first row, show the delimiter, if they
    contain only one of `delimiters`. Without a delimiter, the table has one
    column. The reader of the rows later raises an error at a malformed row.

    Raises:
        ValueError: the first row contains several of `delimiters`, or seems to
            be a title.
    """
    rows_by_delimiter = {
        delimiter: sample.read_first_rows(
            _choose_usual_dialect(delimiter, layout)
        )
        for delimiter in delimiters
    }
    name_delimiters = [
        delimiter
        for delimiter, rows in rows_by_delimiter.items()
        if rows and len(rows[0]) > 1
    ]
    if len(name_delimiters) == 1:
        return _choose_usual_dialect(name_delimiters[0], layout)
    if name_delimiters:
        raise _unknown_delimiter_error(path, sample)
    for rows in rows_by_delimiter.values():
        extra_header_lines.check_title(path, rows, layout.columns)
    return Dialect(NO_DELIMITER, layout.quoting is not False)


def _unknown_delimiter_error(path: str, sample: TableSample) -> ValueError:
    first_lines = itertools.islice(sample, MAX_ROWS)
    first_filled = next(filter(str.strip, first_lines), "")
    return ValueError(
        f"{path}: set --delimiter to the character between the cells, one of "
        f"{' '.join(DELIMITERS)}. The first line is {first_filled[:80]!r}"
    )


def _find_fitting_dialect(
    sample: TableSample, delimiter: str, layout: TableLayout
) -> _FittingDialect | None:
    """Returns the strictest dialect of a delimiter that fits, or None."""
    fits: list[_FittingDialect] = []
    for level, dialect in enumerate(_list_dialects(delimiter, layout.quoting)):
        # Try backslashes only if quotes are not written twice.
        if dialect.has_escapes and any(
            not fit.dialect.has_escapes for fit in fits
        ):
            continue
        rows, does_fit = sample.try_dialect(dialect)
        if does_fit and (len(rows[0]) > 1 or layout.delimiter):
            num_stray = sample.count_stray_quotes(dialect)
            fits.append(_FittingDialect(num_stray, level, dialect))
    return min(fits, key=_strictness_of, default=None)


def _strictness_of(fit: _FittingDialect) -> tuple[int, int]:
    """Returns the key to sort dialects by. The strictest dialect is first.

    The strictest dialect has the fewest stray quotes. Among dialects of as many
    stray quotes, the dialect of the lowest level is the strictest. For
    example, `,` cuts `x,"a; b"` into x and "a; b", and `;` cuts it into `x,"a`
    and ` b"`. Both fit, but `;` leaves two quotes that quote no cell. So `,` is
    stricter.
    """
    return fit.num_stray, fit.level


def _choose_usual_dialect(delimiter: str, layout: TableLayout) -> Dialect:
    return _list_dialects(delimiter, layout.quoting)[0]


def _list_dialects(delimiter: str, quoting: bool | None) -> list[Dialect]:
    """Returns the dialects of a delimiter, the strictest first.

    In CSV, a quote that quotes nothing is an error, because programs that write
    CSV quote each of them. Tools that write tabs often quote nothing.
    """
    plain = Dialect(delimiter, quoting=False)
    if quoting is not None:
        return [Dialect(delimiter) if quoting else plain]
    quoted = [
        Dialect(delimiter),
        Dialect(delimiter, has_escapes=True),
        Dialect(delimiter, is_spaced=True),
        Dialect(delimiter, has_escapes=True, is_spaced=True),
    ]
    return [*quoted, plain] if delimiter in "\t|" else quoted
