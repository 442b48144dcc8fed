"""Creates pretraining records from parts of a corpus, each on its own.

A corpus is cut at documents into parts of about the same size. The documents of
a part become instances in memory, as in instances.py, with random draws that
depend only on the seed and the part. So any number of processes can make the
parts, in any order.
"""

import bisect
import dataclasses
import itertools
import operator
import random
from collections import Counter
from collections.abc import Iterator, Sequence

from data.io import records, text_files
from data.pretraining import documents, evaluation_set, instances, manifest
from data.pretraining.documents import Block, Document, Pieces
from data.pretraining.masking import shuffle
from data.pretraining.options import InstanceOptions
from files.atomic import write_json

# Bytes of text in a part: hundreds of documents to draw next sentences from.
_PART_BYTES = 4 << 20
# Of less text there are eight parts, so that processes can share them, but none
# smaller than this.
_LEAST_PARTS = 8
_LEAST_PART_BYTES = 256 << 10
# Where no document begins within so many bytes, a part begins with a line.
_MAX_SEARCH = 1 << 20
# What is in memory together: the WordPieces of documents, which a packed file
# can exceed, and bytes of records, which many passes can exceed.
_MAX_PIECES = 2 << 20
_MAX_RECORD_BYTES = 128 << 20


@dataclasses.dataclass(frozen=True)
class Task:
    """Shards to write from parts of the corpus.

    Attributes:
        text: how text becomes WordPieces.
        instances: how WordPieces become instances.
        parts: (number, blocks) of each part.
        shards: paths of the shards, which get the records in turn.
        result_file: JSON file to write when the shards are complete.
    """

    text: documents.TextOptions
    instances: InstanceOptions
    parts: list[tuple[int, list[Block]]]
    shards: list[str]
    result_file: str


def split_to_parts(
    input_files: Sequence[str], boundary_files: Sequence[str]
) -> list[list[Block]]:
    """Splits text files into parts, which depend only on the files.

    Args:
        input_files: paths.
        boundary_files: for each the path of its file of word boundaries, or
            nothing. A file that has one is not cut, nor is a packed file.
    """
    sizes = [text_files.size(path) for path in input_files]
    starts = list(itertools.accumulate(sizes, initial=0))
    num_parts = max(
        starts[-1] // _PART_BYTES,
        min(starts[-1] // _LEAST_PART_BYTES, _LEAST_PARTS),
        1,
    )
    # (number of a file, first byte) where a part begins.
    cuts = {(0, 0), (len(sizes), 0)}
    for number in range(1, num_parts):
        position = starts[-1] * number // num_parts
        file = bisect.bisect_right(starts, position) - 1
        path, start = input_files[file], 0
        if not boundary_files and not path.endswith(".gz"):
            start = text_files.find_document(
                path, position - starts[file], _MAX_SEARCH
            )
        cuts.add((file, start) if start < sizes[file] else (file + 1, 0))
    parts = []
    for (first, start), (last, end) in itertools.pairwise(sorted(cuts)):
        parts.append(
            [
                Block(
                    input_files[file],
                    start if file == first else 0,
                    end if file == last else None,
                    boundary_files[file] if boundary_files else "",
                )
                for file in range(first, last + bool(end))
            ]
        )
    return parts


def share_out(
    parts: Sequence[list[Block]], shards: Sequence[str]
) -> Iterator[tuple[list[tuple[int, list[Block]]], list[str]]]:
    """Yields for each task its parts, numbered, and its shards.

    There are as many tasks as parts or shards, whichever are fewer, and each
    gets about as many of the others.
    """
    number = min(len(parts), len(shards))
    numbered = list(enumerate(parts))
    for task in range(number):
        first, end = (
            [len(items) * border // number for items in (parts, shards)]
            for border in (task, task + 1)
        )
        yield numbered[first[0] : end[0]], list(shards[first[1] : end[1]])


def write_shards(task: Task) -> None:
    """Writes the shards of a task, then its result.

    The result has the shards' sizes and checksums, counts of the text and of
    the instances, and the documents to hold out.

    Raises:
        OSError: a file cannot be read or written.
        ValueError: the text does not match its word boundaries.
    """
    options = task.instances
    reader = documents.create_reader(task.text)
    counts: Counter[str] = Counter()
    held_out: list[Document] = []
    with records.RecordWriter(task.shards) as writer:
        for number, blocks in task.parts:
            rng = random.Random(f"{options.random_seed}/{number}")
            choice = random.Random(f"{options.random_seed}/eval/{number}")
            for group in _read_part(blocks, reader, counts):
                least = 1 if options.eval_fraction and number == 0 else 0
                held_out += evaluation_set.hold_out(
                    group, options.eval_fraction, least, choice
                )
                for record in create_records(
                    group, reader.pieces, options, rng, counts
                ):
                    writer.write(record)
    write_json(
        task.result_file,
        {
            "shards": manifest.describe_shards(task.shards, writer.num_records),
            "counts": counts,
            "held_out": list(map(evaluation_set.format_document, held_out)),
        },
    )


def _read_part(
    blocks: Sequence[Block],
    reader: documents.TextReader,
    counts: Counter[str],
) -> Iterator[list[Document]]:
    """Yields the documents of a part; each ends with its file."""
    dropped: Counter[str] = Counter()
    lines = itertools.chain.from_iterable(
        itertools.chain(reader.read(block, counts, dropped), [None])
        for block in blocks
    )
    yield from documents.group_documents(lines, _MAX_PIECES, counts)
    counts["num_dropped_bytes"] += dropped.total()


def create_records(
    group: list[Document],
    pieces: Pieces,
    options: InstanceOptions,
    rng: random.Random,
    counts: Counter[str],
) -> Iterator[bytes]:
    """Yields the records of documents, shuffled.

    Args:
        group: list of documents, which is shuffled.
        pieces: Pieces of the vocabulary.
        options: InstanceOptions.
        rng: random.Random.
        counts: counts of the instances, which are added to.
    """
    encode = instances.InstanceEncoder(options)
    shuffle(group, rng)
    batch: list[bytes] = []
    num_bytes = 0
    for _ in range(options.dupe_factor):
        for index in range(len(group)):
            for instance in instances.create_instances_from_document(
                group, index, pieces, rng, options
            ):
                _count(instance, pieces["[MASK]"], options, counts)
                batch.append(encode(instance))
                num_bytes += len(batch[-1])
        if num_bytes > _MAX_RECORD_BYTES:
            shuffle(batch, rng)
            yield from batch
            batch, num_bytes = [], 0
    shuffle(batch, rng)
    yield from batch


def _count(
    instance: instances.TrainingInstance,
    mask: bytes,
    options: InstanceOptions,
    counts: Counter[str],
) -> None:
    """Adds an instance to the counts of the manifest."""
    tokens, labels = instance.tokens, instance.masked_lm_labels
    outputs = [tokens[index] for index in instance.masked_lm_positions]
    counts["num_instances"] += 1
    counts["num_pieces"] += len(tokens)
    counts["num_random_next"] += instance.is_random_next
    counts["num_short"] += len(tokens) < options.max_seq_length
    counts["num_masked"] += len(labels)
    counts["num_as_mask"] += outputs.count(mask)
    counts["num_kept"] += sum(map(operator.eq, outputs, labels))
