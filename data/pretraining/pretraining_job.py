"""Writes pretraining records in several processes, and resumes earlier work.

The corpus is split into parts of about 4 MB. Each unit of the job writes some
TFRecord files, the shards, from some of the parts, in bounded memory. The
random draws depend only on the seed and the part, so any number of processes
can work on the units, in any order. sharded_job.py describes how a job resumes.
"""

import dataclasses
import functools
import itertools
import os
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

from data.io import records, text_files
from data.io.records import ShardEntry
from data.jobs.manifest import JobResults, Manifest, UnitResult
from data.jobs.sharded_job import JobFiles, Runner, measure_inputs, run_units
from data.pretraining import corpus_checks, corpus_parts, instances
from data.pretraining.corpus_parts import CorpusPart
from data.pretraining.documents import Document, DocumentReader, TextEncoder
from data.pretraining.instances import InstanceEncoder, shuffle
from data.pretraining.pretraining_options import InstanceOptions
from files import lock
from files.atomic import write_json

# Increase this number whenever you change the code so that the records change.
_VERSION = 4
# Default size of a shard: number of bytes of its text, times the number of
# passes over the text.
_SHARD_BYTES = 128 << 20
# Default number of shards of a small corpus. If the corpus is split into fewer
# parts, there is one shard for each part.
_FEW_SHARDS = 8
# Maximum number of characters of a document, of WordPieces of a group of
# documents, and of bytes of records in memory. Without these limits, compressed
# files or a large --dupe_factor could exhaust the memory.
_MAX_CHARACTERS = 8 << 20
_MAX_PIECES = 2 << 20
_MAX_RECORD_BYTES = 128 << 20
# --eval_fraction is a multiple of 1 / _NUM_HASHES.
_NUM_HASHES = 10_000

T = TypeVar("T")


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


class WrittenShards(NamedTuple):
    """The records of a command, which are complete.

    Attributes:
        manifest: the manifest of the shards.
        is_new: whether this call wrote any file.
    """

    manifest: Manifest
    is_new: bool


def write_all_shards(
    options: InstanceOptions,
    input_files: Sequence[str],
    output_file: str,
    num_shards: int,
    run: Runner,
) -> WrittenShards:
    """Writes the shards and the manifest, or resumes unfinished work.

    Args:
        options: options for turning text into instances.
        input_files: paths of the text files.
        output_file: path of the output, which is the prefix of the shards'
            names.
        num_shards: number of shards, not counting the shard of held-out
            documents. 0 = the size of the corpus determines the number.
        run: function that runs all units, as `choose_runner` returns it.

    Raises:
        ValueError: the input contains no text, the output would replace the
            input, or an earlier command began this output with other flags or
            another input.
        OSError: a file cannot be read or written, a process was killed, or
            another process writes the same output.
    """
    # Fail before any file is written if the vocabulary cannot be read.
    _create_encoder(options)
    with lock.hold_lock(f"{output_file}.lock", f"--output_file={output_file}"):
        output = create_output(
            output_file,
            {**dataclasses.asdict(options), "num_shards": num_shards},
            [*input_files, options.vocab_file],
        )
        units = _create_units(options, input_files, output, num_shards)
        output.check_units(units)
        if manifest := output.find_manifest():
            output.remove_work()
            return WrittenShards(manifest, is_new=False)
        output.begin()
        try:
            results = run_units(units, write_shards, run, "shard")
            combined = _combine_results(units, results, options, input_files)
        except ValueError:
            # The shards will not be reused, because the user must change the
            # input or a flag.
            output.discard(units)
            raise
        return WrittenShards(output.finish(combined), is_new=True)


def create_output(
    output_file: str, flags: Mapping[str, object], inputs: Sequence[str]
) -> JobFiles:
    """Measures the inputs of a job, and returns the job's files.

    Args:
        output_file: path of the output.
        flags: {name: value} of the flags that determine the records.
        inputs: paths of the text files and of the vocabulary.

    Raises:
        OSError: an input cannot be read.
    """
    return JobFiles(
        output_file,
        {
            "version": _VERSION,
            "flags": flags,
            "inputs": measure_inputs(inputs),
        },
        named_shards={"eval_shards": eval_file(output_file)},
    )


def eval_file(output_file: str) -> str:
    """Returns the path of the shard of held-out documents.

    It begins with "eval-", so that the pattern OUTPUT*, with which users name
    the training shards, does not match it.
    """
    folder, name = os.path.split(output_file)
    return os.path.join(folder, f"eval-{name}")


# A process keeps the encoder for its next unit, because the vocabulary and the
# cache of words are large.
_create_encoder = functools.lru_cache(maxsize=1)(TextEncoder)


