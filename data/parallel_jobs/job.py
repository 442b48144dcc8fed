"""Runs a job from its first check to its manifest, or resumes it."""

import abc
import dataclasses
from collections.abc import Sequence
from typing import ClassVar, Generic, NamedTuple

from data.parallel_jobs.job_files import (
    JobDescription,
    JobFiles,
    JobPaths,
    JobResults,
    Manifest,
    UnitResult,
)
from data.parallel_jobs.work_units import (
    UnitRunner,
    UnitT,
    check_results,
    remove_finished_shards,
    run_units,
)
from files import lock


class FinishedJob(NamedTuple):
    """A job whose shards are all written, by this call or an earlier one.

    Attributes:
        manifest: the manifest, which lists the shards and sums up the counts.
        is_new: whether this call wrote any file.
    """

    manifest: Manifest
    is_new: bool


@dataclasses.dataclass(frozen=True, kw_only=True)
class Job(abc.ABC, Generic[UnitT]):
    """A job on a large input, divided into units of work that write shards.

    A subclass says what determines the shards, how the input is cut into units,
    and what the manifest states about their results.

    Attributes:
        input_files: paths of the files to read.
        output_file: path with which the names of all files of the job begin.
        num_shards: number of shards that the user asks for. For 0, the size of
            the input determines the number.
        work_name: name of the work for the progress.
        discards_failed_work: True if no shard can be reused after a ValueError,
            because the user must change the input or a flag. Then the shards
            are removed. Otherwise the next call resumes the job.
    """

    input_files: Sequence[str]
    output_file: str
    num_shards: int = 0
    work_name: ClassVar[str]
    discards_failed_work: ClassVar[bool] = False

    @property
    @abc.abstractmethod
    def paths(self) -> JobPaths:
        """The paths of the shards, of the manifest and of unfinished work."""

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

    def run(self, unit_runner: UnitRunner) -> FinishedJob:
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
            job_files = JobFiles(self.paths, self.describe())
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
                results = run_units(units, unit_runner, self.work_name)
                combined = self.combine_results(units, results)
            except ValueError:
                if self.discards_failed_work:
                    remove_finished_shards(units)
                    job_files.remove_work()
                raise
            return FinishedJob(job_files.finish(combined), is_new=True)
