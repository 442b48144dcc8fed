"""Writes rows of predictions to a file or to standard output, in any format.

A training and predict.py use the same functions.
"""

import contextlib
import gzip
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import IO, Literal, NamedTuple, Protocol, TypeAlias, cast, get_args

from absl import logging

from data.predictions.output_arrays import write_npy
from data.predictions.output_rows import OutputRow, OutputSchema, RowStatus
from data.predictions.output_text import write_csv, write_jsonl
from files.atomic import atomic_open
from files.paths import StrPath, explain_file_errors

# Format of predictions. It is also the extension of the output file's name.
OutputFormat: TypeAlias = Literal["jsonl", "csv", "npy"]
OUTPUT_FORMATS: tuple[OutputFormat, ...] = get_args(OutputFormat)


class _WriteRows(Protocol):
    """Writes rows in one format."""

    def __call__(
        self,
        batches: Iterable[Sequence[OutputRow]],
        output: IO[bytes],
        schema: OutputSchema | None,
    ) -> None:
        """Writes the rows of all batches to an open file."""


# {format: function that writes rows}.
_WRITER_OF_FORMAT: dict[OutputFormat, _WriteRows] = {
    "jsonl": write_jsonl,
    "csv": write_csv,
    "npy": write_npy,
}
# Other formats of tables, which a user might expect to get by their extension.
_OTHER_TABLES = (".tsv", ".parquet", ".xlsx")


def choose_format(
    requested: OutputFormat | None, path: StrPath | None
) -> OutputFormat:
    """Returns the output format: `requested`, or as the extension of `path`.

    If `requested` is None and the extension is unknown, returns "jsonl".

    Raises:
        ValueError: `requested` is None, and the extension belongs to a table in
            a format that cannot be written.
    """
    name = str(path).removesuffix(".gz")
    if not requested and name.endswith(_OTHER_TABLES):
        raise ValueError(
            f"--output_file={path} must end in .{', .'.join(OUTPUT_FORMATS)}. "
            "Or set --output_format"
        )
    for output_format in OUTPUT_FORMATS:
        has_extension = name.endswith(f".{output_format}")
        if output_format == requested or (has_extension and not requested):
            return output_format
    return "jsonl"


class OutputCounts(NamedTuple):
    """Numbers of the rows that were written, and of the failures in them.

    Attributes:
        num_rows: number of rows that were written.
        num_failed: number of requests that failed.
        num_empty: number of requests without text.
    """

    num_rows: int
    num_failed: int
    num_empty: int

    def log(self, written: str = "") -> None:
        """Logs the numbers, and the text `written`, which names the files."""
        logging.info(
            "%d answered, %d failed%s%s",
            self.num_rows - self.num_failed,
            self.num_failed,
            f", {self.num_empty} without text" if self.num_empty else "",
            f"; {written}" if written else "",
        )


def write_output(
    path: str | None,
    output_format: OutputFormat,
    batches: Iterable[list[OutputRow]],
    complete: Callable[[], None] = lambda: None,
    schema: OutputSchema | None = None,
) -> OutputCounts:
    """Writes predictions, and returns how many were written.

    Args:
        path: file to write, compressed if its name ends in `.gz`. It gets this
            name only when it is complete. None is standard output. Standard
            output, pipes and devices get JSON lines batch by batch.
        output_format: format of the output.
        batches: the rows that `reply_to_rows` yields.
        complete: function that is called before the file gets its name.
        schema: columns and fields of the predictions. None = the rows determine
            both.

    Raises:
        OSError: the file cannot be written.
        ValueError: an array cannot store the predictions.
    """
    counts = Counter[RowStatus]()

    def counted_batches() -> Iterator[list[OutputRow]]:
        for rows in batches:
            yield rows
            counts.update(row.status for row in rows)

    with _open_output(path) as output:
        _WRITER_OF_FORMAT[output_format](counted_batches(), output, schema)
        complete()
    return OutputCounts(
        counts.total(), counts[RowStatus.FAILED], counts[RowStatus.EMPTY]
    )


@contextlib.contextmanager
def _open_output(path: str | None) -> Iterator[IO[bytes]]:
    """Opens the output, which appears complete or not at all."""
    if path is None:
        with explain_file_errors("standard output"):
            yield sys.stdout.buffer
        return
    with contextlib.ExitStack() as stack:
        file = stack.enter_context(atomic_open(path))
        if path.endswith(".gz"):
            # Omit the time from the gzip header, so that equal rows produce
            # equal files.
            gzip_file = gzip.GzipFile("", "wb", fileobj=file, mtime=0)
            # GzipFile has all methods of IO that writing needs, but is no
            # subclass.
            file = stack.enter_context(cast(IO[bytes], gzip_file))
        yield file
