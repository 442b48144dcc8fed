"""Requests: read from tables, JSON lines, text or a pipe, and checked.

A bad row does not stop others: see predict.py.
"""

import dataclasses
import json
import queue
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from data.io import tables
from files.flags import flag
from files.paths import named_errors

if TYPE_CHECKING:
    from serving.tasks.base import TextTask

MAX_LINE_BYTES = 1 << 24
# Maximum bytes of the texts in a batch; a longer line is a batch of its own.
_MAX_BATCH_BYTES = 1 << 20
# From this size on, NumPy rounds a vector faster than Python formats it.
_MANY = 64
_POWERS = np.array([float(f"1e{n}") for n in range(309)])
# Marks a gap in the text of a request.
MASK = "[MASK]"

# A text, or several of them.
Texts = str | Sequence[str]


@dataclasses.dataclass(frozen=True, kw_only=True)
class TaskOptions:
    """Options that limit or extend answers: flags of predict.py."""

    top_k: int = flag(5, "fill-mask: WordPieces for each mask.", at_least=1)
    min_probability: float = flag(
        0.0,
        'classify: write "label": null where no label is as probable.',
        at_least=0.0,
        at_most=1.0,
    )
    n_best: int = flag(1, "answer: maximum answers per question.", at_least=1)
    tokens: bool = flag(
        False,
        "embed: also write each WordPiece and its vector; score: each "
        "WordPiece and its log probability.",
    )
    labels: Sequence[str] = flag(
        (), "zero-shot: labels to choose from, if a request names none."
    )
    hypothesis: str = flag(
        "This example is {}.",
        "zero-shot: sentence about a label, which replaces {}.",
    )


DEFAULTS = TaskOptions()


class Place(NamedTuple):
    """Where a request stands.

    Attributes:
        line: number of its first line, or of its row in Parquet.
        file: its file, where there are several.
    """

    line: int
    file: str = ""

    def __str__(self) -> str:
        """Returns it as messages name it."""
        return f"{self.file}, line {self.line}".removeprefix(", ")


# The place of a request, and the request or what is wrong with it.
Numbered = tuple[Place, dict[str, Any] | ValueError]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Source:
    """Where requests are read from.

    Attributes:
        paths: files, or text_files.STDIN.
        form: one of tables.FORMS. None decides by each file's name or first
            line.
        quoting: as for tables.read_rows.
        columns: names of the columns of a task's first fields, in their order;
            None for one that is named like the field.
    """

    paths: Sequence[str]
    form: str | None = None
    quoting: bool = True
    columns: Sequence[str | None] = ()

    def read(self, task: "TextTask") -> Iterator[Numbered]:
        """Yields the request of each row; blank lines are skipped.

        Raises:
            OSError: a file cannot be read.
            ValueError: a table lacks a column, or quotes hide where rows begin.
        """
        given = [*filter(None, self.columns)]
        if len(self.columns) > len(task.fields) and self.columns[-1]:
            raise ValueError(
                f"--text_b_column={self.columns[-1]}: {task.name} takes "
                f"{', '.join(task.fields)}; leave it out"
            )
        fields = zip_longest(task.fields, self.columns[: len(task.fields)])
        # {name of a column: field}, and what such a field is called otherwise.
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
            # Nothing names the columns.
            optional = []
        for path in self.paths:
            form = self.form or tables.form_of(path)
            is_table = form not in ("jsonl", "text", None)
            rows = tables.read_rows(
                path,
                needed if is_table else [[column] for column in given],
                optional,
                form,
                self.quoting,
                MAX_LINE_BYTES,
            )
            file = path if len(self.paths) > 1 else ""
            with named_errors(path):
                for number, row in rows:
                    if not isinstance(row, ValueError):
                        row = _to_request(row, names, replaced, is_table)
                    yield Place(number, file), row

    def count(self, task: "TextTask") -> int:
        """Returns the number of rows, and finds what keeps all from an answer.

        Raises:
            OSError, ValueError: as for `read`, or no row can be answered.
        """
        rows = self.read(task)
        number, reason = 0, ""
        for place, item in rows:
            number += 1
            try:
                check_request(task, item)
                return number + sum(1 for _ in rows)
            except ValueError as error:
                reason = reason or f"{place}: {error}"
        if number:
            raise ValueError(
                f"{', '.join(self.paths)}: no row can be answered; {reason}. "
                "--text_column names the column of the text"
            )
        return 0


