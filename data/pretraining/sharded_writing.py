"""Writes pretraining records in several processes, and resumes earlier work.

The corpus is split into parts of about 4 MB. An `InstanceUnit` writes the
shards of some of the parts. `InstanceJob` creates the units and combines their
results, and `Job` in data/parallel_jobs/ runs and resumes them.
"""

import dataclasses
import itertools
import os
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

from absl import logging

from data.io import text_files
from data.io.tfrecords import ShardEntry
from data.parallel_jobs.job import Job, choose_unit_runner
from data.parallel_jobs.job_files import (
    JobDescription,
    JobPaths,
    UnitResult,
    create_input_entries,
)
from data.pretraining.corpus_checks import check_and_log_counts
from data.pretraining.corpus_parts import split_corpus
from data.pretraining.instance_units import InstanceUnit, load_text_encoder
from data.pretraining.pretraining_data_config import PretrainingDataConfig
from data.pretraining.pretraining_options import InstanceOptions
from data.pretraining.record_manifests import RecordManifest, RecordResults
from data.pretraining.record_writing import WrittenRecords
from files.paths import absolute_path, is_remote

if TYPE_CHECKING:
    from apache_beam.options.pipeline_options import PipelineOptions

# Increase this number whenever you change the code so that the records change.
_VERSION = 4
# Default size of a shard: number of bytes of its text, times the number of
# passes over the text.
_SHARD_BYTES = 128 << 20
# Default number of shards of a small corpus. If the corpus is split into fewer
# parts, there is one shard for each part.
_MIN_SHARDS = 8

T = TypeVar("T")


