"""Holds out documents of a corpus as an evaluation set.

Each task writes its held-out documents to a file: one line for each sentence,
with the WordPieces in hexadecimal digits, and a blank line after each document.
When all tasks are done, all held-out documents become instances.
"""

import functools
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from data.io import text_files
from data.pretraining.documents import Continuation, Document, group_documents


def is_held_out(part: int, number: int, fraction: float, seed: int) -> bool:
    """Returns whether a document is held out.

    The draw depends only on the arguments, so that every process knows which
    documents of any part are held out. The first document of the corpus is
    always held out, so that the evaluation set is not empty.

    `part` is the number of the part, and `number` is the number of the document
    in the part.
    """
    rng = random.Random(f"{seed}/eval/{part}/{number}")
    return part == number == 0 or rng.random() < fraction


def hold_out(
    lines: Iterable[list[bytes] | None],
    is_chosen: Callable[[int], bool],
    write: Callable[[bytes], object],
    counts: Counter[str],
) -> Iterator[list[bytes] | None]:
    """Yields the sentences of a part that are not held out.

    Calls `is_chosen` with the number of each document, to decide whether it is
    held out. Calls `write` with each line for the file of held-out documents.
    Adds the number of held-out documents to `counts`.
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
    """Returns a sentence as a line of WordPieces in hexadecimal digits.

    A plus sign precedes a WordPiece that continues a word.
    """
    pieces = (
        ("+" if isinstance(piece, Continuation) else "") + piece.hex()
        for piece in sentence
    )
    return f"{' '.join(pieces)}\n".encode()


# Reuse one object for each WordPiece, to save memory.
@functools.cache
def _parse(piece: str) -> bytes:
    if piece[0] == "+":
        return Continuation.fromhex(piece[1:])
    return bytes.fromhex(piece)


def read(paths: Iterable[str], max_pieces: int) -> Iterator[list[Document]]:
    """Yields the documents that tasks held out, in lists that fit into memory.

    A list ends after about `max_pieces` WordPieces, as in `group_documents`.
    """
    lines = (
        list(map(_parse, line.split())) or None
        for path in paths
        for line in text_files.read_lines(path)
    )
    return group_documents(lines, max_pieces, Counter())
