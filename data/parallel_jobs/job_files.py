"""Names, writes, compares and removes the files of a job.

Until the job is finished, the folder OUTPUT.work contains job.json, which
records the flags and the inputs, and a result file for each finished unit of
work, with the sizes and checksums of its shards. At the end the job writes
OUTPUT.manifest.json, which also lists all shards.
"""

import contextlib
import dataclasses
import glob
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Generic, NotRequired, TypedDict, TypeVar, cast

from data.io import file_checksums
from data.io.file_checksums import SizeAndChecksum
from data.io.tfrecords import ShardEntry
from files.atomic import remove_partial
from files.json_files import JsonObject, read_entry, read_json, write_json
from files.typed_dict_checks import find_malformed_entry

# Ending of a manifest's path, after the path of the output.
MANIFEST_ENDING = ".manifest.json"


class InputEntry(SizeAndChecksum):
    """A file that determines the shards.

    Attributes:
        path: path of the file, as the command names it. For a file of a model,
            its path in the model's folder.
    """

    path: str


class UnitResult(TypedDict):
    """The result file of a finished unit of work.

    Attributes:
        shards: the files that the unit wrote, as
            `file_checksums.compute_size_and_checksum` measures them.
        counts: {name: number} of what the unit read and wrote, which the
            manifest sums up.
        errors: messages about the first rows that the unit could not use, for
            example "line 3: the text is empty".
    """

    shards: list[ShardEntry]
    counts: dict[str, int]
    errors: NotRequired[list[str]]


class JobDescription(TypedDict):
    """Contents of job.json: the flags and inputs that determine the shards.

    A job whose shards also depend on something else, such as a model, adds an
    entry for it.

    Attributes:
        version: number of the code's version. Increase it with every change of
            the code that changes the shards.
        flags: {name: value} of the flags. Any, because their types differ.
        inputs: the files to read.
    """

    version: int
    flags: Mapping[str, Any]
    inputs: Sequence[InputEntry]


class JobResults(TypedDict):
    """The results of a finished job, to which each kind of job adds its counts.

    Attributes:
        shards: the shards, in the order of their numbers.
    """

    shards: list[ShardEntry]


class Manifest(JobDescription, JobResults):
    """Contents of OUTPUT.manifest.json: flags, inputs and results."""


ManifestT = TypeVar("ManifestT", bound=Manifest)


@dataclasses.dataclass(frozen=True)
class JobPaths:
    """The paths of a job's shards, of its manifest, and of its unfinished work.

    >>> paths = JobPaths("out.jsonl", ending=".jsonl")
    >>> paths.shard_paths(2)
    ['out-00000-of-00002.jsonl', 'out-00001-of-00002.jsonl']
    >>> paths.pattern(2)
    'out-*-of-00002.jsonl'
    >>> paths.manifest_file
    'out.jsonl.manifest.json'
    >>> paths.job_file
    'out.jsonl.work/job.json'
    >>> paths.result_file(unit_index=1)
    'out.jsonl.work/unit-00001.json'

    Attributes:
        output_file: path with which the names of the shards begin.
        ending: ending of `output_file` that stays the ending of the shards.
        named_shards: {entry of the manifest that lists a shard: its path} of a
            shard whose name does not follow from `output_file`. The manifest
            lacks the entry if the job did not write the shard.
    """

    output_file: str
    ending: str = ""
    named_shards: Mapping[str, str] = dataclasses.field(default_factory=dict)

    @property
    def _prefix(self) -> str:
        return self.output_file.removesuffix(self.ending)

    def shard_paths(self, num_shards: int) -> list[str]:
        """Returns the paths of all shards, in the order of their numbers."""
        return [
            f"{self._prefix}-{shard:05d}-of-{num_shards:05d}{self.ending}"
            for shard in range(num_shards)
        ]

    def pattern(self, num_shards: int) -> str:
        """Returns a pattern that matches all shards, for messages."""
        return f"{self._prefix}-*-of-{num_shards:05d}{self.ending}"

    @property
    def manifest_file(self) -> str:
        """Path of the file that describes the complete output."""
        return f"{self.output_file}{MANIFEST_ENDING}"

    @property
    def work_dir(self) -> str:
        """Path of OUTPUT.work, the folder of the unfinished work."""
        return f"{self.output_file}.work"

    @property
    def job_file(self) -> str:
        """Path of job.json, which shows that a job created OUTPUT.work."""
        return os.path.join(self.work_dir, "job.json")

    def result_file(self, unit_index: int) -> str:
        """Returns the file in OUTPUT.work that a finished unit writes last."""
        return os.path.join(self.work_dir, f"unit-{unit_index:05d}.json")


def create_input_entries(paths: Iterable[str]) -> list[InputEntry]:
    """Returns the path, size and checksum of each file, decompressed."""
    return [
        {
            "path": path,
            **file_checksums.compute_size_and_checksum(path, decompressed=True),
        }
        for path in paths
    ]


