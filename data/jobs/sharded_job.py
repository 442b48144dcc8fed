"""Runs jobs of many units of work, each of which writes shards, and resumes.

A unit writes some files, the shards, and then its result file, which contains
the sizes and checksums of its shards. The units of a job may run in any order,
in any processes, and twice: what they write depends only on the input.

Until the job is finished, the folder OUTPUT.work contains a result file for
each finished unit, and job.json, which records the flags and the inputs. At the
end the job writes OUTPUT.manifest.json, which also lists the shards with their
sizes and checksums. manifest.py defines their entries.
"""

import contextlib
import functools
import glob
import os
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from typing import (
    TYPE_CHECKING,
    Literal,
    Protocol,
    TypeVar,
    TypeVarTuple,
    cast,
)

from command_line import progress, signals
from data.io import file_checksums
from data.jobs.beam_workers import run_on_beam
from data.jobs.manifest import (
    MANIFEST_ENDING,
    InputEntry,
    JobDescription,
    JobResults,
    Manifest,
    UnitResult,
)
from data.jobs.workers import run_in_processes
from files.atomic import remove_partial
from files.json_files import read_json, write_json

if TYPE_CHECKING:
    from apache_beam.options.pipeline_options import PipelineOptions


# Types of the arguments of a call.
Arguments = TypeVarTuple("Arguments")


class UnitRunner(Protocol):
    """A function such as `run_in_processes`, with its options set."""

    def __call__(
        self,
        function: Callable[[*Arguments], object],
        calls: Sequence[tuple[*Arguments]],
        /,
    ) -> Generator[object]:
        """Makes calls of a function, and yields the results.

        Args:
            function: function to call. It must be picklable.
            calls: the function's arguments in each call.
        """


def choose_unit_runner(
    num_processes: int | None, beam_options: "PipelineOptions | None"
) -> UnitRunner:
    """Returns the function that runs the units of a job.

    Args:
        num_processes: number of processes without Beam, as in
            `run_in_processes`. None = this process.
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


UnitT = TypeVar("UnitT", bound=WorkUnit)


def run_units(
    units: Sequence[UnitT],
    write_shards: Callable[[UnitT], None],
    run: UnitRunner,
    work_name: str = "",
) -> list[UnitResult]:
    """Runs the units that are not done, and returns the results of all units.

    Args:
        units: all units of the job.
        write_shards: function that writes the shards and the result file of
            the unit that it receives.
        run: function that calls `write_shards` for each unit, as
            `choose_unit_runner` returns it.
        work_name: name of the work for the progress.

    Raises:
        OSError: a file cannot be written, or a process was killed.
        ValueError: a unit failed.
        signals.SignalInterrupt: a signal ended the job. The text says what is
            done.
    """
    calls = [(unit,) for unit in units if not is_done(unit)]
    try:
        with contextlib.closing(run(write_shards, calls)) as results:
            for _ in progress.track(results, len(calls), "unit", work_name):
                pass
    except signals.SignalInterrupt as stopped:
        num_done = sum(os.path.exists(unit.result_file) for unit in units)
        raise stopped.with_text(
            f"after {num_done} of {len(units)} units; run the same command to "
            "resume"
        ) from None
    return [read_json(unit.result_file) for unit in units]


def is_done(unit: WorkUnit) -> bool:
    """Returns whether a unit's result file exists and its shards are whole."""
    # The result file appears when the unit is finished.
    if not os.path.exists(unit.result_file):
        return False
    result: UnitResult = read_json(unit.result_file)
    return all(map(file_checksums.is_whole, unit.shards, result["shards"]))


def create_input_entries(paths: Iterable[str]) -> list[InputEntry]:
    """Returns the path, size and checksum of each file, as a job records them.

    Raises:
        OSError: a file cannot be read.
    """
    return [
        {"path": path, **file_checksums.compute_file_checksum(path)}
        for path in paths
    ]


