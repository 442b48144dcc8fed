"""Replies to a large input as a job, whose units write shards of replies.

All units share a `BulkSetup`, with which any process can load the model and
read its part of the input. Before any shard is written, the job finds the
columns that all shards have.
"""

import dataclasses
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from absl import logging

from data.io import file_checksums
from data.parallel_jobs.job import Job
from data.parallel_jobs.job_files import (
    InputEntry,
    JobDescription,
    JobPaths,
    JobResults,
    UnitResult,
    create_input_entries,
)
from data.predictions import output_writer
from data.predictions.output_rows import (
    OutputRow,
    OutputSchema,
)
from data.tables.file_ranges import FileRange, split_files
from exporting import export_checksums
from files.json_files import write_json
from serving.predict.bulk_schema import create_schema, read_input_columns
from serving.predict.bulk_setup import BulkSetup
from serving.predict.reply_loop import (
    MAX_LOGGED,
    RowCounter,
    RowOptions,
    reply_to_rows,
)

# Increase this number whenever you change the code so that the replies change.
_VERSION = 1


class BulkDescription(JobDescription):
    """The flags, the inputs and the model that determine the shards.

    Attributes:
        model: files of the export that replies.
    """

    model: list[InputEntry]


class BulkResults(JobResults):
    """The shards of replies, and their numbers.

    Attributes:
        answers: numbers of replies and errors, the fields of an OutputCounts.
    """

    answers: dict[str, int]


class BulkManifest(BulkDescription, BulkResults):
    """Contents of the manifest beside the shards of replies."""


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
            path, setup.output.format, rows, schema=self.schema
        )
        result: UnitResult = {
            "shards": [
                {
                    "path": shard,
                    "num_records": counts.num_rows,
                    **file_checksums.compute_size_and_checksum(path),
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
        text_model = setup.load_text_model()
        row_options = RowOptions(
            reply_options=setup.reply_options,
            batch_size=setup.batch_size,
            sorts_by_length=True,
            output_fields=setup.output.fields,
            has_checked_fields=True,
            keeps_columns=setup.output.format != "npy",
            taken_names=self.taken_names,
        )
        return reply_to_rows(
            text_model.loaded_export,
            text_model.text_task(setup.text_task_name),
            setup.read_input_rows(self.ranges),
            row_options,
            counter,
        )


@dataclasses.dataclass(frozen=True, kw_only=True)
class BulkJob(Job[BulkUnit, BulkManifest]):
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

    @property
    def manifest_type(self) -> type[BulkManifest]:
        """The entries of the manifest."""
        return BulkManifest

    def describe(self) -> BulkDescription:
        """Returns the flags, and the checksums of the inputs and the model."""
        setup = self.setup
        folder = Path(setup.load_text_model().path)
        return {
            "version": _VERSION,
            "flags": {**setup.flags(), "num_shards": self.num_shards},
            "inputs": create_input_entries(self.input_files),
            "model": export_checksums.list_file_checksums(
                folder, setup.model.engine
            ),
        }

    def create_units(self) -> list[BulkUnit]:
        """Cuts the input into parts, and returns a unit for each.

        Raises:
            ValueError: a file has no column of texts, or the fields to write do
                not exist.
            OSError: a file cannot be read.
        """
        setup = self.setup
        layout = setup.input.table_layout()
        parts = split_files(self.input_files, layout, self.num_shards)
        columns = read_input_columns(setup, self.input_files)
        schema = create_schema(setup, columns)
        # An array stores no columns, so no column renames a field.
        is_array = setup.output.format == "npy"
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
    ) -> BulkResults:
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
