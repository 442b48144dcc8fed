"""Creates pretraining records from each part of a corpus independently.

A part is about 4 MB of text (splitting.py). Its documents become instances in
memory, as in instances.py. The random draws depend only on the seed and the
part, so any number of processes can work on the parts, in any order. Each task
also writes its held-out documents (--eval_fraction) to a file. When all tasks
are done, these files become the evaluation set.
"""

import contextlib
import dataclasses
import functools
import itertools
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from data.io import records, text_files
from data.pretraining import (
    documents,
    instances,
)
from data.pretraining.documents import Continuation, Document, Pieces
from data.pretraining.instances import shuffle
from data.pretraining.options import InstanceOptions
from data.pretraining.splitting import Part
from files.atomic import atomic_open, write_json
from files.json_files import read_json

# Maximum number of WordPieces in memory, and maximum number of bytes of records
# in memory. Without these limits, compressed files or a large --dupe_factor
# could exhaust the memory.
MAX_PIECES = 2 << 20
_MAX_RECORD_BYTES = 128 << 20
# Maximum number of shards that a task writes. All of them are open at the same
# time, each with a buffer in memory.
MAX_TASK_SHARDS = 64


@dataclasses.dataclass(frozen=True)
class Task:
    """A task of the job: the shards to write, and the parts to read for them.

    Attributes:
        text: options for turning text into WordPieces.
        instances: options for turning WordPieces into instances.
        parts: (number, blocks) of each part to read.
        lenders: for each part, a list of other parts. Their documents provide
            random next sentences if the part contains only one document.
        shards: paths of the shards. Record i is written to shard i modulo the
            number of shards.
        result_file: path of a JSON file to write when the shards are complete.
        held_out_file: path of a file for the documents that --eval_fraction
            holds out.
    """

    text: documents.TextOptions
    instances: InstanceOptions
    parts: list[Part]
    lenders: list[list[Part]]
    shards: list[str]
    result_file: str
    held_out_file: str


def write_shards(task: Task) -> None:
    """Writes a task's shards, its held-out documents and then its result file.

    The result file contains the sizes and checksums of the other files, and
    counts of the text and of the instances.

    Raises:
        OSError: a file cannot be read or written.
    """
    options = task.instances
    reader = documents.create_reader(task.text)
    counts: Counter[str] = Counter()
    with contextlib.ExitStack() as stack:
        held_out = None
        if options.eval_fraction:
            held_out = stack.enter_context(atomic_open(task.held_out_file))
        write = held_out.write if held_out else None
        writer = stack.enter_context(records.RecordWriter(task.shards))
        for part, lenders in zip(task.parts, task.lenders, strict=True):
            rng = random.Random(f"{options.random_seed}/{part[0]}")
            lines = _read_part(part, reader, options, counts, write)
            previous: list[Document] = []
            for group in documents.group_documents(lines, MAX_PIECES, counts):
                lent: list[Document] = []
                if len(group) == 1:
                    size = sum(map(len, group[0]))
                    lent = _borrow(lenders, reader, options, size) or previous
                for record in create_records(
                    group, reader.pieces, options, rng, counts, lent
                ):
                    writer.write(record)
                previous = group
    result = {
        "shards": writer.describe(),
        "counts": dict(counts),
    }
    if held_out:
        result["held_out"] = records.measure_file(task.held_out_file)
    write_json(task.result_file, result)


def is_done(task: Task) -> bool:
    """Returns whether a task was finished, and all its files are intact."""
    try:
        result = read_json(task.result_file)
    except (FileNotFoundError, ValueError):
        # The result file is missing, or a full disk or a crash truncated it.
        return False
    entries, paths = result.get("shards"), task.shards
    if not isinstance(entries, list) or "counts" not in result:
        return False
    if task.instances.eval_fraction:
        entries = [*entries, result.get("held_out")]
        paths = [*paths, task.held_out_file]
    return len(entries) == len(paths) and all(
        map(records.is_whole, paths, entries)
    )


