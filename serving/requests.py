"""Reads requests from tables, JSON lines or text, and checks them.

If a row cannot be read or answered, reading continues with the next row.
"""

import json
import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from itertools import zip_longest
from typing import Any, NamedTuple

from data.io import tables
from files.paths import named_errors
from serving.tasks.base import TextTask

MAX_LINE_BYTES = 1 << 24
# A batch is complete when its texts contain this many characters.
_MAX_BATCH_CHARS = 1 << 20


class Item(NamedTuple):
    """A request, and its position in the input.

    Attributes:
        line: number of the request's first line, or of its row in Parquet.
        request: the request, {} if its row cannot be read.
        error: why the row cannot be read or answered, or None.
        file: name of the file if there are several files, else "".
    """

    line: int
    request: dict[str, Any]
    error: ValueError | None = None
    file: str = ""

    def __str__(self) -> str:
        """Returns "FILE, line N", or "line N" without a file."""
        return f"{self.file}, line {self.line}".removeprefix(", ")


def read(
    task: TextTask,
    paths: Sequence[str],
    form: str | None = None,
    quoting: bool = True,
    columns: Sequence[str | None] = (),
) -> Iterator[Item]:
    """Yields an unchecked Item for each row of the files. Skips blank lines.

    Args:
        task: task that will answer the requests.
        paths: paths of the files, or text_files.STDIN for standard input.
        form: format of the files, one of tables.FORMS. None infers the format
            of each file from the file's name or first line.
        quoting: whether `"` quotes cells of CSV and TSV files.
        columns: names of the columns to read for the task's first field, second
            field, and so on. None reads the column with the field's own name.

    Raises:
        OSError: a file cannot be read.
        ValueError: a column is missing, or an unclosed quote spans lines.
    """
    if len(columns) > len(task.fields) and columns[-1]:
        raise ValueError(
            f"--text_b_column={columns[-1]}: the only fields of "
            f"{task.name} are {', '.join(task.fields)}; omit the flag"
        )
    fields = zip_longest(task.fields, columns[: len(task.fields)])
    # `names` is {column that a flag selects: field}. `replaced` contains these
    # columns, and also the columns that are named like these fields, because
    # the flag overrides them.
    names: dict[str, str] = {}
    replaced: set[str] = set()
    needed: list[list[str]] = []
    optional = ["id"]
    for field, column in fields:
        others = [field, *task.other_names.get(field, ())]
        if column:
            names[column] = field
            replaced |= {column, *others}
            needed.append([column])
        elif task.fields[field]:
            needed.append(others)
        else:
            optional += others
    if all(column.isdecimal() for some in needed for column in some):
        # If the columns are selected by number, the table's first line is not a
        # header, so no optional column can be found by its name.
        optional = []
    for path in paths:
        own = form or tables.form_of(path)
        is_table = own not in ("jsonl", "text", None)
        rows = tables.read_rows(
            path,
            needed if is_table else [[name] for name in columns if name],
            optional,
            own,
            quoting,
            MAX_LINE_BYTES,
        )
        file = path if len(paths) > 1 else ""
        with named_errors(path):
            for number, row in rows:
                if isinstance(row, ValueError):
                    yield Item(number, {}, row, file)
                    continue
                request = _to_request(row, names, replaced, is_table)
                yield Item(number, request, None, file)


def count(task: TextTask, items: Iterator[Item], paths: Sequence[str]) -> int:
    """Counts the items that `read` yields from `paths`.

    Checks the items only up to the first item that the task can answer.

    Raises:
        OSError: a file cannot be read.
        ValueError: `read` fails, or the task can answer no row.
    """
    number, reason = 0, ""
    for item in items:
        number += 1
        if not (error := check(task, item).error):
            return number + sum(1 for _ in items)
        reason = reason or f"{item}: {error}"
    if number:
        raise ValueError(
            f"{', '.join(paths)}: no row can be answered; {reason}. Set "
            "--text_column to the column of the text"
        )
    return 0