def write_records_at_scale(
    config: PretrainingDataConfig,
    input_files: Sequence[str],
    beam_options: "PipelineOptions | None" = None,
) -> WrittenRecords:
    """Writes the instances in the scalable mode, to shards and a manifest.

    Args:
        config: the flags, with the casing of the vocabulary.
        input_files: paths of the text files.
        beam_options: options of a Beam pipeline, None to run in processes.

    Raises:
        ValueError: --output_file lists several files or is remote, the input
            contains no text, the output would replace an input, or an earlier
            command began this output with other flags or another input.
        OSError: a file cannot be read or written, a process was killed, or
            another process writes the same output.
    """
    output_file = config.output_file
    if "," in output_file or is_remote(output_file):
        raise ValueError(
            f"--output_file={output_file} must be one local path with flags "
            "such as --num_processes (the scalable mode, see --help), because "
            "the script adds the numbers of the shards to it"
        )
    options = config.instances
    if beam_options is not None:
        # The workers of Beam may run in other folders.
        input_files = [*map(absolute_path, input_files)]
        output_file = absolute_path(output_file)
        vocab_file = absolute_path(options.vocab_file)
        options = dataclasses.replace(options, vocab_file=vocab_file)
    # Fail before any file is written if the vocabulary cannot be read.
    load_text_encoder(options)
    job = InstanceJob(
        options=options,
        input_files=input_files,
        output_file=output_file,
        num_shards=config.num_shards or 0,
    )
    unit_runner = choose_unit_runner(config.num_processes, beam_options)
    manifest, is_new = job.run(unit_runner)
    logging.info("manifest: %s", job.paths.manifest_file)
    num_shards = len(manifest["shards"])
    return WrittenRecords(
        num_instances=manifest["corpus"]["num_instances"],
        num_files=num_shards,
        files=job.paths.pattern(num_shards),
        is_new=is_new,
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class InstanceJob(Job[InstanceUnit, RecordManifest]):
    """The job that turns a corpus into shards of instances.

    `num_shards` does not count the shard of held-out documents.

    Attributes:
        options: options for turning text into instances.
    """

    options: InstanceOptions
    progress_description = "shard"
    discards_failed_work = True

    @property
    def paths(self) -> JobPaths:
        """The paths of the shards, of the manifest and of unfinished work."""
        return JobPaths(
            self.output_file,
            named_shards={"eval_shards": eval_file(self.output_file)},
        )

    @property
    def manifest_type(self) -> type[RecordManifest]:
        """The entries of the manifest."""
        return RecordManifest

    def describe(self) -> JobDescription:
        """Returns the flags, and the checksums of the corpus and vocabulary."""
        return {
            "version": _VERSION,
            "flags": {
                **dataclasses.asdict(self.options),
                "num_shards": self.num_shards,
            },
            "inputs": create_input_entries(
                [*self.input_files, self.options.vocab_file]
            ),
        }

    def create_units(self) -> list[InstanceUnit]:
        """Assigns each unit parts of the corpus to read, and shards to write.

        If documents are held out, the first unit writes these documents. This
        unit reads all parts, but tokenizes only the documents that are held
        out.
        """
        numbered = [*enumerate(split_corpus(self.input_files))]
        num_shards = self.num_shards or self._choose_num_shards(len(numbered))
        shards = self.paths.shard_paths(num_shards)
        # There are as many units as parts or shards, whichever are fewer.
        num_units = min(len(numbered), num_shards)
        train_assignments = zip(
            _split_evenly(numbered, num_units),
            _split_evenly(shards, num_units),
            strict=True,
        )
        eval_assignments = []
        if self.options.eval_fraction:
            eval_assignments = [(numbered, [eval_file(self.output_file)])]
        return [
            InstanceUnit(
                options=self.options,
                parts=dict(parts),
                shards=shards_of_unit,
                result_file=self.paths.result_file(unit_index),
                is_evaluation=unit_index < len(eval_assignments),
            )
            for unit_index, (parts, shards_of_unit) in enumerate(
                [*eval_assignments, *train_assignments]
            )
        ]

    def _choose_num_shards(self, num_parts: int) -> int:
        """Returns the number of shards for a corpus of `num_parts` parts."""
        num_bytes = self.options.dupe_factor * sum(
            map(text_files.file_size, self.input_files)
        )
        return min(max(num_bytes // _SHARD_BYTES, _MIN_SHARDS), num_parts)

    def combine_results(
        self, units: Sequence[InstanceUnit], results: Sequence[UnitResult]
    ) -> RecordResults:
        """Combines the results of the units, and logs the counts.

        Raises:
            ValueError: the input contains no text, or all documents or none are
                held out.
        """
        counts: Counter[str] = Counter()
        shards: list[ShardEntry] = []
        eval_shards: list[ShardEntry] = []
        for unit, result in zip(units, results, strict=True):
            counts.update(result["counts"])
            entries = eval_shards if unit.is_evaluation else shards
            entries += result["shards"]
        check_and_log_counts(counts, self.input_files)
        combined: RecordResults = {"corpus": dict(counts), "shards": shards}
        if not eval_shards:
            return combined
        num_held_out = sum(entry["num_records"] for entry in eval_shards)
        if not num_held_out or not counts["num_instances"]:
            raise ValueError(
                f"--eval_fraction={self.options.eval_fraction} holds out "
                f"{'all' if num_held_out else 'none'} of the "
                f"{counts['num_documents']} documents; set another fraction, "
                "or separate documents by blank lines"
            )
        return {"eval_shards": eval_shards, **combined}


def eval_file(output_file: str) -> str:
    """Returns the path of the shard of held-out documents.

    The name of this shard begins with "eval-", so that the pattern OUTPUT*,
    with which users name the training shards, does not match the name.

    Examples:
        >>> eval_file("made/out")
        'made/eval-out'
    """
    folder, name = os.path.split(output_file)
    return os.path.join(folder, f"eval-{name}")


def _split_evenly(items: list[T], num_lists: int) -> list[list[T]]:
    """Distributes items evenly over lists.

    Examples:
        >>> _split_evenly(["a", "b", "c", "d", "e"], num_lists=2)
        [['a', 'b'], ['c', 'd', 'e']]
    """
    borders = [
        len(items) * index // num_lists for index in range(num_lists + 1)
    ]
    return [items[first:end] for first, end in itertools.pairwise(borders)]
