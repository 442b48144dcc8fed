"""The loop of predict.py: requests to batches, replies to rows to write.

The rows of a file are answered in batches of texts of similar length, because
the network also computes the padding of the shorter texts. The rows of the
output are in the order of the input.
"""

import dataclasses
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from absl import logging

from command_line import signals
from command_line.progress import Progress
from data.tables import tables
from serving.predict.outputs.jsonl import is_writable
from serving.predict.outputs.output_rows import OutputRow, RowStatus
from serving.predict.outputs.output_writer import (
    OutputCounts,
    OutputFormat,
    write_output,
)
from serving.predict.request_files import NO_CELLS, InputRow
from serving.text_tasks.prepared_model import PreparedModel
from serving.text_tasks.task_flags import TaskFlags
from serving.text_tasks.task_steps import Failure, ask_model
from serving.text_tasks.text_task import AnyTextTask, Reply

# Maximum number of errors that are logged. The output contains all errors.
MAX_LOGGED = 10
# Rows of a file to sort by length, and their maximum number of characters.
_BUFFER_ROWS = 4096
_BUFFER_CHARACTERS = 8 << 20


@dataclasses.dataclass(frozen=True, kw_only=True)
class RowOptions:
    """Options for computing rows, and for their columns.

    Attributes:
        batch_size: number of requests in a batch.
        sorts: whether to read thousands of requests at once, and to sort them
            by length. False answers each batch as soon as it is read.
        output_fields: names of the fields of a reply to keep, () for all.
        has_checked_fields: whether it was checked that replies have these
            fields. Otherwise, the loop checks the first reply.
        keeps_columns: whether to keep the columns of the input.
        taken_names: names of columns of the input, if all rows were read
            before. A field of a reply that has such a name is renamed in all
            rows.
    """

    batch_size: int = 32
    sorts: bool = False
    output_fields: Sequence[str] = ()
    has_checked_fields: bool = False
    keeps_columns: bool = True
    taken_names: Collection[str] = ()


@dataclasses.dataclass
class RowCounter:
    """Counts the requests that are answered, and shows the progress.

    Attributes:
        progress: shows the number of rows, or None.
        num_rows: number of requests that are answered, or failed.
        num_yielded: number of rows that were yielded, and are written.
        errors: the first errors, "line 3: why".
        logs: whether to log the first errors.
    """

    progress: Progress | None = None
    num_rows: int = 0
    num_yielded: int = 0
    errors: list[str] = dataclasses.field(default_factory=list)
    logs: bool = True

    def add(self, num_rows: int) -> None:
        """Counts the rows of a batch, and shows the number now and then."""
        self.num_rows += num_rows
        if self.progress and self.progress.is_due(self.num_rows):
            self.progress.update(self.num_rows)

    def add_failure(self, input_row: InputRow, reply: Reply | Failure) -> None:
        """Keeps and logs the error of a failed row, if it is an early error."""
        if isinstance(reply, Failure) and len(self.errors) < MAX_LOGGED:
            self.errors.append(f"{input_row}: {reply.error}")
            if self.logs:
                logging.warning("%s", self.errors[-1])


def answer_rows(
    prepared_model: PreparedModel,
    text_task: AnyTextTask,
    task_flags: TaskFlags,
    input_rows: Iterable[InputRow],
    row_options: RowOptions = RowOptions(),
    counter: RowCounter | None = None,
) -> Iterator[list[OutputRow]]:
    """Yields lists of rows: the input's columns, then a reply or an error.

    The rows are in the order of the requests. If a field of the reply has the
    name of a column, the name of the field gets the prefix `predicted_`.

    Args:
        prepared_model: model that answers the requests.
        text_task: task by which the model answers them.
        task_flags: flags that change the replies.
        input_rows: the requests, with the columns of their rows.
        row_options: what the rows contain.
        counter: counts the rows.

    Raises:
        ValueError: the first reply lacks one of the fields to keep.
    """
    counter = counter or RowCounter()
    if row_options.keeps_columns:
        input_rows = map(_with_column_error, input_rows)
    field_check = _FieldCheck(row_options)
    for buffer in _create_buffers(input_rows, row_options):
        replies: dict[int, Reply | Failure] = {}
        for indices in _create_batches(text_task, buffer, row_options):
            batch = [buffer[index] for index in indices]
            batch_replies = _answer_batch(
                prepared_model, text_task, task_flags, batch
            )
            field_check.check_first_reply(batch_replies)
            replies |= zip(indices, batch_replies, strict=True)
            counter.add(len(indices))
        for index, input_row in enumerate(buffer):
            counter.add_failure(input_row, replies[index])
        yield [
            _create_row(input_row, replies[index], text_task, row_options)
            for index, input_row in enumerate(buffer)
        ]
        counter.num_yielded += len(buffer)


