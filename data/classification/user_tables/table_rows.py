"""Reads the rows of a table of texts and labels, and counts what is left out.

row_parsing.py finds the texts and the label of a row.
"""

import collections
import dataclasses
from collections.abc import Iterator, Sequence

from absl import logging

from data.tables.prodigy import read_accepted_rows
from data.tables.tables import Table, TableRow, read_table
from files.paths import StrPath


@dataclasses.dataclass
class RowCounts:
    """Numbers of rows of a set that were left out or changed, for the log.

    Attributes:
        left_out: {what a row lacks: number of rows that are left out}.
        num_respelled: number of rows whose labels were brought to one spelling.
    """

    left_out: collections.Counter[str] = dataclasses.field(
        default_factory=collections.Counter
    )
    num_respelled: int = 0

    def log(self, path: StrPath) -> None:
        """Logs the numbers that are not 0. `path` is that of the table."""
        if self.left_out:
            descriptions = [
                f"{num_rows} rows without {lack}"
                for lack, num_rows in self.left_out.items()
            ]
            logging.warning(
                "%s: %s left out", path, " left out, ".join(descriptions)
            )
        if self.num_respelled:
            logging.info(
                "%s: %d labels brought to one spelling of blanks and accents",
                path,
                self.num_respelled,
            )


def read_labeled_rows(
    table: Table,
    text_columns: Sequence[str],
    label_columns: Sequence[str],
    *,
    may_lack_labels: bool,
) -> Iterator[TableRow]:
    """Yields the rows of a table that an annotator accepted.

    Args:
        table: the table.
        text_columns: columns that each row must have.
        label_columns: columns of the labels.
        may_lack_labels: whether the rows may lack the columns of the labels.

    Raises:
        OSError: the table cannot be read.
        ValueError: a row is malformed, or lacks a column.
    """
    needed = [] if may_lack_labels else label_columns
    return read_accepted_rows(
        table.path,
        read_table(table, text_columns, needed, may_lack=True),
        columns_of_flags=[*text_columns, *label_columns],
    )
