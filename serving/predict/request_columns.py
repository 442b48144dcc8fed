"""Finds the columns of a request in a row of a file.

`RequestColumns` says which columns the fields of a request may have. A
`RequestParser` finds these columns in a row, and renames them to the fields.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from absl import logging

from data.tables import tables
from data.tables.column_names import guess_columns
from data.tables.table_layout import TableLayout
from serving.text_tasks.request_fields import Request, RequestField
from serving.text_tasks.text_task import AnyTextTask


@dataclasses.dataclass(frozen=True)
class RequestColumns:
    """The columns of a text task's fields, as flags and the training name them.

    `choose` creates the object from these names.

    Attributes:
        text_task: text task of the requests.
        chosen: {field: its column} of the flags.
        trained: {field: its column} of the table that the model was trained on.
    """

    text_task: AnyTextTask
    chosen: Mapping[str, str] = dataclasses.field(default_factory=dict)
    trained: Mapping[str, str] = dataclasses.field(default_factory=dict)

    @classmethod
    def choose(
        cls,
        text_task: AnyTextTask,
        columns: Sequence[str | None] = (),
        trained_columns: Sequence[str | None] = (),
    ) -> "RequestColumns":
        """Assigns columns to the fields of a text task, in their order.

        Args:
            text_task: text task of the requests.
            columns: names of columns, as the flags choose them. None chooses no
                column for the field.
            trained_columns: names like `columns`, of the table that the model
                was trained on.

        Raises:
            ValueError: `columns` names more columns than the text task has
                fields.
        """
        names = text_task.field_names
        if len(columns) > len(names) and columns[-1]:
            raise ValueError(
                f"--text_b_column={columns[-1]}: the only fields of "
                f"{text_task.name} are {', '.join(names)}; omit the flag"
            )
        chosen = {
            field: column
            for field, column in zip(names, columns, strict=False)
            if column
        }
        trained = {
            field.name: column
            for field, column in zip(
                text_task.fields, trained_columns, strict=False
            )
            if column
            and not field.is_list
            # Training names its text column "text" by default, so the name says
            # nothing, except for a second text.
            and (column != "text" or field.name == "text_b")
        }
        return cls(text_task, chosen, trained)

    def complete_layout(self, layout: TableLayout) -> TableLayout:
        """Returns the layout of a table, with what the columns say about it.

        Their names show whether the first line is a header. If the columns are
        chosen by number, there is no header, unless the layout states one.
        """
        is_by_number = self.chosen and all(
            map(str.isdecimal, self.chosen.values())
        )
        has_header = layout.has_header
        if is_by_number and has_header is None:
            has_header = False
        return layout._replace(
            has_header=has_header,
            columns=(*self.chosen.values(), *self.trained.values()),
        )


class _FieldColumn(NamedTuple):
    """The column of a field in a row.

    Attributes:
        field: the field.
        column: name of the column.
        is_renamed: whether the column has another name than the field, or the
            flags choose the column.
    """

    field: RequestField
    column: str
    is_renamed: bool

    @property
    def request_name(self) -> str:
        """Name under which the request contains the cell."""
        return self.field.name if self.is_renamed else self.column

    @property
    def replaced_columns(self) -> list[str]:
        """The columns that the request omits.

        A renamed column replaces the columns that are named like the field.
        """
        return [self.column, *self.field.names] if self.is_renamed else []

    def read_cell(self, row: Mapping[str, object]) -> object:
        """Returns the value of the field. An empty cell is an empty text."""
        cell = row[self.column]
        if cell is None and not self.field.is_list_as(self.request_name):
            return ""
        return cell


@dataclasses.dataclass(frozen=True)
class RequestParser:
    """Converts the rows of a file to requests.

    The column of a field is the first of these that the row contains:

    1. the column that the flags choose for the field, and then no other
    2. the column that the model was trained on
    3. a column with the field's own name, or one of its other names
    4. in a table, if the only field is a text and the flags choose no column,
       the column whose name is usual for a text.

    Attributes:
        columns: the text task of the requests, and the columns of its fields.
        is_table: whether the file is a table, such as CSV.
        may_be_plain: whether a line of the file may be plain text.
    """

    columns: RequestColumns
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
        field_columns = self._find_columns(row)
        request = self._copy_cells(row, field_columns)
        for field_column in field_columns:
            is_required = self.is_table and field_column.field.is_required
            if field_column.is_renamed or is_required:
                cell = field_column.read_cell(row)
                request[field_column.request_name] = cell
        words = request.get("words")
        if self.is_table and isinstance(words, str):
            request["words"] = words.split()
        return request

    def _copy_cells(
        self, row: Mapping[str, object], field_columns: Sequence[_FieldColumn]
    ) -> Request:
        """Copies the cells whose columns keep their names."""
        replaced = {
            column
            for field_column in field_columns
            for column in field_column.replaced_columns
        }
        return {
            column: cell
            for column, cell in row.items()
            if column not in replaced and not (self.is_table and cell is None)
        }

    def _find_columns(self, row: Mapping[str, object]) -> list[_FieldColumn]:
        """Finds the columns of the fields that the row contains.

        Raises a ValueError if a column is missing, or its name is repeated.
        """
        # Plain text has no columns to choose.
        chosen = {} if self.is_plain(row) else self.columns.chosen
        field_columns: list[_FieldColumn] = []
        for field in self.columns.text_task.fields:
            is_chosen = field.name in chosen
            names = self._list_names(field)
            if is_chosen:
                names = [chosen[field.name]]
            column = next((name for name in names if name in row), None)
            if not column and self._may_guess(chosen):
                column = _guess_and_log_column(row)
            if column:
                tables.check_columns("the table", row, [column])
                is_renamed = is_chosen or column not in field.names
                field_columns.append(_FieldColumn(field, column, is_renamed))
            elif is_chosen or (self.is_table and field.is_required):
                raise _missing_column_error(names, row)
        return field_columns

    def _list_names(self, field: RequestField) -> list[str]:
        """Returns the names of the columns of a field, the first one first."""
        trained = self.columns.trained.get(field.name)
        return [trained, *field.names] if trained else field.names

    def _may_guess(self, chosen: Mapping[str, str]) -> bool:
        """Returns whether the text may be found by the usual names of columns.

        If a model may read pairs, no rule finds their columns.
        """
        field_names = self.columns.text_task.field_names
        return self.is_table and not chosen and field_names == ["text"]


def _missing_column_error(
    names: Sequence[str], row: Mapping[str, object]
) -> ValueError:
    """Returns the error of a row that has none of the columns `names`."""
    return ValueError(
        f"there is no {' or '.join(map(repr, names))}, only "
        f"{', '.join(map(repr, row))}; set --text_column to the column of the "
        "text"
    )


def _guess_and_log_column(row: Mapping[str, object]) -> str | None:
    """Returns the column whose name is usual for a text, and logs it."""
    column = guess_columns(row)["text_column"]
    if column:
        message = "The column of the text is %r"
        logging.log_first_n(logging.INFO, message, 1, column)
    return column