class JobFiles(Generic[ManifestT]):
    """The manifest of a job, and OUTPUT.work with job.json.

    Args:
        job_paths: paths of the files.
        description: what determines the shards.
        manifest_type: the TypedDict with the entries of the manifest.
    """

    def __init__(
        self,
        job_paths: JobPaths,
        description: JobDescription,
        manifest_type: type[ManifestT],
    ) -> None:
        self._job_paths = job_paths
        self._description = description
        self._manifest_type = manifest_type

    def check_overwrites(self, shards: Iterable[str]) -> None:
        """Checks that no shard replaces an input.

        Raises:
            ValueError: a shard has the path of an input.
        """
        job_paths = self._job_paths
        outputs = {*map(os.path.realpath, [*shards, job_paths.manifest_file])}
        inputs = {
            os.path.realpath(entry["path"])
            for entry in self._description["inputs"]
        }
        if replaced := outputs & inputs:
            raise ValueError(
                f"--output_file={job_paths.output_file} would replace "
                f"{replaced.pop()}, which is an input; use another "
                "--output_file"
            )

    def read_intact_manifest(self) -> ManifestT | None:
        """Returns the manifest of a finished job whose shards are all intact.

        Returns None if there is no manifest, or a shard is missing or changed.

        Raises:
            ValueError: the manifest records other flags or inputs, or is
                damaged.
        """
        job_paths = self._job_paths
        contents = self._read_earlier(job_paths.manifest_file)
        if contents is None:
            return None
        if name := find_malformed_entry(contents, self._manifest_type):
            raise ValueError(
                f"{job_paths.manifest_file} is damaged: `{name}` is missing or "
                "malformed. Remove the file, and run the same command again"
            )
        manifest = cast("ManifestT", contents)
        # Do not use the paths in the manifest, because the user may have moved
        # the files together with the manifest.
        entries = [*manifest["shards"]]
        shards = job_paths.shard_paths(len(entries))
        for entry_name, path in job_paths.named_shards.items():
            if entry_name in contents:
                entries += cast("list[ShardEntry]", contents[entry_name])
                shards.append(path)
        is_intact = all(map(file_checksums.is_intact, shards, entries))
        return manifest if is_intact else None

    def check_begun(self) -> None:
        """Checks that OUTPUT.work is of these flags and inputs.

        Raises:
            ValueError: the flags or the inputs differ.
        """
        self._read_earlier(self._job_paths.job_file)

    def begin(self) -> None:
        """Creates OUTPUT.work with job.json, unless the job began earlier.

        Raises:
            ValueError: job.json records other flags or inputs, or the folder
                contains files of the user.
        """
        job_file = self._job_paths.job_file
        if self._read_earlier(job_file) is not None:
            return
        remove_partial(job_file)
        work_dir = self._job_paths.work_dir
        if os.path.isdir(work_dir) and os.listdir(work_dir):
            raise ValueError(
                f"{work_dir}, the folder for unfinished work, contains files "
                "that this script did not write; use another --output_file, or "
                "move the folder"
            )
        write_json(job_file, self._description)

    def finish(self, results: JobResults) -> ManifestT:
        """Writes and returns the manifest, which also contains `results`."""
        manifest = cast("ManifestT", {**self._description, **results})
        write_json(self._job_paths.manifest_file, manifest)
        self.remove_work()
        return manifest

    def remove_work(self) -> None:
        """Removes OUTPUT.work, unless it contains a user's file."""
        job_paths = self._job_paths
        if os.path.exists(job_paths.job_file):
            # Remove job.json last, because it shows that a job created the
            # folder. An interrupted removal can then be repeated.
            work_dir = glob.escape(job_paths.work_dir)
            for path in glob.glob(f"{work_dir}/unit-*.json"):
                os.remove(path)
            os.remove(job_paths.job_file)
            with contextlib.suppress(OSError):
                os.rmdir(job_paths.work_dir)

    def _read_earlier(self, path: str) -> JsonObject | None:
        """Reads the manifest or job.json that an earlier command wrote.

        Returns None if the file does not exist. Raises a ValueError if the
        command had other flags or inputs than this job.
        """
        try:
            contents = read_json(path)
        except FileNotFoundError:
            return None
        if {**contents, **self._description} == contents:
            return contents
        changes = _describe_changes(self._description, contents, path)
        raise ValueError(
            f"{path} was written with {changes}; use another --output_file, or "
            f"remove {self._job_paths.manifest_file} and "
            f"{self._job_paths.work_dir} to start again"
        )


def _describe_changes(
    description: JobDescription, earlier: JsonObject, path: str
) -> str:
    """Names the flags and inputs in which an earlier job differs.

    `earlier` is what `path` says of the earlier job.
    """
    flags = read_entry(earlier, "flags", dict, path)
    changes = [
        f"--{name}={flags.get(name)}"
        for name, value in description["flags"].items()
        if flags.get(name) != value
    ]
    # What a kind of job adds to a JobDescription, such as a model.
    changes += [
        f"another {name}"
        for name, value in description.items()
        if name not in JobDescription.__annotations__
        and earlier.get(name) != value
    ]
    if changes:
        return ", ".join(changes)
    return "other input files, or another version of this script"