def _create_units(
    options: InstanceOptions,
    input_files: Sequence[str],
    output: JobFiles,
    num_shards: int,
) -> list[InstanceUnit]:
    """Assigns each unit parts of the corpus to read, and shards to write.

    If documents are held out, the first unit writes them. It reads all parts,
    but tokenizes only the documents that are held out.
    """
    numbered = [*enumerate(corpus_parts.split_corpus(input_files))]
    if not num_shards:
        num_bytes = options.dupe_factor * sum(
            map(text_files.file_size, input_files)
        )
        num_shards = max(num_bytes // _SHARD_BYTES, _FEW_SHARDS)
        num_shards = min(num_shards, len(numbered))
    shards = output.shard_paths(num_shards)
    # There are as many units as parts or shards, whichever are fewer.
    num_units = min(len(numbered), num_shards)
    shares = zip(
        _split_evenly(numbered, num_units),
        _split_evenly(shards, num_units),
        strict=True,
    )
    eval_shares = []
    if options.eval_fraction:
        eval_shares = [(numbered, [eval_file(output.output_file)])]
    return [
        InstanceUnit(
            options=options,
            parts=dict(parts),
            shards=paths,
            result_file=output.result_file(unit_index),
            is_evaluation=unit_index < len(eval_shares),
        )
        for unit_index, (parts, paths) in enumerate([*eval_shares, *shares])
    ]


def _split_evenly(items: list[T], num_lists: int) -> list[list[T]]:
    """Distributes items evenly over lists."""
    borders = [
        len(items) * index // num_lists for index in range(num_lists + 1)
    ]
    return [items[first:end] for first, end in itertools.pairwise(borders)]


def write_shards(unit: InstanceUnit) -> None:
    """Writes a unit's shards, and then its result file.

    The result file contains the sizes and checksums of the shards, and counts
    of the text and of the instances.

    Raises:
        OSError: a file cannot be read or written.
    """
    options = unit.options
    reader = DocumentReader(_create_encoder(options))
    if unit.is_evaluation:
        options = dataclasses.replace(
            options, dynamic_masking=False, dupe_factor=1
        )
    encoder = InstanceEncoder(reader.vocabulary, options)
    groups = _draw_groups(_read_texts(unit, reader), options)
    previous: list[Document] = []
    with records.RecordWriter(unit.shards) as writer:
        for group, rng in groups:
            # The random next sentences of a single document come from the group
            # before it.
            lent = previous if len(group) == 1 else []
            for record in _create_records(group, lent, encoder, rng):
                writer.write(record)
            previous = group
    counts = dict(reader.counts)
    if not unit.is_evaluation:  # Only training instances are counted.
        counts |= encoder.counts
    result: UnitResult = {"shards": writer.describe(), "counts": counts}
    write_json(unit.result_file, result)


def _draw_groups(
    documents: Mapping[int | str, Iterable[Document]], options: InstanceOptions
) -> Iterator[tuple[list[Document], random.Random]]:
    """Yields shuffled groups, with the generator of their text's draws."""
    for name, documents_of_part in documents.items():
        rng = random.Random(f"{options.random_seed}/{name}")
        for group in _group_documents(documents_of_part):
            shuffle(group, rng)
            yield group, rng


def _read_texts(
    unit: InstanceUnit, reader: DocumentReader
) -> dict[int | str, Iterator[Document]]:
    """Returns {index of a part: its documents}.

    The records of each part depend on random draws for its index. But the
    evaluation set is small, so all its documents are taken as one part, "eval".

    A document is held out if the CRC-32 of its text, modulo 10,000, is below
    10,000 times `eval_fraction`. So the choice depends only on the text.
    """
    limit = unit.options.eval_fraction * _NUM_HASHES

    def is_wanted(checksum: int) -> bool:
        is_held_out = checksum % _NUM_HASHES < limit
        return is_held_out == unit.is_evaluation

    documents: dict[int | str, Iterator[Document]] = {
        part_index: reader.read(part, is_wanted, _MAX_CHARACTERS)
        for part_index, part in unit.parts.items()
    }
    if unit.is_evaluation:
        return {"eval": itertools.chain.from_iterable(documents.values())}
    return documents


def _group_documents(documents: Iterable[Document]) -> Iterator[list[Document]]:
    """Yields lists of documents that fit into memory."""
    group = []
    num_pieces = 0
    for document in documents:
        group.append(document)
        num_pieces += sum(map(len, document))
        if num_pieces >= _MAX_PIECES:
            yield group
            group = []
            num_pieces = 0
    if group:
        yield group


def _create_records(
    group: Sequence[Document],
    lent: Sequence[Document],
    encoder: InstanceEncoder,
    rng: random.Random,
) -> Iterator[bytes]:
    """Yields records of instances of a group of documents, in random order.

    The documents in `lent` only provide random next sentences.
    """
    available = [*group, *lent]
    batch: list[bytes] = []
    num_bytes = 0
    for _ in range(encoder.options.dupe_factor):
        for index in range(len(group)):
            created = instances.create_instances_from_document(
                available, index, encoder.vocabulary, rng, encoder.options
            )
            encoded = [*map(encoder.encode, created)]
            batch += encoded
            num_bytes += sum(map(len, encoded))
        if num_bytes > _MAX_RECORD_BYTES:
            shuffle(batch, rng)
            yield from batch
            batch = []
            num_bytes = 0
    shuffle(batch, rng)
    yield from batch


def _combine_results(
    units: Sequence[InstanceUnit],
    results: Sequence[UnitResult],
    options: InstanceOptions,
    input_files: Sequence[str],
) -> JobResults:
    """Combines the results of the units for the manifest.

    Raises a ValueError if the input contains no text, or if all documents or
    none are held out.
    """
    counts: Counter[str] = Counter()
    shards: list[ShardEntry] = []
    eval_shards: list[ShardEntry] = []
    for unit, result in zip(units, results, strict=True):
        counts.update(result["counts"])
        entries = eval_shards if unit.is_evaluation else shards
        entries += result["shards"]
    corpus_checks.check_and_log_counts(counts, input_files)
    combined: JobResults = {"corpus": dict(counts), "shards": shards}
    if not eval_shards:
        return combined
    num_held_out = sum(entry["num_records"] for entry in eval_shards)
    if not num_held_out or not counts["num_instances"]:
        raise ValueError(
            f"--eval_fraction={options.eval_fraction} holds out "
            f"{'all' if num_held_out else 'none'} of the "
            f"{counts['num_documents']} documents; set another fraction, or "
            "separate documents by blank lines"
        )
    return {"eval_shards": eval_shards, **combined}
