"""Groups the rows of an input into batches of texts of similar length.

The network also computes the padding of the shorter texts in a batch, so that
batches of similar length are faster.
"""

from collections.abc import Iterable, Iterator, Sequence

from serving.predict.request_files import InputRow
from serving.text_tasks.text_task import AnyTextTask

# Rows of a file to sort by length, and their maximum number of characters.
_BUFFER_ROWS = 4096
_BUFFER_CHARACTERS = 8 << 20


def read_buffers(
    input_rows: Iterable[InputRow], batch_size: int, *, sorts: bool
) -> Iterator[list[InputRow]]:
    """Yields the lists of requests that are split into batches.

    If the caller sorts the requests, a list contains thousands of them. A list
    of long texts contains fewer, so that it does not fill the memory.
    """
    max_rows = _BUFFER_ROWS if sorts else batch_size
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


def split_buffer(
    text_task: AnyTextTask,
    buffer: Sequence[InputRow],
    batch_size: int,
    *,
    sorts: bool,
) -> Iterator[list[int]]:
    """Yields, for each batch, the indices of its requests in the buffer.

    If `sorts`, the longest requests are first.
    """
    order = [*range(len(buffer))]
    if sorts:
        lengths = [_length_of(text_task, input_row) for input_row in buffer]
        order.sort(key=lambda index: -lengths[index])
    for start in range(0, len(order), batch_size):
        yield order[start : start + batch_size]


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
