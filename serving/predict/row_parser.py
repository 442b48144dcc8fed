"""Converts the rows of files, {column: cell}, to requests."""

import dataclasses
from collections.abc import Mapping

from absl import logging

from data.tables import tables
from data.tables.column_names import find_usual_columns
from serving.text_tasks.request_fields import LIST_FIELDS, Field, Request
from serving.text_tasks.text_task import AnyTextTask


@dataclasses.dataclass(frozen=True, kw_only=True)
class RowParser:
    """Converts the rows of a file, {column: cell}, to requests.

    The column of a field is the first of these that the row contains:

    1. the column that the flags choose for the field, and then no other
    2. the column that the model was trained on
    3. a column with the field's own name, or one of its other names
    4. in a table, if the only field is a text and the flags choose no column,
       the column whose name is usual for a text.

    Attributes:
        text_task: task that will answer the requests.
        chosen_columns: {field: its column} of the flags.
        trained_columns: {field: its column} of the table that the model was
            trained on.
        is_table: whether the file is a table, such as CSV.
        may_be_plain: whether a line of the file may be plain text.
    """

    text_task: AnyTextTask
    chosen_columns: Mapping[str, str]
    trained_columns: Mapping[str, str]
    is_table: bool
    may_be_plain: bool

    def is_plain(self, row: Mapping[str, object]) -> bool:
        """Returns whether the row is a line of plain text, without columns."""
        return self.may_be_plain and [*row] == ["text"]

    def parse(self, row: Mapping[str, object]) -> Request:
        """Converts a row to a request, which contains the other cells too.

        In a table, empty cells are omitted unless their field is required, and
        the field `words` is split at white space.

        Raises:
            ValueError: the row lacks a column, or repeats its name.
        """
        columns = self._find_columns(row)
        chosen = self._chosen_of(row)
        renamed = {
            field: column
            for field, column in columns.items()
            if field.name in chosen or column not in field.names
        }
        # A renamed column overrides columns that are named like the field.
        overridden = {*renamed.values()}
        for field in renamed:
            overridden.update(field.names)
        request: Request = {
            column: cell
            for column, cell in row.items()
            if column not in overridden and not (self.is_table and cell is None)
        }
        for field, column in columns.items():
            if field in renamed:
                request[field.name] = _to_text(field.name, row[column])
            elif self.is_table and field.is_required:
                request[column] = _to_text(column, row[column])
        words = request.get("words")
        if self.is_table and isinstance(words, str):
            request["words"] = words.split()
        return request

    def _chosen_of(self, row: Mapping[str, object]) -> Mapping[str, str]:
        """Returns `chosen_columns`, {} for plain text, which has no columns."""
        return {} if self.is_plain(row) else self.chosen_columns

    def _find_columns(self, row: Mapping[str, object]) -> dict[Field, str]:
        """Returns {field: its column} of the fields that the row contains."""
        chosen = self._chosen_of(row)
        # If a model may read pairs, no rule finds their columns.
        may_guess = (
            self.is_table
            and not chosen
            and self.text_task.field_names == ["text"]
        )
        columns: dict[Field, str] = {}
        for field in self.text_task.fields:
            names = [self.trained_columns.get(field.name), *field.names]
            if field.name in chosen:
                names = [chosen[field.name]]
            column = next((name for name in names if name in row), None)
            if not column and may_guess:
                column = _guess_column(row)
            if column:
                tables.check_columns("the table", row, [column])
                columns[field] = column
            elif field.name in chosen or (self.is_table and field.is_required):
                expected = " or ".join(map(repr, filter(None, names)))
                raise ValueError(
                    f"there is no {expected}, only "
                    f"{', '.join(map(repr, row))}; set --text_column to the "
                    "column of the text"
                )
        return columns


def _to_text(name: str, cell: object) -> object:
    """Returns the value of a field. An empty cell is an empty text."""
    return "" if cell is None and name not in LIST_FIELDS else cell


def _guess_column(row: Mapping[str, object]) -> str | None:
    """Returns the column whose name is usual for a text, and logs it."""
    column = find_usual_columns(row)["text_column"]
    if column:
        message = "The column of the text is %r"
        logging.log_first_n(logging.INFO, message, 1, column)
    return column
