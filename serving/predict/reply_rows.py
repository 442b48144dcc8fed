"""Joins replies to the columns of their input rows, as rows of the output."""

import dataclasses
from collections.abc import Collection, Iterable, Sequence

from data.output_formats import (
    OutputRow,
    RowStatus,
    is_writable,
    with_prediction,
)
from serving.predict.input_rows import NO_CELLS, InputRow
from serving.text_tasks.asking import Failure
from serving.text_tasks.text_task import AnyTextTask, Reply


@dataclasses.dataclass(frozen=True, kw_only=True)
class RowOptions:
    """Options for reading rows, and for the columns of the output.

    Attributes:
        batch_size: number of requests in a batch.
        sorts_by_length: whether to read thousands of requests at once, and to
            sort them by length. If not, each batch gets its replies as soon as
            it is read.
        output_fields: names of the fields of a reply to keep, () for all.
        has_checked_fields: whether it was checked that replies have these
            fields. Otherwise, `reply_to_rows` checks the first reply.
        keeps_columns: whether to keep the columns of the input.
        taken_names: names of columns of the input, if all rows were read
            before. A field of a reply that has such a name is renamed in all
            rows.
    """

    batch_size: int = 32
    sorts_by_length: bool = False
    output_fields: Sequence[str] = ()
    has_checked_fields: bool = False
    keeps_columns: bool = True
    taken_names: Collection[str] = ()


def with_column_error(input_row: InputRow) -> InputRow:
    """Returns a row, with an error if its columns cannot be written."""
    nested = [
        cell
        for cell in input_row.cells.values()
        if isinstance(cell, list | dict)
    ]
    if is_writable(nested):
        return input_row
    error = ValueError("a column is nested too deeply")
    return input_row._replace(error=error, cells=NO_CELLS)


class FieldCheck:
    """Checks once that the replies have the fields to keep.

    Only one reply is checked, because other replies may lack an optional field.
    """

    def __init__(self, row_options: RowOptions) -> None:
        self._fields = row_options.output_fields
        self._is_done = row_options.has_checked_fields

    def check_first_reply(self, replies: Iterable[Reply | Failure]) -> None:
        """Checks the first reply to a text that is not empty, if any.

        Raises:
            ValueError: the reply lacks one of the fields to keep.
        """
        if self._is_done:
            return
        for reply in replies:
            if reply and not isinstance(reply, Failure):
                check_fields(self._fields, reply)
                self._is_done = True
                return


def check_fields(fields: Sequence[str], reply_fields: Iterable[str]) -> None:
    """Checks that each field to keep is a field of a reply.

    Raises:
        ValueError: there is no such field.
    """
    if not {*fields} <= {*reply_fields}:
        raise ValueError(
            f"--output_fields={','.join(fields)}: choose from "
            f"{', '.join(reply_fields)}"
        )


def create_row(
    input_row: InputRow,
    reply: Reply | Failure,
    text_task: AnyTextTask,
    row_options: RowOptions,
) -> OutputRow:
    """Returns an output row: columns of the input, and fields of the reply."""
    row = dict(input_row.cells) if row_options.keeps_columns else {}
    if isinstance(reply, Failure):
        fields: dict[str, object] = (
            {"file": input_row.file} if input_row.file else {}
        )
        fields |= {"line": input_row.line, "error": str(reply.error)}
        cells = with_prediction(row, fields, row_options.taken_names)
        return OutputRow(cells, RowStatus.FAILED)
    if not reply:
        return OutputRow(row, RowStatus.EMPTY)
    # A reply may repeat the texts of its request.
    repeated = {
        name
        for name in text_task.text_names
        if name in reply and row.get(name) == reply[name]
    }
    kept_fields = {
        name: reply[name]
        for name in row_options.output_fields or reply
        if name in reply and name not in repeated
    }
    return OutputRow(with_prediction(row, kept_fields, row_options.taken_names))