class _FieldCheck:
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


def _answer_batch(
    prepared_model: PreparedModel,
    text_task: AnyTextTask,
    task_flags: TaskFlags,
    batch: Sequence[InputRow],
) -> list[Reply | Failure]:
    """Returns a reply to each request, or the error of its row."""
    requests = [input_row.request for input_row in batch if not input_row.error]
    replies = iter(ask_model(prepared_model, text_task, requests, task_flags))
    return [
        Failure(input_row.error) if input_row.error else next(replies)
        for input_row in batch
    ]


def write_output_rows(
    create_rows: Callable[[RowCounter], Iterator[list[OutputRow]]],
    path: str | None,
    output_format: OutputFormat,
    num_rows: int | None,
) -> OutputCounts:
    """Writes rows as they are computed, and shows the progress.

    Args:
        create_rows: `answer_rows` with all its arguments except the last.
        path: file to write, None = standard output.
        output_format: format of the output.
        num_rows: number of requests, None if it is unknown.

    Returns:
        the numbers of rows, of failed requests and of empty requests.

    Raises:
        OSError: the replies cannot be written.
        ValueError: --output_fields or the format does not suit the replies.
        signals.SignalInterrupt: a signal ended the script.
    """
    with (
        signals.stoppable() as ignore_signals,
        Progress(
            num_rows, unit="row", examples_per_unit=1, description="Predicting"
        ) as progress,
    ):
        counter = RowCounter(progress if path else None)
        try:
            return write_output(
                path, output_format, create_rows(counter), ignore_signals
            )
        except signals.SignalInterrupt as stopped:
            state = f"after {counter.num_yielded} rows"
            if path:
                state = f"after {counter.num_rows} rows; nothing was written"
            raise stopped.with_text(state) from None


def _create_buffers(
    input_rows: Iterable[InputRow], row_options: RowOptions
) -> Iterator[list[InputRow]]:
    """Yields the lists of requests that are split into batches.

    A list of long texts contains fewer requests, so that it does not fill the
    memory.
    """
    max_rows = _BUFFER_ROWS if row_options.sorts else row_options.batch_size
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


def _create_batches(
    text_task: AnyTextTask, buffer: Sequence[InputRow], row_options: RowOptions
) -> Iterator[list[int]]:
    """Yields, for each batch, the indices of its requests in the buffer.

    If `row_options.sorts`, the longest requests are first.
    """
    order = [*range(len(buffer))]
    if row_options.sorts:
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


def check_fields(fields: Sequence[str], reply_fields: Iterable[str]) -> None:
    """Raises a ValueError if a field to keep is no field of a reply."""
    if not {*fields} <= {*reply_fields}:
        raise ValueError(
            f"--output_fields={','.join(fields)}: choose from "
            f"{', '.join(reply_fields)}"
        )


def _create_row(
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
        cells = tables.with_answer(row, fields, row_options.taken_names)
        return OutputRow(cells, RowStatus.FAILED)
    if not reply:
        return OutputRow(row, RowStatus.EMPTY)
    # A reply may repeat the texts of its request.
    repeated = {
        name
        for name in text_task.text_names
        if name in reply and row.get(name) == reply[name]
    }
    kept = {
        name: reply[name]
        for name in row_options.output_fields or reply
        if name in reply and name not in repeated
    }
    return OutputRow(tables.with_answer(row, kept, row_options.taken_names))


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
