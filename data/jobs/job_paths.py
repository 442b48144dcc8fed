"""Names the files that a job reads and writes."""

import dataclasses
import os
from collections.abc import Mapping
from typing import Literal, TypeAlias

from data.jobs.manifest import MANIFEST_ENDING

# {entry of the manifest: path} of shards with names of their own.
NamedShards: TypeAlias = Mapping[Literal["eval_shards"], str]


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
        named_shards: {entry of the manifest: path} of a shard whose name does
            not follow from `output_file`.
    """

    output_file: str
    ending: str = ""
    named_shards: NamedShards = dataclasses.field(default_factory=dict)

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
        """Path of the manifest."""
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
