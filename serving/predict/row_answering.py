"""Answers the rows of an input: the main loop of predict.py."""

from collections.abc import Iterable, Iterator, Sequence

from data.outputs.output_rows import OutputRow
from serving.predict.reply_rows import (
    FieldCheck,
    RowOptions,
    create_row,
    with_column_error,
)
from serving.predict.request_files import InputRow
from serving.predict.row_counter import RowCounter
from serving.predict.row_grouping import read_buffers, split_buffer
from serving.text_tasks.asking import Failure, ask_model
from serving.text_tasks.loaded_model import LoadedModel
from serving.text_tasks.text_task import AnyTextTask, Reply, ReplyOptions


def answer_rows(
    loaded_model: LoadedModel,
    text_task: AnyTextTask,
    reply_options: ReplyOptions,
    input_rows: Iterable[InputRow],
    row_options: RowOptions,
    counter: RowCounter | None = None,
) -> Iterator[list[OutputRow]]:
    """Yields lists of rows: the input's columns, then a reply or an error.

    The rows are in the order of the requests. If a field of the reply has the
    name of a column, the name of the field gets the prefix `predicted_`.

    Args:
        loaded_model: model that answers the requests.
        text_task: task by which the model answers them.
        reply_options: options that change the replies.
        input_rows: the requests, with the columns of their rows.
        row_options: how the rows are answered, and what they contain.
        counter: counts the rows.

    Raises:
        ValueError: the first reply lacks one of the fields to keep.
    """
    counter = counter or RowCounter()
    if row_options.keeps_columns:
        input_rows = map(with_column_error, input_rows)
    field_check = FieldCheck(row_options)
    batch_size, sorts = row_options.batch_size, row_options.sorts
    for buffer in read_buffers(input_rows, batch_size, sorts=sorts):
        replies: dict[int, Reply | Failure] = {}
        for indices in split_buffer(text_task, buffer, batch_size, sorts=sorts):
            batch = [buffer[index] for index in indices]
            batch_replies = _answer_batch(
                loaded_model, text_task, reply_options, batch
            )
            field_check.check_first_reply(batch_replies)
            replies |= zip(indices, batch_replies, strict=True)
            counter.add(len(indices))
        for index, input_row in enumerate(buffer):
            counter.add_failure(input_row, replies[index])
        yield [
            create_row(input_row, replies[index], text_task, row_options)
            for index, input_row in enumerate(buffer)
        ]
        counter.num_yielded += len(buffer)


def _answer_batch(
    loaded_model: LoadedModel,
    text_task: AnyTextTask,
    reply_options: ReplyOptions,
    batch: Sequence[InputRow],
) -> list[Reply | Failure]:
    """Returns a reply to each request, or the error of its row."""
    requests = [input_row.request for input_row in batch if not input_row.error]
    replies = iter(ask_model(loaded_model, text_task, requests, reply_options))
    return [
        Failure(input_row.error) if input_row.error else next(replies)
        for input_row in batch
    ]
