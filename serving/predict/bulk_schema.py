"""Finds the columns that all shards of a job have, before any is written."""

import dataclasses
import itertools
from collections.abc import Mapping, Sequence

from data.predictions import output_arrays
from data.predictions.output_rows import (
    OutputSchema,
    flatten_prediction,
    with_prediction,
)
from data.predictions.output_writer import OutputFormat
from data.tables import parquet
from data.tables.file_ranges import FileRange, RangeFormat, guess_range_format
from data.text.tokenization import MASK
from serving.predict.bulk_setup import BulkSetup
from serving.predict.input_rows import InputRow
from serving.predict.reply_loop import check_output_fields
from serving.text_tasks.asking import Failure, ask
from serving.text_tasks.text_task import Reply

# Number of rows of JSON whose keys may rename the fields of all replies.
_FIRST_ROWS = 4096


@dataclasses.dataclass
class InputColumns:
    """The columns of the input, as far as they have been read.

    Attributes:
        names: {key of a cell: its name in the header} of CSV.
        taken: keys of the rows, and of the JSON objects in the rows.
        repeated: fields of the requests that equal the column of the same name
            in all rows so far.
    """

    names: dict[str, str]
    taken: set[str]
    repeated: set[str]

    def add(self, row: Mapping[str, object]) -> None:
        """Adds the columns of a row after the columns of earlier rows."""
        flat = flatten_prediction(row)
        for key in flat:
            self.names.setdefault(str(key), getattr(key, "name", key))
        self.taken.update(map(str, itertools.chain(row, flat)))

    def drop_unequal_fields(self, input_row: InputRow) -> None:
        """Removes fields from `repeated` that differ from their column."""
        self.repeated = {
            name
            for name in self.repeated
            if input_row.cells.get(name) == input_row.request.get(name)
        }


def read_input_columns(setup: BulkSetup, paths: Sequence[str]) -> InputColumns:
    """Reads the files in advance, and returns their columns.

    An error in a table appears before the first reply. Of JSON lines, only the
    first rows are read, unless CSV needs all of their keys.

    Raises:
        OSError: a file cannot be read.
        ValueError: a file has no column of texts, or cannot be read to its end.
    """
    text_task = setup.load_text_model().text_task(setup.text_task_name)
    columns = InputColumns(
        names={}, taken=set(), repeated={*text_task.text_names}
    )
    for path in paths:
        _add_file(columns, setup, path)
    return columns


def _add_file(columns: InputColumns, setup: BulkSetup, path: str) -> None:
    """Adds the columns of a file after the columns of earlier files."""
    range_format = guess_range_format(path, setup.input.table_layout())
    if range_format == "parquet":
        # The file itself describes its columns.
        columns.add(parquet.read_empty_row(path))
    input_rows = setup.read_input_rows([FileRange(path)])
    max_rows = _choose_max_rows(range_format, setup.output.format)
    for input_row in itertools.islice(input_rows, max_rows):
        if input_row.error:
            continue
        if range_format != "parquet":
            columns.add(input_row.cells)
        columns.drop_unequal_fields(input_row)


def _choose_max_rows(
    range_format: RangeFormat | None, output_format: OutputFormat
) -> int | None:
    """Returns how many rows of a file to read in advance, None for all."""
    if range_format == "parquet":
        return 1
    if range_format == "jsonl" and output_format == "csv":
        # Any row may have a key that no earlier row has.
        return None
    # A file that is not cut into ranges may contain an error at its end.
    return _FIRST_ROWS if range_format else None


def create_schema(setup: BulkSetup, columns: InputColumns) -> OutputSchema:
    """Returns the columns of CSV, or the field of an array.

    Args:
        setup: model and flags of the job.
        columns: columns of the input.

    Raises:
        ValueError: a field to write does not exist, or is not a number.
    """
    replies = _compute_example_replies(setup)
    if setup.output.format == "npy":
        name = output_arrays.choose_numeric_field(replies[0])
        arrays = [output_arrays.to_numbers(reply[name]) for reply in replies]
        shapes = {array.shape for array in arrays if array is not None}
        if len(shapes) > 1:
            raise ValueError(
                f"{name!r} is not always of one shape. Set "
                "--output_format=jsonl"
            )
        return OutputSchema({}, name, shapes.pop())
    written_fields = {
        name: value
        for reply in replies
        for name, value in reply.items()
        if not (name in columns.repeated and name in columns.taken)
    }
    error_fields: dict[str, object] = {"line": 0, "error": ""}
    if setup.input.has_several_files:
        error_fields = {"file": "", **error_fields}
    added = with_prediction({}, written_fields, columns.taken)
    added |= with_prediction({}, error_fields, columns.taken)
    return OutputSchema(
        columns.names | {key: key for key in flatten_prediction(added)}
    )


def _compute_example_replies(setup: BulkSetup) -> list[Reply]:
    """Returns the model's replies to a short and a long text.

    Together, the two replies have all fields that a reply may have. If the job
    writes only some fields, the function returns only these fields.
    """
    text_model = setup.load_text_model()
    text_task = text_model.text_task(setup.text_task_name)
    long_text = f"a {MASK} " * text_model.max_seq_length
    requests = [
        {
            field.name: [text] if field.is_list else text
            for field in text_task.fields
        }
        for text in (f"a {MASK}", long_text)
    ]
    replies: list[Reply] = []
    for reply in ask(
        text_model.loaded_export, text_task, requests, setup.reply_options
    ):
        if isinstance(reply, Failure):
            raise reply.error
        replies.append(reply)
    fields = setup.output.fields
    if not fields:
        return replies
    check_output_fields(fields, replies[0] | replies[1])
    return [
        {name: reply[name] for name in fields if name in reply}
        for reply in replies
    ]
