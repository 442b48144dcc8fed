"""Writes pretraining records in several processes, and resumes earlier work.

The corpus is split into parts of about 4 MB. An `InstanceUnit` writes some
TFRecord files, the shards, from some of the parts, in bounded memory. The
random draws depend only on the seed and the part, so any process can do a unit,
in any order. `InstanceJob` creates the units and combines their results, and
`Job` in data/parallel_jobs/ runs and resumes them.
"""

import dataclasses
import functools
import itertools
import os
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

from absl import logging

from data.io import text_files, tfrecords
from data.io.tfrecords import ShardEntry
from data.parallel_jobs.job import Job, choose_unit_runner
from data.parallel_jobs.job_files import (
    JobDescription,
    JobPaths,
    JobResults,
    UnitResult,
    create_input_entries,
)
from data.pretraining.corpus_checks import check_and_log_counts
from data.pretraining.corpus_parts import CorpusPart, split_corpus
from data.pretraining.documents import Document, DocumentReader, TextEncoder
from data.pretraining.instances import (
    InstanceCreator,
    shuffle,
)
from data.pretraining.pretraining_data_config import PretrainingDataConfig
from data.pretraining.pretraining_options import InstanceOptions
from data.pretraining.record_writing import InstanceEncoder, WrittenRecords
from files.json_files import write_json
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
# Maximum number of characters of a document, of WordPieces of a group of
# documents, and of bytes of records in memory. Without these limits, compressed
# files or a large --dupe_factor could exhaust the memory.
_MAX_CHARACTERS = 8 << 20
_MAX_TOKENS = 2 << 20
_MAX_RECORD_BYTES = 128 << 20
# --eval_fraction is a multiple of 1 / _NUM_HASHES.
_NUM_HASHES = 10_000

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
    _create_encoder(options)
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


# A process keeps the encoder for its next unit, because the vocabulary and the
# cache of words are large.
_create_encoder = functools.lru_cache(maxsize=1)(TextEncoder)


@dataclasses.dataclass(frozen=True)
class InstanceUnit:
    """A unit of the job: the shards to write, and the text to read for them.

    Attributes:
        options: options for turning text into instances.
        parts: {index of a part of the corpus: the part} of each part to read.
        shards: paths of the shards. Record i is written to shard i modulo the
            number of shards.
        result_file: path of a JSON file to write when the shards are complete.
        is_evaluation: whether to write the documents that `eval_fraction` holds
            out, instead of the others.
    """

    options: InstanceOptions
    parts: dict[int, CorpusPart]
    shards: list[str]
    result_file: str
    is_evaluation: bool = False

    def write_shards(self) -> None:
        """Writes the shards, and then the result file.

        The result file contains the sizes and checksums of the shards, and
        counts of the text and of the instances.

        Raises:
            OSError: a file cannot be read or written.
        """
        options = self.options
        reader = DocumentReader(_create_encoder(options))
        if self.is_evaluation:
            options = dataclasses.replace(
                options, dynamic_masking=False, dupe_factor=1
            )
        encoder = InstanceEncoder(reader.vocabulary, options)
        groups = self._read_shuffled_groups(reader)
        with tfrecords.RecordWriter(self.shards) as writer:
            for record in _create_all_records(groups, encoder):
                writer.write(record)
        counts = dict(reader.counts)
        if not self.is_evaluation:  # Only training instances are counted.
            counts["num_instances"] = encoder.num_instances
            counts["num_pieces"] = encoder.num_pieces
        result: UnitResult = {"shards": writer.list_shards(), "counts": counts}
        write_json(self.result_file, result)

    def _read_shuffled_groups(
        self, reader: DocumentReader
    ) -> Iterator[tuple[list[Document], random.Random]]:
        """Yields groups of documents that fit into memory, in random order.

        Beside each group is the generator of its random draws.
        """
        for name, documents in self._read_documents(reader).items():
            rng = random.Random(f"{self.options.random_seed}/{name}")
            for group in _group_documents(documents):
                shuffle(group, rng)
                yield group, rng

    def _read_documents(
        self, reader: DocumentReader
    ) -> dict[int | str, Iterator[Document]]:
        """Returns {index of a part: its documents that the unit writes}.

        The index of a part sets the random draws for the part. The evaluation
        set is small, so all its documents are one part, "eval".

        A document is held out if the CRC-32 of its text, modulo 10,000, is
        below 10,000 times `eval_fraction`. So the choice depends only on the
        text.
        """
        limit = self.options.eval_fraction * _NUM_HASHES

        def is_wanted(checksum: int) -> bool:
            is_held_out = checksum % _NUM_HASHES < limit
            return is_held_out == self.is_evaluation

        documents: dict[int | str, Iterator[Document]] = {
            part_index: reader.read(part, is_wanted, _MAX_CHARACTERS)
            for part_index, part in self.parts.items()
        }
        if self.is_evaluation:
            return {"eval": itertools.chain.from_iterable(documents.values())}
        return documents


def _group_documents(documents: Iterable[Document]) -> Iterator[list[Document]]:
    """Yields lists of documents that fit into memory."""
    group = []
    num_tokens = 0
    for document in documents:
        group.append(document)
        num_tokens += sum(map(len, document))
        if num_tokens >= _MAX_TOKENS:
            yield group
            group = []
            num_tokens = 0
    if group:
        yield group


def _create_all_records(
    groups: Iterable[tuple[list[Document], random.Random]],
    encoder: InstanceEncoder,
) -> Iterator[bytes]:
    """Yields the records of all groups, one group after the other."""
    previous: list[Document] = []
    for group, rng in groups:
        # The random next sentences of a single document come from the group
        # before it.
        lent = previous if len(group) == 1 else []
        yield from _create_records_of_group(group, lent, encoder, rng)
        previous = group


def _create_records_of_group(
    group: Sequence[Document],
    lent: Sequence[Document],
    encoder: InstanceEncoder,
    rng: random.Random,
) -> Iterator[bytes]:
    """Yields the records of a group of documents, in random order.

    The documents in `lent` only provide random next sentences.
    """
    available = [*group, *lent]
    creator = InstanceCreator(encoder.vocabulary, encoder.options, rng)
    batch: list[bytes] = []
    num_bytes = 0
    for _ in range(encoder.options.dupe_factor):
        for index in range(len(group)):
            created = creator.create_instances_from_document(available, index)
            encoded = [*map(encoder.encode_and_count, created)]
            batch += encoded
            num_bytes += sum(map(len, encoded))
        if num_bytes > _MAX_RECORD_BYTES:
            shuffle(batch, rng)
            yield from batch
            batch = []
            num_bytes = 0
    shuffle(batch, rng)
    yield from batch


@dataclasses.dataclass(frozen=True, kw_only=True)
class InstanceJob(Job[InstanceUnit]):
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
    ) -> JobResults:
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
        combined: JobResults = {"corpus": dict(counts), "shards": shards}
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
