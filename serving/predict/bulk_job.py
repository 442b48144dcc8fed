"""Runs the units that reply to a large input, and resumes earlier work."""

import dataclasses
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from absl import logging

from data.io import file_checksums
from data.parallel_jobs.job_files import (
    JobFiles,
    JobPaths,
    create_input_entries,
)
from data.parallel_jobs.job_json_types import JobResults, Manifest, UnitResult
from data.parallel_jobs.work_units import UnitRunner, run_units
from data.predictions import output_writer
from data.predictions.output_rows import OutputRow, OutputSchema
from data.tables.file_ranges import FileRange, split_files
from files import lock
from files.json_files import write_json
from serving.engines import checksums
from serving.predict.bulk_schema import create_schema, read_input_columns
from serving.predict.bulk_setup import BulkSetup
from serving.predict.reply_loop import MAX_LOGGED, RowCounter, reply_to_rows
from serving.predict.reply_rows import RowOptions

# Increase this number whenever you change the code so that the replies change.
_VERSION = 1


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


class BulkResult(NamedTuple):
    """The result of a job, which its command logs.

    Attributes:
        counts: numbers of rows, of failed requests and of empty requests.
        text: text for the log that names the written files.
    """

    counts: output_writer.OutputCounts
    text: str


def run_bulk_job(
    setup: BulkSetup,
    paths: Sequence[str],
    output_file: str,
    num_shards: int,
    unit_runner: UnitRunner,
) -> BulkResult:
    """Writes the shards and the manifest, or resumes unfinished work.

    Args:
        setup: model and flags of the job.
        paths: paths of the files with the requests.
        output_file: path of the output. The numbers of the shards stand before
            its ending.
        num_shards: maximum number of shards. For 0, the size of the input
            determines the number.
        unit_runner: function that runs all units, from `choose_unit_runner`.

    Raises:
        ValueError: a file has no column of texts, the fields to write do not
            exist, the output would replace the input, or an earlier command
            began this output with other flags, inputs or another model.
        OSError: a file cannot be read or written, a process was killed, or
            another process writes the same output.
    """
    text_model = setup.load()
    folder = Path(text_model.path)
    with lock.hold_lock(f"{output_file}.lock", f"--output_file={output_file}"):
        job_paths = JobPaths(output_file, ending=_ending_of(output_file))
        job_files = JobFiles(
            job_paths,
            {
                "version": _VERSION,
                "flags": {**setup.flags(), "num_shards": num_shards},
                "inputs": create_input_entries(paths),
                "model": checksums.list_file_checksums(folder, setup.engine),
            },
        )
        if manifest := job_files.read_intact_manifest():
            job_files.remove_work()
            written = job_paths.pattern(len(manifest["shards"]))
            return _result_of(manifest, f"already wrote {written}")
        # Check the flags first, because reading the files may take long.
        job_files.check_begun()
        units = _create_units(setup, paths, job_paths, num_shards)
        job_files.check_overwrites(units)
        job_files.begin()
        results = run_units(units, write_shard, unit_runner, "Predicting")
        _log_first_errors(results)
        manifest = job_files.finish(_combine_results(results))
        written = job_paths.pattern(len(units))
        return _result_of(manifest, f"wrote {written}")


def _result_of(manifest: Manifest, text: str) -> BulkResult:
    counts = output_writer.OutputCounts(**manifest["answers"])
    return BulkResult(counts, text)


def _ending_of(path: str) -> str:
    """Returns the ending of a path, such as ".csv.gz", for the shards."""
    name = os.path.basename(path)
    compression = ".gz" if name.endswith(".gz") else ""
    return os.path.splitext(name.removesuffix(compression))[1] + compression


def _create_units(
    setup: BulkSetup,
    paths: Sequence[str],
    job_paths: JobPaths,
    num_shards: int,
) -> list[BulkUnit]:
    """Cuts the input into parts, and returns a unit for each."""
    layout = setup.table_layout()
    parts = split_files(paths, layout, num_shards)
    columns = read_input_columns(setup, paths)
    schema = create_schema(setup, columns)
    # An array stores no columns, so no column renames a field.
    is_array = setup.output_format == "npy"
    taken_names = frozenset(() if is_array else columns.taken)
    shards = job_paths.shard_paths(len(parts))
    return [
        BulkUnit(
            setup=setup,
            taken_names=taken_names,
            schema=schema,
            ranges=ranges,
            shards=[shard],
            result_file=job_paths.result_file(unit_index),
        )
        for unit_index, (ranges, shard) in enumerate(
            zip(parts, shards, strict=True)
        )
    ]


def write_shard(unit: BulkUnit) -> None:
    """Writes a unit's shard, and then its result file.

    The result file contains the size and checksum of the shard, the numbers of
    replies and errors, and the first errors.

    Raises:
        OSError: a file cannot be read or written.
        ValueError: a file or the model changed since the job began.
    """
    setup = unit.setup
    counter = RowCounter(logs_errors=False)
    rows = _reply_to_unit(unit, counter)
    (shard,) = unit.shards
    path = setup.absolute_path_of(shard)
    counts = output_writer.write_output(
        path, setup.output_format, rows, schema=unit.schema
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
    write_json(setup.absolute_path_of(unit.result_file), result)


def _reply_to_unit(
    unit: BulkUnit, counter: RowCounter
) -> Iterator[list[OutputRow]]:
    """Loads the model, and returns an iterator over a unit's output rows."""
    setup = unit.setup
    row_options = RowOptions(
        batch_size=setup.batch_size,
        sorts_by_length=True,
        output_fields=setup.output_fields,
        has_checked_fields=True,
        keeps_columns=setup.output_format != "npy",
        taken_names=unit.taken_names,
    )
    return reply_to_rows(
        setup.create_asker(),
        setup.read_input_rows(unit.ranges),
        row_options,
        counter,
    )


def _log_first_errors(results: Sequence[UnitResult]) -> None:
    """Logs the first errors of the job, in the order of its units."""
    errors = [error for result in results for error in result.get("errors", [])]
    for error in errors[:MAX_LOGGED]:
        logging.warning("%s", error)


def _combine_results(results: Sequence[UnitResult]) -> JobResults:
    """Combines the results of the units for the manifest.

    The numbers of replies and errors are its entry `answers`.
    """
    counts: Counter[str] = Counter()
    for result in results:
        counts.update(result["counts"])
    shards = [entry for result in results for entry in result["shards"]]
    return {"answers": dict(counts), "shards": shards}
