"""Leaves out the rows of a table that an annotator rejected in Prodigy."""

import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping

from absl import logging

from data.tables.tables import TableRow
from files.paths import StrPath

# Column into which Prodigy writes the decision of an annotator.
_DECISION_COLUMN = "answer"
_DECISIONS_OR_EMPTY = ("accept", "reject", "ignore", "", None)


def read_accepted_rows(
    path: StrPath,
    rows: Iterable[TableRow],
    columns_of_flags: Collection[str] = (),
) -> Iterator[TableRow]:
    """Yields the rows that an annotator accepted in Prodigy.

    Prodigy writes the annotator's decision into the column `answer`: "accept",
    "reject" or "ignore". The rejected and ignored rows are left out, and their
    number is logged. Rows from elsewhere, whose cell is empty, stay. If any
    cell is no decision, all rows are yielded. The rows above the first such
    cell are in memory at once, so that only Prodigy's tables need memory for
    all rows.

    Args:
        path: the file, for the log.
        rows: the rows of the table.
        columns_of_flags: columns that the flags name, which keep their own
            meaning.
    """
    rows = iter(rows)
    first_rows = [*itertools.islice(rows, 1)]
    has_decisions = all(_DECISION_COLUMN in row.cells for row in first_rows)
    if _DECISION_COLUMN in columns_of_flags or not has_decisions:
        yield from first_rows
        yield from rows
        return
    rows_of_decisions: list[TableRow] = []
    for row in itertools.chain(first_rows, rows):
        rows_of_decisions.append(row)
        if row.cells.get(_DECISION_COLUMN) not in _DECISIONS_OR_EMPTY:
            # Prodigy did not write this table.
            yield from rows_of_decisions
            yield from rows
            return
    yield from _leave_out_rejected(path, rows_of_decisions)


def _leave_out_rejected(
    path: StrPath, rows: Iterable[TableRow]
) -> Iterator[TableRow]:
    """Yields the rows that are not left out, and logs how many others are."""
    num_left_out = 0
    for row in rows:
        if is_rejected_in_prodigy(row.cells):
            num_left_out += 1
        else:
            yield row
    if num_left_out:
        logging.warning(
            "%s: %d rows left out, because their `answer` is not accept",
            path,
            num_left_out,
        )


def is_rejected_in_prodigy(row: Mapping[str, object]) -> bool:
    """Returns whether the annotator rejected or ignored a row."""
    return row.get(_DECISION_COLUMN) in ("reject", "ignore")