def _to_request(
    row: Mapping[str, Any],
    names: Mapping[str, str],
    replaced: Set[str],
    is_table: bool,
) -> dict[str, Any]:
    """Returns a row as a request.

    Args:
        row: its cells.
        names: {column: field}, for columns that flags name.
        replaced: these columns, and what other rows call their fields.
        is_table: whether it is not of JSON: an empty cell is no field, and
            `words` may be a text.
    """
    if names.keys().isdisjoint(row):
        # Plain text has no columns to name.
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
    numbered: Iterable[Numbered], batch_size: int
) -> Iterator[list[Numbered]]:
    """Yields lists of requests: all that have arrived, at least one.

    A thread reads, so that a line on a pipe is answered when it arrives, and
    lines that arrive meanwhile are answered together.

    Args:
        numbered: requests with their places.
        batch_size: maximum requests in a list.
    """
    waiting: queue.Queue[Numbered | None] = queue.Queue(maxsize=batch_size)
    failures = []

    def read() -> None:
        try:
            for item in numbered:
                waiting.put(item)
        except Exception as error:
            failures.append(error)
        waiting.put(None)

    threading.Thread(target=read, daemon=True).start()
    while (item := waiting.get()) is not None:
        batch, size = [item], _size(item)
        while (
            len(batch) < batch_size
            and not waiting.empty()
            and size < _MAX_BATCH_BYTES
        ):
            if (item := waiting.get()) is None:
                # For the outer loop; nothing else comes any more.
                waiting.put(None)
                break
            batch.append(item)
            size += _size(item)
        yield batch
    for failure in failures:
        raise failure


def cut_batches(
    numbered: Iterable[Numbered], batch_size: int
) -> Iterator[list[Numbered]]:
    """Yields lists of requests that depend on nothing but the requests.

    A list never crosses a multiple of `batch_size` rows.
    """
    batch: list[Numbered] = []
    size = 0
    for index, item in enumerate(numbered):
        if batch and (index % batch_size == 0 or size >= _MAX_BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(item)
        size += _size(item)
    if batch:
        yield batch


def cut_shard(
    num_rows: int, shard: tuple[int, int], batch_size: int
) -> tuple[int, int]:
    """Returns the first row of a shard and the end, exclusive.

    The shards follow one another, and no batch is in two of them: their answers
    are those of one run.

    Args:
        num_rows: number of all rows.
        shard: number of the shard, from 1, and number of shards.
        batch_size: as for `cut_batches`.
    """
    number, count = shard
    num_batches = -(-num_rows // batch_size)
    start, end = (
        min(num_batches * border // count * batch_size, num_rows)
        for border in (number - 1, number)
    )
    return start, end


def _size(item: Numbered) -> int:
    """Returns the approximate bytes of the texts of a request."""
    if isinstance(item[1], ValueError):
        return 0
    texts = 0
    for value in item[1].values():
        for text in value if isinstance(value, list) else [value]:
            texts += len(text) if isinstance(text, str) else 0
    return texts


def check_request(
    task: "TextTask", item: dict[str, Any] | ValueError
) -> dict[str, Any]:
    """Returns a request.

    Raises:
        ValueError: it could not be read, or cannot be answered.
    """
    if isinstance(item, ValueError):
        raise item
    try:
        # In an answer it is nested one level deeper.
        json.dumps([item.get("id")])
    except RecursionError:
        del item["id"]
        raise ValueError("'id' is nested too deeply") from None
    task.check(item)
    return item


def check_text(field: str, value: Any) -> None:
    """Checks that a field of a request is text.

    Raises:
        ValueError: it is not valid text.
    """
    if not isinstance(value, str):
        raise ValueError(
            f"{field!r} must be a text. Received: {repr(value)[:80]}"
        )
    try:
        value.encode()
    except UnicodeEncodeError as error:
        # Bytes that are not UTF-8 are read as lone surrogates.
        if "\udc80" <= value[error.start] <= "\udcff":
            raise ValueError(f"{field!r} is not UTF-8") from None
        raise ValueError(
            f"{field!r} contains half of a surrogate pair, which is no "
            "character"
        ) from None


def as_texts(name: str, texts: Any) -> Texts:
    """Returns a text, or several of them as a list.

    Args:
        name: the argument's name, for the message.
        texts: a text, or anything that lists texts in an order.

    Raises:
        TypeError: it is neither.
    """
    if isinstance(texts, str):
        return texts
    is_list = isinstance(texts, Iterable)
    is_list &= not isinstance(texts, bytes | Mapping | Set)
    values: list[Any] = [*texts] if is_list else [None]
    if all(isinstance(value, str) for value in values):
        return values
    raise TypeError(
        f"{name} must be a text or a list of texts. "
        f"Received: {repr(texts)[:80]}"
    )


def to_number(value: float) -> float:
    """Returns a float of 6 significant digits; see `to_numbers`."""
    return to_numbers([value])[0]


def to_numbers(values: Sequence[float] | np.ndarray) -> list[float]:
    """Rounds numbers to 6 significant digits, as JSON writes them.

    Raises:
        ValueError: JSON cannot represent one of them.
    """
    # One check of all: a check of each number takes longer than its text.
    numbers = np.asarray(values)
    is_finite = np.isfinite(numbers)
    if not is_finite.all():
        raise ValueError(
            f"the model returns {numbers[~is_finite][0]}, which is not a "
            "finite number; its weights or its precision must be wrong"
        )
    if numbers.size < _MANY:
        return [float(f"{number:.6g}") for number in numbers.tolist()]
    # The same at once: an integer of 6 digits over a power of ten.
    numbers = numbers.astype(np.float64)
    size = np.abs(numbers)
    exponents = np.floor(np.log10(size, where=size > 0, out=size))
    digits = 5 - exponents.astype(int)
    up, down = (_POWERS[np.clip(each, 0, 308)] for each in (digits, -digits))
    return (np.round(numbers * up / down) / up * down).tolist()
