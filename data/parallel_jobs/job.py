"""Runs a job on a large input from its first check to its manifest.

The input is divided into units of work. A unit writes some files, the shards,
and then its result file, which contains the sizes and checksums of its shards.
The units may run in any order, in any processes, and twice: what they write
depends only on the input. If a job was interrupted, the same command resumes
it: only the units run that are not done. job_files.py describes the files that
record this.
"""

import abc
import contextlib
import dataclasses
import functools
import os
from collections.abc import Callable, Generator, Iterable, Sequence
from typing import (
    TYPE_CHECKING,
    ClassVar,
    Generic,
    NamedTuple,
    Protocol,
    TypeAlias,
    TypeVar,
    cast,
)

from data.io import file_checksums
from data.parallel_jobs.beam_pipeline import run_on_beam
from data.parallel_jobs.job_files import (
    JobDescription,
    JobFiles,
    JobPaths,
    JobResults,
    ManifestT,
    UnitResult,
)
from data.parallel_jobs.workers import run_in_processes
from files import lock
from files.json_files import read_json
from files.typed_dict_checks import find_malformed_entry
from terminal import progress, signals

if TYPE_CHECKING:
    from apache_beam.options.pipeline_options import PipelineOptions


class WorkUnit(Protocol):
    """A unit of the work of a job, which writes one or several shards."""

    @property
    def shards(self) -> list[str]:
        """Paths of the files that the unit writes."""

    @property
    def result_file(self) -> str:
        """Path of the `UnitResult` to write when the shards are complete."""

    def write_shards(self) -> None:
        """Writes the shards, and then the result file."""


UnitT = TypeVar("UnitT", bound=WorkUnit)


# A function that makes calls and yields their results, such as
# `run_in_processes` with its options. It gets a picklable function, and the
# unit of each call.
UnitRunner: TypeAlias = Callable[
    [Callable[[WorkUnit], object], Sequence[tuple[WorkUnit]]], Generator[object]
]


def choose_unit_runner(
    num_processes: int | None, beam_options: "PipelineOptions | None"
) -> UnitRunner:
    """Returns the function that runs the units of a job.

    Args:
        num_processes: number of processes without Beam, as in
            `run_in_processes`. None runs the units in this process.
        beam_options: options of a Beam pipeline, None to run in processes.
    """
    if beam_options is not None:
        return functools.partial(run_on_beam, options=beam_options)
    if num_processes is None:
        num_processes = 1
    return functools.partial(run_in_processes, num_processes=num_processes)


class FinishedJob(NamedTuple, Generic[ManifestT]):
    """A job whose shards are all written, by this call or an earlier one.

    Attributes:
        manifest: the manifest, which lists the shards.
        is_new: whether this call wrote any file.
    """

    manifest: ManifestT
    is_new: bool


