"""Runs the units of a job that are not done, each of which writes shards.

A unit writes some files, the shards, and then its result file, which contains
the sizes and checksums of its shards. The units of a job may run in any order,
in any processes, and twice: what they write depends only on the input.
"""

import contextlib
import functools
import os
from collections.abc import Callable, Generator, Iterable, Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar, TypeVarTuple, cast

from data.io import file_checksums
from data.parallel_jobs.job_files import UnitResult
from data.parallel_jobs.workers import run_in_processes, run_on_beam
from files.json_files import read_json
from files.typed_dict_checks import find_malformed_entry
from terminal import progress, signals

if TYPE_CHECKING:
    from apache_beam.options.pipeline_options import PipelineOptions


# Types of the arguments of a call.
Arguments = TypeVarTuple("Arguments")


class UnitRunner(Protocol):
    """Makes the calls of a job, such as `run_in_processes` with its options."""

    def __call__(
        self,
        function: Callable[[*Arguments], object],
        calls: Sequence[tuple[*Arguments]],
        /,
    ) -> Generator[object]:
        """Makes calls of a function, and yields the results.

        Args:
            function: function to call, which must be picklable.
            calls: the function's arguments in each call.
        """


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


def run_units(
    units: Sequence[WorkUnit],
    unit_runner: UnitRunner,
    work_name: str = "",
) -> list[UnitResult]:
    """Runs the units that are not done, and returns the results of all units.

    Args:
        units: all units of the job.
        unit_runner: function that runs the units, as `choose_unit_runner`
            returns it. Its processes receive the units as pickles.
        work_name: name of the work for the progress.

    Raises:
        OSError: a file cannot be written, or a process was killed.
        ValueError: a unit failed, or a result file is damaged.
        signals.SignalInterrupt: a signal ended the job. The text says what is
            done.
    """
    calls = [(unit,) for unit in units if not is_done(unit)]
    try:
        with contextlib.closing(unit_runner(_write_shards, calls)) as results:
            for _ in progress.track(results, len(calls), "unit", work_name):
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
