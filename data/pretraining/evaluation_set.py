"""Holds out documents of a corpus as an evaluation set.

Each task of job.py writes its held-out documents to a file: one line for each
sentence, with the encoded WordPieces in hexadecimal digits, and a blank line
after each document. When all tasks are done, job.py creates the instances of
the evaluation set from these files.
"""

import functools
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from data.io import text_files
from data.pretraining.documents import Continuation, Document, group_documents


def is_held_out(part: int, number: int, fraction: float, seed: int) -> bool:
    """Returns whether a document belongs to the evaluation set.

    The random choice depends only on the arguments, so that every process knows
    which documents of other parts are held out. The first document of the
    corpus is always held out, so that the evaluation set is not empty.

    `part` is the number of the corpus part that contains the document. `number`
    is the number of the document in this part. Both begin at 0.
    """
    rng = random.Random(f"{seed}/eval/{part}/{number}")
    return part == number == 0 or rng.random() < fraction


def hold_out(
    lines: Iterable[list[bytes] | None],
    is_chosen: Callable[[int], bool],
    write: Callable[[bytes], object],
    counts: Counter[str],
) -> Iterator[list[bytes] | None]:
    """Yields the sentences for training, and writes the held-out sentences.

    Args:
        lines: sentences of a part of the corpus. None ends a document.
        is_chosen: function that receives the number of a document in the part,
            and returns whether the document is held out.
        write: function that receives each line for the file of held-out
            documents.
        counts: Counter, to which the number of held-out documents is added.
    """
    number = 0
    is_held: bool | None = None  # None between documents
    for sentence in lines:
        if sentence and is_held is None:
            is_held = is_chosen(number)
        if sentence is None and is_held is not None:
            number += 1
            counts["num_documents"] += is_held
            if is_held:
                write(b"\n")
            is_held = None
        if sentence and is_held:
            write(format_sentence(sentence))
        else:
            yield sentence
    if is_held:
        write(b"\n")


def format_sentence(sentence: Iterable[bytes]) -> bytes:
    """Returns a sentence as a line of encoded WordPieces in hexadecimal digits.

    A plus sign precedes each WordPiece that continues a word.
    """
    pieces = (
        ("+" if isinstance(piece, Continuation) else "") + piece.hex()
        for piece in sentence
    )
    return f"{' '.join(pieces)}\n".encode()


# The cache saves memory, because all occurrences of a WordPiece become the same
# bytes object.
@functools.cache
def _parse(piece: str) -> bytes:
    if piece[0] == "+":
        return Continuation.fromhex(piece[1:])
    return bytes.fromhex(piece)


def read(paths: Iterable[str], max_pieces: int) -> Iterator[list[Document]]:
    """Yields the held-out documents in lists that fit into memory.

    `paths` are the files that the tasks wrote. A list ends after about
    `max_pieces` WordPieces, as in `group_documents`.
    """
    lines = (
        list(map(_parse, line.split())) or None
        for path in paths
        for line in text_files.read_lines(path)
    )
    return group_documents(lines, max_pieces, Counter())
