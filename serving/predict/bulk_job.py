"""Replies to a large input as a job, whose units write shards of replies.

All units share a `BulkSetup`, with which any process can load the model and
read its part of the input. Before any shard is written, the job finds the
columns that all shards have.
"""

import dataclasses
import itertools
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from absl import logging

from data import output_arrays, output_writer
from data.io import file_checksums
from data.output_rows import (
    OutputRow,
    OutputSchema,
    flatten_prediction,
    with_prediction,
)
from data.output_writer import OutputFormat
from data.parallel_jobs.job import Job
from data.parallel_jobs.job_files import (
    JobDescription,
    JobPaths,
    JobResults,
    UnitResult,
    create_input_entries,
)
from data.tables import parquet
from data.tables.file_ranges import FileRange, guess_range_format, split_files
from data.tables.table_layout import LayoutOptions, TableFormat, TableLayout
from data.text.tokenization import MASK
from exporting import checksums
from exporting.export_formats import ExportFormat
from files.json_files import write_json
from files.paths import is_remote
from serving.model_cache import MODEL_CACHE
from serving.predict.input_rows import InputRow, RequestColumns, read_range_rows
from serving.predict.reply_loop import (
    MAX_LOGGED,
    RowCounter,
    RowOptions,
    check_fields,
    reply_to_rows,
)
from serving.text_model import TextModel
from serving.text_tasks.asking import Failure, ModelAsker
from serving.text_tasks.text_task import Reply, ReplyOptions

# Increase this number whenever you change the code so that the replies change.
_VERSION = 1
# Number of rows of JSON whose keys may rename the fields of all replies.
_FIRST_ROWS = 4096


@dataclasses.dataclass(frozen=True, kw_only=True)
class BulkSetup:
    """The model and the flags with which all units of a job reply to requests.

    Attributes:
        model: folder of the export, `TextModel.path`.
        checksum: checksum of the model's files, `TextModel.checksum`.
        engine: format of the engine.
        num_threads: number of threads of a process, None for one per CPU.
        text_task_name: name of the text task of the requests.
        reply_options: options that change the replies.
        layout_options: how the tables are written, such as their delimiter.
        input_format: format of the requests. For None, the names of the files
            determine the format.
        text_columns: names of the columns of the texts, as the flags name them.
        has_several_files: whether the input has several files, so that errors
            name their file.
        batch_size: number of requests in a batch.
        output_format: format of the replies.
        output_fields: fields of the replies to write, () for all fields.
        working_folder: folder from which relative paths begin, in any process.
    """

    model: str
    checksum: str
    engine: ExportFormat
    num_threads: int | None
    text_task_name: str
    reply_options: ReplyOptions
    layout_options: LayoutOptions
    input_format: TableFormat | None
    text_columns: tuple[str | None, str | None]
    has_several_files: bool
    batch_size: int
    output_format: OutputFormat
    output_fields: tuple[str, ...]
    working_folder: str = dataclasses.field(default_factory=os.getcwd)

    def flags(self) -> dict[str, object]:
        """Returns {name: value} of the flags that determine the replies."""
        text_column, text_b_column = self.text_columns
        return {
            "task": self.text_task_name,
            "engine": self.engine,
            "num_threads": self.num_threads,
            "input_format": self.input_format,
            "text_column": text_column,
            "text_b_column": text_b_column,
            "output_format": self.output_format,
            "output_fields": [*self.output_fields],
            "batch_size": self.batch_size,
            **dataclasses.asdict(self.reply_options),
            **dataclasses.asdict(self.layout_options),
        }

    def load(self) -> TextModel:
        """Returns the model, which each process loads only once.

        Raises:
            ValueError: the folder contains another model than `checksum`.
        """
        text_model = MODEL_CACHE.load(
            TextModel,
            self.absolute_path_of(self.model),
            self.num_threads,
            self.engine,
            self.checksum,
        )
        self._check_checksum(text_model.checksum)
        self.check_model_files()
        return text_model

    def create_asker(self) -> ModelAsker:
        """Returns the `ModelAsker` that computes the replies of the job."""
        text_model = self.load()
        return ModelAsker(
            text_model.text_engine,
            text_model.text_task(self.text_task_name),
            self.reply_options,
        )

    def check_model_files(self) -> None:
        """Checks that the folder still contains the model of the job.

        Raises:
            ValueError: the folder contains another model.
            OSError: a file of the model cannot be read.
        """
        folder = Path(self.absolute_path_of(self.model))
        self._check_checksum(
            checksums.compute_export_checksum(folder, self.engine)
        )

    def _check_checksum(self, checksum: str) -> None:
        if checksum != self.checksum:
            raise ValueError(
                f"{self.model} contains another model than when the job began. "
                "Restore it and run the same command to resume, or answer all "
                "texts with the new model in another --output_file"
            )

    def absolute_path_of(self, path: str) -> str:
        """Returns an absolute path. Workers may run in other folders."""
        return (
            path if is_remote(path) else os.path.join(self.working_folder, path)
        )

    def table_layout(self) -> TableLayout:
        """Returns the layout of the tables in the input."""
        return self.layout_options.layout(self.input_format, None)

    def read_input_rows(
        self, ranges: Iterable[FileRange]
    ) -> Iterator[InputRow]:
        """Yields the rows in ranges of the input, as `read_range_rows` does."""
        text_model = self.load()
        columns = RequestColumns.choose(
            text_model.text_task(self.text_task_name),
            self.text_columns,
            text_model.columns,
        )
        for file_range in ranges:
            path = self.absolute_path_of(file_range.path)
            yield from read_range_rows(
                file_range._replace(path=path),
                columns,
                self.table_layout(),
                file=file_range.path if self.has_several_files else "",
            )