def _to_request(
    row: Mapping[str, Any],
    names: Mapping[str, str],
    replaced: Set[str],
    is_table: bool,
) -> dict[str, Any]:
    """Converts a row, {column: cell}, to a request.

    `names` is {column that a flag selects: field}. The columns in `replaced`
    are not copied. In a table, empty cells are omitted, and the
    field `words` is split at white space.
    """
    if names.keys().isdisjoint(row):
        # Plain text contains no columns, so there is nothing to rename.
        names, replaced = {}, set()
    request = {
        name: cell
        for name, cell in row.items()
        if name not in replaced and not (is_table and cell is None)
    }
    for column, field in names.items():
        request[field] = row.get(column)
    if is_table and isinstance(request.get("words"), str):
        request["words"] = request["words"].split()
    return request


def read_batches(
    items: Iterable[Item], batch_size: int
) -> Iterator[list[Item]]:
    """Yields batches of the requests that have arrived so far.

    A thread reads the requests, so that a line from a pipe is answered as soon
    as it arrives. Lines that arrive during a computation form the next batch.

    Args:
        items: items that `read` yields.
        batch_size: maximum number of requests in a batch.
    """
    waiting: queue.Queue[Item | None] = queue.Queue(maxsize=batch_size)
    failures = []

    def read() -> None:
        try:
            for item in items:
                waiting.put(item)
        except Exception as error:
            failures.append(error)
        waiting.put(None)

    threading.Thread(target=read, daemon=True).start()
    arrived: Iterator[Any] = iter(waiting.get, None)
    yield from cut_batches(arrived, batch_size, waiting.empty)
    for failure in failures:
        raise failure


def cut_batches(
    items: Iterable[Item],
    batch_size: int,
    is_last: Callable[[], bool] = lambda: False,
) -> Iterator[list[Item]]:
    """Divides requests into batches.

    A batch ends at each multiple of `batch_size` requests, because a shard may
    begin there. A batch ends earlier if its texts contain _MAX_BATCH_CHARS
    characters, or if `is_last` returns True after a request. If `is_last` ends
    a batch, the count of requests starts again at 0.
    """
    batch: list[Item] = []
    size = count = 0
    for item in items:
        batch.append(item)
        size += _size(item)
        count += 1
        ends = is_last()
        if count % batch_size == 0 or size >= _MAX_BATCH_CHARS or ends:
            yield batch
            batch, size = [], 0
            count = 0 if ends else count
    if batch:
        yield batch


def cut_shard(
    num_rows: int, shard: tuple[int, int], batch_size: int
) -> tuple[int, int]:
    """Returns the first row of a shard and the row after its last row.

    No batch is divided between two shards. So the joined answers of all shards
    are equal to the answers of one run over all rows.

    Args:
        num_rows: number of rows in all shards.
        shard: number of the shard, from 1, and number of shards.
        batch_size: number of rows in a batch, as in `cut_batches`.
    """
    number, count = shard
    num_batches = -(-num_rows // batch_size)
    start, end = (
        min(num_batches * border // count * batch_size, num_rows)
        for border in (number - 1, number)
    )
    return start, end


def _size(item: Item) -> int:
    """Returns the number of characters in the texts of a request."""
    texts = 0
    for value in item.request.values():
        for text in value if isinstance(value, list) else [value]:
            texts += len(text) if isinstance(text, str) else 0
    return texts


def check(task: TextTask, item: Item) -> Item:
    """Returns the item, with an error if the task cannot answer it."""
    if item.error:
        return item
    try:
        # Check the id inside a list, because answers nest it one level deeper.
        json.dumps([item.request.get("id")])
    except RecursionError:
        del item.request["id"]
        error = ValueError("'id' is nested too deeply. Use a string")
        return item._replace(error=error)
    try:
        task.check(item.request)
    except ValueError as error:
        return item._replace(error=error)
    return item
