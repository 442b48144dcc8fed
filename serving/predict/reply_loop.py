"""Replies to the rows of an input in batches: the main loop of predict.py.

`reply_to_rows` joins each reply to the columns of its input row, by
`RowOptions`.
"""

import dataclasses
from collections.abc import Collection, Iterable, Iterator, Sequence

from absl import logging

from data.predictions.output_rows import OutputRow, RowStatus, with_prediction
from data.predictions.output_text import is_writable
from serving.predict.input_rows import NO_CELLS, InputRow
from serving.text_tasks.asking import Failure, ask
from serving.text_tasks.loaded_export import AnyLoadedExport
from serving.text_tasks.text_task import (
    DEFAULT_REPLY_OPTIONS,
    AnyTextTask,
    Reply,
    ReplyOptions,
)
from terminal.progress import Progress

# Maximum number of errors that are logged. The output contains all errors.
MAX_LOGGED = 10
# Rows of a file to sort by length, and their maximum number of characters.
_BUFFER_ROWS = 4096
_BUFFER_CHARACTERS = 8 << 20


@dataclasses.dataclass(frozen=True, kw_only=True)
class RowOptions:
    """Options for reading rows, for replies, and for the columns of the output.

    Attributes:
        reply_options: options that change all replies.
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

    reply_options: ReplyOptions = DEFAULT_REPLY_OPTIONS
    batch_size: int = 32
    sorts_by_length: bool = False
    output_fields: Sequence[str] = ()
    has_checked_fields: bool = False
    keeps_columns: bool = True
    taken_names: Collection[str] = ()


def reply_to_rows(
    loaded_export: AnyLoadedExport,
    text_task: AnyTextTask,
    input_rows: Iterable[InputRow],
    row_options: RowOptions,
    counter: "RowCounter | None" = None,
) -> Iterator[list[OutputRow]]:
    """Yields lists of rows: the input's columns, then a reply or an error.

    The rows are in the order of the requests. If a field of the reply has the
    name of a column, the name of the field gets the prefix `predicted_`.

    Args:
        loaded_export: the model.
        text_task: text task of the requests.
        input_rows: the requests, with the columns of their rows.
        row_options: how to read the rows, and what the replies and the output
            contain.
        counter: counts the rows.

    Raises:
        ValueError: the first reply lacks one of the fields to keep.
    """
    counter = counter or RowCounter()
    if row_options.keeps_columns:
        input_rows = map(_with_column_error, input_rows)
    field_check = FieldCheck(row_options)
    for buffer in _read_buffers(input_rows, row_options):
        replies: dict[int, Reply | Failure] = {}
        for indices in _split_buffer(text_task, buffer, row_options):
            batch = [buffer[index] for index in indices]
            batch_replies = _reply_to_batch(
                loaded_export, text_task, batch, row_options.reply_options
            )
            field_check.check_first_reply(batch_replies)
            replies |= zip(indices, batch_replies, strict=True)
            counter.add(len(indices))
        for index, input_row in enumerate(buffer):
            counter.report_failure(input_row, replies[index])
        yield [
            create_row(input_row, replies[index], text_task, row_options)
            for index, input_row in enumerate(buffer)
        ]
        counter.num_yielded += len(buffer)


def _with_column_error(input_row: InputRow) -> InputRow:
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
                check_output_fields(self._fields, reply)
                self._is_done = True
                return


def check_output_fields(
    fields: Sequence[str], reply_fields: Iterable[str]
) -> None:
    """Checks that each field to keep is a field of a reply.

    Raises:
        ValueError: there is no such field.
    """
    if not {*fields} <= {*reply_fields}:
        raise ValueError(
            f"--output_fields={','.join(fields)}: choose from "
            f"{', '.join(reply_fields)}"
        )


def _read_buffers(
    input_rows: Iterable[InputRow], row_options: RowOptions
) -> Iterator[list[InputRow]]:
    """Yields the lists of rows that are split into batches.

    If the rows are sorted by length, a list contains thousands of them. A list
    of long texts contains fewer, so that it does not fill the memory.
    """
    max_rows = row_options.batch_size
    if row_options.sorts_by_length:
        max_rows = _BUFFER_ROWS
    buffer: list[InputRow] = []
    num_characters = 0
    for input_row in input_rows:
        buffer.append(input_row)
        num_characters += _count_characters(input_row.request.values())
        if len(buffer) >= max_rows or num_characters > _BUFFER_CHARACTERS:
            yield buffer
            buffer = []
            num_characters = 0
    if buffer:
        yield buffer


def _split_buffer(
    text_task: AnyTextTask,
    buffer: Sequence[InputRow],
    row_options: RowOptions,
) -> Iterator[list[int]]:
    """Yields, for each batch, the indices of its rows in the buffer.

    If the rows are sorted by length, the longest are first. The network also
    computes the padding of the shorter texts in a batch, so that batches of
    similar length are faster.
    """
    order = [*range(len(buffer))]
    if row_options.sorts_by_length:
        lengths = [_length_of(text_task, input_row) for input_row in buffer]
        order.sort(key=lambda index: -lengths[index])
    for start in range(0, len(order), row_options.batch_size):
        yield order[start : start + row_options.batch_size]


def _length_of(text_task: AnyTextTask, input_row: InputRow) -> int:
    return _count_characters(
        input_row.request.get(name) for name in text_task.text_names
    )


def _count_characters(values: Iterable[object]) -> int:
    """Counts the characters of texts and of lists of texts."""
    num_characters = 0
    for value in values:
        if isinstance(value, str):
            num_characters += len(value)
        elif isinstance(value, list | tuple):
            num_characters += sum(
                len(text) for text in value if isinstance(text, str)
            )
    return num_characters


def _reply_to_batch(
    loaded_export: AnyLoadedExport,
    text_task: AnyTextTask,
    batch: Sequence[InputRow],
    reply_options: ReplyOptions,
) -> list[Reply | Failure]:
    """Returns a reply to each request, or the error of its row."""
    requests = [input_row.request for input_row in batch if not input_row.error]
    replies = iter(ask(loaded_export, text_task, requests, reply_options))
    return [
        Failure(input_row.error) if input_row.error else next(replies)
        for input_row in batch
    ]


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


@dataclasses.dataclass
class RowCounter:
    """Counts the requests that got a reply, and shows the progress.

    Attributes:
        progress: shows the number of rows, or None.
        num_rows: number of requests that got a reply, or failed.
        num_yielded: number of rows that were yielded, and are written.
        errors: the first errors, "line 3: why".
        logs_errors: whether to log the first errors.
    """

    progress: Progress | None = None
    num_rows: int = 0
    num_yielded: int = 0
    errors: list[str] = dataclasses.field(default_factory=list)
    logs_errors: bool = True

    def add(self, num_rows: int) -> None:
        """Counts the rows of a batch, and shows the number now and then."""
        self.num_rows += num_rows
        if self.progress and self.progress.is_due(self.num_rows):
            self.progress.update(self.num_rows)

    def report_failure(
        self, input_row: InputRow, reply: Reply | Failure
    ) -> None:
        """Keeps and logs the error of a failed row, if it is an early error."""
        if isinstance(reply, Failure) and len(self.errors) < MAX_LOGGED:
            self.errors.append(f"{input_row}: {reply.error}")
            if self.logs_errors:
                logging.warning("%s", self.errors[-1])