@dataclasses.dataclass(frozen=True)
class BulkUnit:
    """A unit of the job: the ranges to read, and the shard to write.

    Attributes:
        setup: model and flags of the job.
        taken_names: names of columns of the input. A field of a reply that
            has such a name is renamed.
        schema: columns and fields that all shards share.
        ranges: ranges of files to read.
        shards: the path of the only shard of a unit.
        result_file: path of a JSON file to write when the shard is complete.
    """

    setup: BulkSetup
    taken_names: frozenset[str]
    schema: OutputSchema
    ranges: list[FileRange]
    shards: list[str]
    result_file: str

    def write_shards(self) -> None:
        """Writes the shard, and then the result file.

        The result file contains the size and checksum of the shard, the numbers
        of replies and errors, and the first errors.

        Raises:
            OSError: a file cannot be read or written.
            ValueError: a file or the model changed since the job began.
        """
        setup = self.setup
        counter = RowCounter(logs_errors=False)
        rows = self._reply_to_rows(counter)
        (shard,) = self.shards
        path = setup.absolute_path_of(shard)
        counts = output_writer.write_output(
            path, setup.output_format, rows, schema=self.schema
        )
        result: UnitResult = {
            "shards": [
                {
                    "path": shard,
                    "num_records": counts.num_rows,
                    **file_checksums.compute_shard_checksum(path),
                }
            ],
            "counts": counts._asdict(),
            "errors": counter.errors,
        }
        # If the folder changed in between, the shard may contain replies of two
        # models.
        setup.check_model_files()
        write_json(setup.absolute_path_of(self.result_file), result)

    def _reply_to_rows(self, counter: RowCounter) -> Iterator[list[OutputRow]]:
        """Loads the model, and returns an iterator over the output rows."""
        setup = self.setup
        row_options = RowOptions(
            batch_size=setup.batch_size,
            sorts_by_length=True,
            output_fields=setup.output_fields,
            has_checked_fields=True,
            keeps_columns=setup.output_format != "npy",
            taken_names=self.taken_names,
        )
        return reply_to_rows(
            setup.create_asker(),
            setup.read_input_rows(self.ranges),
            row_options,
            counter,
        )