def write_held_out(
    path: str,
    files: Iterable[str],
    text: documents.TextOptions,
    options: InstanceOptions,
) -> list[dict[str, Any]]:
    """Masks and writes the evaluation set, and returns its manifest entries.

    `files` are the tasks' files of held-out documents.

    Raises:
        ValueError: no document was held out.
    """
    pieces = documents.create_reader(text).pieces
    rng = random.Random(f"{options.random_seed}/eval")
    options = dataclasses.replace(options, dynamic_masking=False, dupe_factor=1)
    previous: list[Document] = []
    with records.RecordWriter([path]) as writer:
        for group in read_held_out(files, MAX_PIECES):
            lent = previous if len(group) == 1 else []
            for record in create_records(
                group, pieces, options, rng, Counter(), lent
            ):
                writer.write(record)
            previous = group
        if not writer.num_records:
            raise ValueError(
                f"--eval_fraction={options.eval_fraction} held out no text; "
                "put blank lines between documents so that the input has more "
                "of them, or set another --random_seed"
            )
    return writer.describe()


def _read_part(
    part: Part,
    reader: documents.TextReader,
    options: InstanceOptions,
    counts: Counter[str],
    write: Callable[[bytes], object] | None,
) -> Iterator[list[bytes] | None]:
    """Yields the sentences of a part, and None at the end of each document.

    Omits held-out documents, and passes their lines to `write`. If `write` is
    None, no document is held out. The end of a file also ends a document. Adds
    counts of the text to `counts`.
    """
    dropped: Counter[str] = Counter()
    lines: Iterator[list[bytes] | None] = itertools.chain.from_iterable(
        itertools.chain(
            reader.read(block, counts, dropped), [] if block.is_cut else [None]
        )
        for block in part[1]
    )
    yield from (
        hold_out(lines, part[0], options, write, counts) if write else lines
    )
    counts["num_dropped_bytes"] += dropped.total()


def hold_out(
    lines: Iterable[list[bytes] | None],
    part: int,
    options: InstanceOptions,
    write: Callable[[bytes], object],
    counts: Counter[str],
) -> Iterator[list[bytes] | None]:
    """Yields the sentences for training, and writes the held-out documents.

    A sentence of a held-out document becomes a line with its WordPieces in
    hexadecimal digits. A plus sign precedes each WordPiece that continues a
    word. A blank line follows each document.

    Args:
        lines: sentences of a part of the corpus. None ends a document.
        part: number of the part.
        options: options with `eval_fraction` and `random_seed`.
        write: function that receives each line.
        counts: Counter. Its "num_documents" also counts held-out documents.
    """
    number = 0
    is_held: bool | None = None  # None = between documents
    for sentence in lines:
        if sentence and is_held is None:
            # The draw depends only on the seed and the document's number, so
            # that every process knows which documents of other parts are held
            # out. The first document of the corpus is always held out, so that
            # the evaluation set is not empty.
            rng = random.Random(f"{options.random_seed}/eval/{part}/{number}")
            is_held = (
                part == number == 0 or rng.random() < options.eval_fraction
            )
        if sentence is None and is_held is not None:
            number += 1
            counts["num_documents"] += is_held
            if is_held:
                write(b"\n")
            is_held = None
        if sentence and is_held:
            pieces = (
                ("+" if isinstance(piece, Continuation) else "") + piece.hex()
                for piece in sentence
            )
            write(f"{' '.join(pieces)}\n".encode())
        else:
            yield sentence
    if is_held:
        write(b"\n")


# The cache saves memory, because all occurrences of a WordPiece become the same
# bytes object.
@functools.cache
def _parse(piece: str) -> bytes:
    if piece[0] == "+":
        return Continuation.fromhex(piece[1:])
    return bytes.fromhex(piece)


def read_held_out(
    paths: Iterable[str], max_pieces: int
) -> Iterator[list[Document]]:
    """Reads the documents that `hold_out` wrote, and yields lists of them.

    A list contains about `max_pieces` WordPieces, to limit memory.
    """
    lines = (
        list(map(_parse, line.split())) or None
        for path in paths
        for line in text_files.read_lines(path)
    )
    return documents.group_documents(lines, max_pieces, Counter())


def _borrow(
    lenders: Sequence[Part],
    reader: documents.TextReader,
    options: InstanceOptions,
    num_pieces: int,
) -> list[Document]:
    """Reads documents of other parts, for random next sentences.

    Reads each part in `lenders` from its start, skipping documents that are
    held out. Returns about `num_pieces` WordPieces in total.
    """
    found: list[Document] = []
    # `len` discards the lines of held-out documents, instead of writing them.
    write = len if options.eval_fraction else None
    for lender in lenders:
        lines = _read_part(lender, reader, options, Counter(), write)
        size = max(num_pieces // len(lenders), 1)
        found += next(documents.group_documents(lines, size, Counter()), [])
    return found


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
