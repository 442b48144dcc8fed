"""Guesses the dialect of CSV, TSV and the like: the delimiter and the quotes.

`guess_dialect` guesses them by the first 200 rows, which a `CsvSample` reads.
The first line is not enough, because the name of a column may contain a line
break, and a text any delimiter.
"""

import itertools
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from data.tables import header_line_checks
from data.tables.csv_sample import MAX_ROWS, NO_DELIMITER, CsvSample, Dialect
from data.tables.table_layout import (
    CHARACTER_OF_DELIMITER,
    DELIMITER_OF_CHARACTER,
    DELIMITERS,
    TableLayout,
)


def guess_dialect(
    sample: CsvSample, layout: TableLayout, *, is_tsv: bool
) -> Dialect:
    r"""Guesses the dialect of a table by its first rows.

    Without the user's delimiter, the strictest dialect that fits these rows is
    chosen.

    Examples:
        Any delimiter may be in a quoted cell. Only `;` cuts these rows into
        the same number of cells:

        >>> lines = ['id;text\n', '1;"a, b"\n', '2;"c; d"\n']
        >>> sample = CsvSample("f.csv", iter(lines))
        >>> guess_dialect(sample, TableLayout(), is_tsv=False).delimiter
        ';'

    Args:
        sample: the first lines.
        layout: what the user chose. The lines show what is None in it.
        is_tsv: whether the file's name says that tabs separate the cells.

    Raises:
        ValueError: several delimiters fit equally well, or only delimiters
            other than tabs fit a .tsv file. Or none fits, and the first row
            contains several, or seems to be a title. The message names the
            flag to set.
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
        return _choose_dialect_of_tsv(sample, layout, fits)
    if not fits:
        return _choose_by_names(sample, delimiters, layout)
    strictest = _choose_strictest(fits.values())
    if len(strictest) > 1:
        raise _unknown_delimiter_error(sample)
    return strictest[0]


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


def _list_delimiters(sample: CsvSample) -> list[str]:
    """Returns the delimiters that the first lines contain."""
    text = "".join(itertools.islice(sample, MAX_ROWS))
    return [
        delimiter for delimiter in DELIMITER_OF_CHARACTER if delimiter in text
    ]


def _choose_dialect_of_tsv(
    sample: CsvSample,
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
        raise _unknown_delimiter_error(sample)
    return _choose_usual_dialect("\t", layout)


def _choose_by_names(
    sample: CsvSample,
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
        raise _unknown_delimiter_error(sample)
    for rows in rows_by_delimiter.values():
        header_line_checks.check_title(sample.path, rows, layout.columns)
    return Dialect(NO_DELIMITER, layout.quoting is not False)


def _unknown_delimiter_error(sample: CsvSample) -> ValueError:
    first_lines = itertools.islice(sample, MAX_ROWS)
    first_filled = next(filter(str.strip, first_lines), "")
    return ValueError(
        f"{sample.path}: set --delimiter to the character between the cells, "
        f"one of {' '.join(DELIMITERS)}. The first line is "
        f"{first_filled[:80]!r}"
    )


def _find_fitting_dialect(
    sample: CsvSample, delimiter: str, layout: TableLayout
) -> _FittingDialect | None:
    """Returns the strictest dialect of a delimiter that fits, or None."""
    fits: list[_FittingDialect] = []
    for level, dialect in enumerate(_list_dialects(delimiter, layout.quoting)):
        # Try backslashes only if quotes are not written twice.
        if dialect.has_escapes and any(
            not fit.dialect.has_escapes for fit in fits
        ):
            continue
        trial = sample.try_dialect(dialect)
        if not trial.does_fit:
            continue
        if len(trial.first_rows[0]) > 1 or layout.delimiter:
            num_stray = sample.count_stray_quotes(dialect)
            fits.append(_FittingDialect(num_stray, level, dialect))
    return min(fits, key=_strictness_of, default=None)


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


def _choose_usual_dialect(delimiter: str, layout: TableLayout) -> Dialect:
    return _list_dialects(delimiter, layout.quoting)[0]


def _choose_strictest(fits: Collection[_FittingDialect]) -> list[Dialect]:
    """Returns the strictest dialect, or several that are equally strict."""
    lowest = min(map(_strictness_of, fits))
    return [fit.dialect for fit in fits if _strictness_of(fit) == lowest]


def _strictness_of(fit: _FittingDialect) -> tuple[int, int]:
    """Returns the key to sort dialects by. The strictest dialect is first.

    The strictest dialect has the fewest stray quotes. Among dialects of as many
    stray quotes, the dialect of the lowest level is the strictest. For
    example, `,` cuts `x,"a; b"` into x and "a; b", and `;` cuts it into `x,"a`
    and ` b"`. Both fit, but `;` leaves two quotes that quote no cell. So `,` is
    stricter.
    """
    return fit.num_stray, fit.level
