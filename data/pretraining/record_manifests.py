"""Defines the manifest of pretraining records, which lists their files.

sharded_writing.py writes the manifest, and record_inspection.py reads it.
"""

from typing import NotRequired

from data.io.tfrecords import ShardEntry
from data.parallel_jobs.job_files import JobDescription, JobResults


class RecordResults(JobResults):
    """The shards of records, and what the corpus consists of.

    Attributes:
        eval_shards: shard of the documents that --eval_fraction holds out.
        corpus: numbers of documents, sentences, WordPieces and records.
    """

    eval_shards: NotRequired[list[ShardEntry]]
    corpus: dict[str, int]


class RecordManifest(JobDescription, RecordResults):
    """Contents of the manifest beside pretraining records."""