@dataclasses.dataclass(frozen=True, kw_only=True)
class Job(abc.ABC, Generic[UnitT, ManifestT]):
    """A job on a large input, divided into units of work that write shards.

    A subclass says what determines the shards, how the input is cut into units,
    and what the manifest says about their results.

    Attributes:
        input_files: paths of the files to read.
        output_file: path with which the names of all files of the job begin.
        num_shards: number of shards that the user asks for. For 0, the size of
            the input determines the number.
        progress_description: what the units do, for the progress.
        discards_failed_work: True if no shard can be reused after a ValueError,
            because the user must change the input or a flag. Then the shards
            are removed. Otherwise the next call resumes the job.
    """

    input_files: Sequence[str]
    output_file: str
    num_shards: int = 0
    progress_description: ClassVar[str]
    discards_failed_work: ClassVar[bool] = False

    @property
    @abc.abstractmethod
    def paths(self) -> JobPaths:
        """The paths of the shards, of the manifest and of unfinished work."""

    @property
    @abc.abstractmethod
    def manifest_type(self) -> type[ManifestT]:
        """The TypedDict with the entries of the manifest."""

    @abc.abstractmethod
    def describe(self) -> JobDescription:
        """Returns the flags and the inputs that determine the shards.

        Reads all inputs, for their checksums.

        Raises:
            OSError: an input cannot be read.
        """

    @abc.abstractmethod
    def create_units(self) -> Sequence[UnitT]:
        """Cuts the input into units, and assigns each the shards to write.

        Raises:
            ValueError: the input or a flag is wrong.
            OSError: an input cannot be read.
        """

    @abc.abstractmethod
    def combine_results(
        self, units: Sequence[UnitT], results: Sequence[UnitResult]
    ) -> JobResults:
        """Combines the results of all units, and logs what is noteworthy.

        Raises:
            ValueError: the results show that the input or a flag is wrong.
        """

    def run(self, unit_runner: UnitRunner) -> FinishedJob[ManifestT]:
        """Writes the shards and the manifest, or resumes unfinished work.

        Args:
            unit_runner: function that runs all units, as `choose_unit_runner`
                returns it.

        Raises:
            ValueError: the input or a flag is wrong, the output would replace
                an input, or an earlier command began this output with other
                flags or other inputs.
            OSError: a file cannot be read or written, a process was killed, or
                another process writes the same output.
        """
        output_file = self.output_file
        place = f"--output_file={output_file}"
        with lock.hold_lock(f"{output_file}.lock", place):
            job_files = JobFiles(
                self.paths, self.describe(), self.manifest_type
            )
            if manifest := job_files.read_intact_manifest():
                job_files.remove_work()
                return FinishedJob(manifest, is_new=False)
            # Compare the flags first, because `create_units` may take long.
            job_files.check_begun()
            units = self.create_units()
            job_files.check_overwrites(
                path for unit in units for path in unit.shards
            )
            job_files.begin()
            # Fail before the `try` block, which may remove finished shards.
            check_results(units)
            try:
                results = run_units(
                    units, unit_runner, self.progress_description
                )
                combined = self.combine_results(units, results)
            except ValueError:
                if self.discards_failed_work:
                    remove_finished_shards(units)
                    job_files.remove_work()
                raise
            return FinishedJob(job_files.finish(combined), is_new=True)


def run_units(
    units: Sequence[WorkUnit],
    unit_runner: UnitRunner,
    progress_description: str = "",
) -> list[UnitResult]:
    """Runs the units that are not done, and returns the results of all units.

    Args:
        units: all units of the job.
        unit_runner: function that runs the units, as `choose_unit_runner`
            returns it. Its processes receive the units as pickles.
        progress_description: what the units do, for the progress.

    Raises:
        OSError: a file cannot be written, or a process was killed.
        ValueError: a unit failed, or a result file is damaged.
        signals.SignalInterrupt: a signal ended the job. The text says what is
            done.
    """
    calls = [(unit,) for unit in units if not is_done(unit)]
    try:
        with contextlib.closing(unit_runner(_write_shards, calls)) as results:
            for _ in progress.track(
                results, len(calls), "unit", progress_description
            ):
                pass
    except signals.SignalInterrupt as stopped:
        num_done = sum(os.path.exists(unit.result_file) for unit in units)
        raise stopped.with_text(
            f"after {num_done} of {len(units)} units; run the same command to "
            "resume"
        ) from None
    return [_read_result(unit.result_file) for unit in units]


def _write_shards(unit: WorkUnit) -> None:
    """Runs in a worker process, which can import this function."""
    unit.write_shards()


def is_done(unit: WorkUnit) -> bool:
    """Returns whether a unit's result file exists and its shards are intact."""
    # The result file appears when the unit is finished.
    if not os.path.exists(unit.result_file):
        return False
    result = _read_result(unit.result_file)
    return all(map(file_checksums.is_intact, unit.shards, result["shards"]))


def _read_result(path: str) -> UnitResult:
    result = read_json(path)
    if name := find_malformed_entry(result, UnitResult):
        raise ValueError(
            f"{path} is damaged: `{name}` is missing or malformed. Remove the "
            "file, and run the same command to resume"
        )
    return cast("UnitResult", result)


def check_results(units: Iterable[WorkUnit]) -> None:
    """Checks the result files of the finished units.

    Raises:
        ValueError: a result file is damaged.
    """
    for unit in units:
        if os.path.exists(unit.result_file):
            _read_result(unit.result_file)


def remove_finished_shards(units: Iterable[WorkUnit]) -> None:
    """Removes the shards of the units that are done."""
    for unit in filter(is_done, units):
        for path in unit.shards:
            os.remove(path)