@dataclasses.dataclass(frozen=True, kw_only=True)
class BulkJob(Job[BulkUnit]):
    """The job that replies to the requests of large files.

    The numbers of the shards stand before the ending of `output_file`.
    `num_shards` is the maximum number of shards.

    Attributes:
        setup: model and flags of the job.
    """

    setup: BulkSetup
    progress_description = "Predicting"

    @property
    def paths(self) -> JobPaths:
        """The paths of the shards, of the manifest and of unfinished work."""
        return JobPaths(self.output_file, ending=_ending_of(self.output_file))

    def describe(self) -> JobDescription:
        """Returns the flags, and the checksums of the inputs and the model."""
        setup = self.setup
        folder = Path(setup.load().path)
        return {
            "version": _VERSION,
            "flags": {**setup.flags(), "num_shards": self.num_shards},
            "inputs": create_input_entries(self.input_files),
            "model": checksums.list_file_checksums(folder, setup.engine),
        }

    def create_units(self) -> list[BulkUnit]:
        """Cuts the input into parts, and returns a unit for each.

        Raises:
            ValueError: a file has no column of texts, or the fields to write do
                not exist.
            OSError: a file cannot be read.
        """
        setup = self.setup
        layout = setup.table_layout()
        parts = split_files(self.input_files, layout, self.num_shards)
        columns = _read_input_columns(setup, self.input_files)
        schema = _create_schema(setup, columns)
        # An array stores no columns, so no column renames a field.
        is_array = setup.output_format == "npy"
        taken_names = frozenset(() if is_array else columns.taken)
        shards = self.paths.shard_paths(len(parts))
        return [
            BulkUnit(
                setup=setup,
                taken_names=taken_names,
                schema=schema,
                ranges=ranges,
                shards=[shard],
                result_file=self.paths.result_file(unit_index),
            )
            for unit_index, (ranges, shard) in enumerate(
                zip(parts, shards, strict=True)
            )
        ]

    def combine_results(
        self, units: Sequence[BulkUnit], results: Sequence[UnitResult]
    ) -> JobResults:
        """Sums up the numbers of replies and errors, as the entry `answers`.

        Logs the first errors of the job, in the order of its units.
        """
        del units
        errors = [
            error for result in results for error in result.get("errors", [])
        ]
        for error in errors[:MAX_LOGGED]:
            logging.warning("%s", error)
        counts: Counter[str] = Counter()
        for result in results:
            counts.update(result["counts"])
        shards = [entry for result in results for entry in result["shards"]]
        return {"answers": dict(counts), "shards": shards}


def _ending_of(path: str) -> str:
    """Returns the ending of a path, such as ".csv.gz", for the shards."""
    name = os.path.basename(path)
    compression = ".gz" if name.endswith(".gz") else ""
    return os.path.splitext(name.removesuffix(compression))[1] + compression


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
        """Adds the columns of a row after those of earlier rows."""
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


def _read_input_columns(setup: BulkSetup, paths: Sequence[str]) -> InputColumns:
    """Reads the files in advance, and returns their columns.

    An error in a table appears before the first reply. Of JSON lines, only the
    first rows are read, unless CSV needs all of their keys.

    Raises:
        OSError: a file cannot be read.
        ValueError: a file has no column of texts, or cannot be read to its end.
    """
    text_task = setup.create_asker().text_task
    columns = InputColumns(
        names={}, taken=set(), repeated={*text_task.text_names}
    )
    for path in paths:
        range_format = guess_range_format(path, setup.table_layout())
        max_rows: int | None = None
        if range_format == "parquet":
            columns.add(parquet.read_empty_row(path))
            max_rows = 1
        elif range_format == "text" or (
            range_format and setup.output_format != "csv"
        ):
            max_rows = _FIRST_ROWS
        input_rows = setup.read_input_rows([FileRange(path)])
        for input_row in itertools.islice(input_rows, max_rows):
            if input_row.error:
                continue
            # The file itself describes the columns of Parquet.
            if range_format != "parquet":
                columns.add(input_row.cells)
            columns.drop_unequal_fields(input_row)
    return columns


def _create_schema(setup: BulkSetup, columns: InputColumns) -> OutputSchema:
    """Returns the columns of CSV, or the field of an array.

    Args:
        setup: model and flags of the job.
        columns: columns of the input.

    Raises:
        ValueError: a field to write does not exist, or is not a number.
    """
    replies = _compute_example_replies(setup)
    if setup.output_format == "npy":
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
    if setup.has_several_files:
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
    asker = setup.create_asker()
    long_text = f"a {MASK} " * asker.text_engine.max_seq_length
    requests = [
        {
            field.name: [text] if field.is_list else text
            for field in asker.text_task.fields
        }
        for text in (f"a {MASK}", long_text)
    ]
    replies: list[Reply] = []
    for reply in asker.ask(requests):
        if isinstance(reply, Failure):
            raise reply.error
        replies.append(reply)
    fields = setup.output_fields
    if not fields:
        return replies
    check_fields(fields, replies[0] | replies[1])
    return [
        {name: reply[name] for name in fields if name in reply}
        for reply in replies
    ]
