"""Defines the entries of job.json, of the result files and of the manifest.

work_units.py describes the files.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict

from data.io.file_checksums import FileChecksum
from data.io.tfrecords import ShardEntry


class InputEntry(FileChecksum):
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
            `file_checksums.compute_shard_checksum` measures them.
        counts: {name: number} of what the unit read and wrote, which the
            manifest sums up.
        errors: the first errors of a unit of predict.py, "line 3: why".
    """

    shards: list[ShardEntry]
    counts: dict[str, int]
    errors: NotRequired[list[str]]


class JobDescription(TypedDict):
    """Contents of job.json: the flags and inputs that determine the shards.

    Attributes:
        version: number of the code's version. Increase it with every change of
            the code that changes the shards.
        flags: {name: value} of the flags. Any, because their types differ.
        inputs: the files to read.
        model: files of the export that predict.py asks.
    """

    version: int
    flags: Mapping[str, Any]
    inputs: Sequence[InputEntry]
    model: NotRequired[list[InputEntry]]


class JobResults(TypedDict):
    """The shards and the counts of a finished job.

    Attributes:
        shards: the shards, in the order of their numbers.
        eval_shards: shard of the documents that --eval_fraction holds out.
        corpus: sums of the counts of create_pretraining_data.py.
        answers: sums of the counts of predict.py.
    """

    shards: list[ShardEntry]
    eval_shards: NotRequired[list[ShardEntry]]
    corpus: NotRequired[dict[str, int]]
    answers: NotRequired[dict[str, int]]


class Manifest(JobDescription, JobResults):
    """Contents of OUTPUT.manifest.json: flags, inputs, shards and counts."""


# Ending of a manifest's path, after the path of the output.
MANIFEST_ENDING = ".manifest.json"
