"""Creates pretraining records from each part of a corpus independently.

A part is about 4 MB of text (splitting.py). Its documents become instances in
memory, as in instances.py. The random draws depend only on the seed and the
part, so any number of processes can work on the parts, in any order.
"""

import dataclasses
import itertools
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from data.io import records
from data.pretraining import documents, instances
from data.pretraining.documents import Document, Pieces
from data.pretraining.instances import shuffle
from data.pretraining.options import InstanceOptions
from data.pretraining.splitting import Part
from files.atomic import write_json

# Maximum number of characters of a document, of WordPieces of a group of
# documents, and of bytes of records in memory. Without these limits, compressed
# files or a large --dupe_factor could exhaust the memory.
_MAX_CHARACTERS = 8 << 20
_MAX_PIECES = 2 << 20
_MAX_RECORD_BYTES = 128 << 20
# --eval_fraction is a multiple of 1 / _NUM_HASHES.
_NUM_HASHES = 10_000


@dataclasses.dataclass(frozen=True)
class Task:
    """A task of the job: the shards to write, and the parts to read for them.

    Attributes:
        text: options for turning text into WordPieces.
        instances: options for turning WordPieces into instances.
        parts: {number of a part: the part} of each part to read.
        shards: paths of the shards. Record i is written to shard i modulo the
            number of shards.
        result_file: path of a JSON file to write when the shards are complete.
        is_evaluation: whether to write the documents that `eval_fraction` holds
            out, instead of the others.
    """

    text: documents.TextOptions
    instances: InstanceOptions
    parts: dict[int, Part]
    shards: list[str]
    result_file: str
    is_evaluation: bool = False


def write_shards(task: Task) -> None:
    """Writes a task's shards, and then its result file.

    The result file contains the sizes and checksums of the shards, and counts
    of the text and of the instances.

    A document is held out if the CRC-32 of its text, modulo 10,000, is below
    10,000 times `eval_fraction`. So the choice depends only on the text.

    Raises:
        OSError: a file cannot be read or written.
    """
    options = task.instances
    counts: Counter[str] = Counter()
    # Only training instances are counted.
    made = Counter() if task.is_evaluation else counts
    reader = documents.create_reader(task.text)

    def is_wanted(checksum: int) -> bool:
        is_held_out = (
            checksum % _NUM_HASHES < options.eval_fraction * _NUM_HASHES
        )
        return is_held_out == task.is_evaluation

    # Each part has its own random draws, but the evaluation set is small, so
    # its documents are taken together.
    texts: dict[Any, Iterator[Document]] = {
        number: reader.read(part, counts, is_wanted, _MAX_CHARACTERS)
        for number, part in task.parts.items()
    }
    if task.is_evaluation:
        texts = {"eval": itertools.chain.from_iterable(texts.values())}
        options = dataclasses.replace(
            options, dynamic_masking=False, dupe_factor=1
        )
    previous: list[Document] = []
    with records.RecordWriter(task.shards) as writer:
        for name, text in texts.items():
            rng = random.Random(f"{options.random_seed}/{name}")
            for group in _group(text):
                # The random next sentences of a single document come from the
                # group before it.
                lent = previous if len(group) == 1 else []
                for record in create_records(
                    group, reader.pieces, options, rng, made, lent
                ):
                    writer.write(record)
                previous = group
    result = {"shards": writer.describe(), "counts": dict(counts)}
    write_json(task.result_file, result)


def _group(text: Iterable[Document]) -> Iterator[list[Document]]:
    # Yields lists of documents that fit into memory.
    group, num_pieces = [], 0
    for document in text:
        group.append(document)
        num_pieces += sum(map(len, document))
        if num_pieces >= _MAX_PIECES:
            yield group
            group, num_pieces = [], 0
    if group:
        yield group


def create_records(
    group: list[Document],
    pieces: Pieces,
    options: InstanceOptions,
    rng: random.Random,
    counts: Counter[str],
    lent: Sequence[Document] = (),
) -> Iterator[bytes]:
    """Creates instances from documents, and yields their records shuffled.

    Shuffles `group` in place. Adds the number of instances and the number of
    their WordPieces to `counts`: "num_instances" and "num_pieces". The
    documents in `lent` only provide random next sentences for the instances of
    `group`.
    """
    encode = instances.InstanceEncoder(options)
    shuffle(group, rng)
    available = [*group, *lent]
    batch: list[bytes] = []
    num_bytes = 0
    for _ in range(options.dupe_factor):
        for index in range(len(group)):
            for instance in instances.create_instances_from_document(
                available, index, pieces, rng, options
            ):
                counts["num_instances"] += 1
                counts["num_pieces"] += len(instance.tokens)
                batch.append(encode(instance))
                num_bytes += len(batch[-1])
        if num_bytes > _MAX_RECORD_BYTES:
            shuffle(batch, rng)
            yield from batch
            batch, num_bytes = [], 0
    shuffle(batch, rng)
    yield from batch