class JobFiles:
    """The files of a job.

    Args:
        output_file: path with which the names of the shards begin.
        description: what determines the shards.
        ending: ending of `output_file` that stays the ending of the shards.
        named_shards: {entry of the manifest: path} of a shard with a name of
            its own.

    Attributes:
        output_file: path with which the names of the shards begin.
        manifest_file: path of the manifest.
    """

    def __init__(
        self,
        output_file: str,
        description: JobDescription,
        *,
        ending: str = "",
        named_shards: Mapping[Literal["eval_shards"], str] | None = None,
    ) -> None:
        self.output_file = output_file
        self._prefix = output_file.removesuffix(ending)
        self._ending = ending
        self._named_shards = named_shards or {}
        self.manifest_file = f"{output_file}{MANIFEST_ENDING}"
        self._work_dir = f"{output_file}.work"
        self._begun_file = os.path.join(self._work_dir, "job.json")
        self._description = description

    def shard_paths(self, num_shards: int) -> list[str]:
        """Returns OUTPUT-00000-of-00008 and so on, with the ending."""
        return [
            f"{self._prefix}-{shard:05d}-of-{num_shards:05d}{self._ending}"
            for shard in range(num_shards)
        ]

    def pattern(self, num_shards: int) -> str:
        """Returns a pattern of the shards, OUTPUT-*-of-00008 and the ending."""
        return f"{self._prefix}-*-of-{num_shards:05d}{self._ending}"

    def result_file(self, unit_index: int) -> str:
        """Returns the file in OUTPUT.work that a finished unit writes last."""
        return os.path.join(self._work_dir, f"unit-{unit_index:05d}.json")

    def check_overwrites(self, units: Iterable[WorkUnit]) -> None:
        """Raises a ValueError if a shard of a unit would replace an input."""
        shards = [path for unit in units for path in unit.shards]
        outputs = {*map(os.path.realpath, [*shards, self.manifest_file])}
        inputs = {
            os.path.realpath(entry["path"])
            for entry in self._description["inputs"]
        }
        if replaced := outputs & inputs:
            raise ValueError(
                f"--output_file={self.output_file} would replace "
                f"{replaced.pop()}, which is an input; use another "
                "--output_file"
            )

    def find_manifest(self) -> Manifest | None:
        """Returns the manifest if the job is finished and its shards intact.

        Otherwise returns None.

        Raises:
            ValueError: the manifest records other flags or inputs.
        """
        contents = self._read_same(self.manifest_file)
        if contents is None:
            return None
        # A job like this one wrote the file.
        manifest = cast("Manifest", contents)
        # Do not use the paths in the manifest, because the user may have moved
        # the files together with the manifest.
        entries = [*manifest["shards"]]
        paths = self.shard_paths(len(entries))
        for entry_name, path in self._named_shards.items():
            if entry_name in manifest:
                entries += manifest[entry_name]
                paths.append(path)
        is_intact = all(map(file_checksums.is_whole, paths, entries))
        return manifest if is_intact else None

    def _read_same(self, path: str) -> JobDescription | None:
        """Reads a manifest or job.json, None if the file does not exist."""
        try:
            contents: JobDescription = read_json(path)
        except FileNotFoundError:
            return None
        if {**contents, **self._description} == contents:
            return contents
        raise ValueError(
            f"{path} was written with {self._describe_changes(contents)}; use "
            f"another --output_file, or remove {self.manifest_file} and "
            f"{self._work_dir} to start again"
        )

    def _describe_changes(self, contents: JobDescription) -> str:
        """Names the flags and inputs in which an earlier job differs."""
        flags = contents.get("flags", {})
        changes = [
            f"--{name}={flags.get(name)}"
            for name, value in self._description["flags"].items()
            if flags.get(name) != value
        ]
        if contents.get("model") != self._description.get("model"):
            changes.append("another model")
        if changes:
            return ", ".join(changes)
        return "other input files, or another version of this script"

    def check_begun(self) -> None:
        """Checks the unfinished work in OUTPUT.work, if there is any.

        Raises:
            ValueError: the work has other flags or inputs.
        """
        self._read_same(self._begun_file)

    def begin(self) -> None:
        """Creates OUTPUT.work with job.json, or checks them.

        Raises:
            ValueError: the work that the folder contains has other flags or
                inputs, or the folder contains files of the user.
        """
        if self._read_same(self._begun_file) is not None:
            return
        remove_partial(self._begun_file)
        if os.path.isdir(self._work_dir) and os.listdir(self._work_dir):
            raise ValueError(
                f"{self._work_dir}, the folder for unfinished work, contains "
                "files that this script did not write; use another "
                "--output_file, or move the folder"
            )
        write_json(self._begun_file, self._description)

    def finish(self, results: JobResults) -> Manifest:
        """Writes and returns the manifest, which also contains `results`."""
        manifest: Manifest = {**self._description, **results}
        write_json(self.manifest_file, manifest)
        self.remove_work()
        return manifest

    def discard(self, units: Iterable[WorkUnit]) -> None:
        """Removes the shards of the units that are done, and OUTPUT.work."""
        for unit in filter(is_done, units):
            for path in unit.shards:
                os.remove(path)
        self.remove_work()

    def remove_work(self) -> None:
        """Removes OUTPUT.work, unless it contains a user's file."""
        if os.path.exists(self._begun_file):
            # Remove job.json last, because it shows that a job created the
            # folder. An interrupted removal can then be repeated.
            for path in glob.glob(f"{glob.escape(self._work_dir)}/unit-*.json"):
                os.remove(path)
            os.remove(self._begun_file)
            with contextlib.suppress(OSError):
                os.rmdir(self._work_dir)
