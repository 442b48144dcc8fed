"""Holds out documents of a corpus as an evaluation set.

Each task holds out documents of its parts and writes them to its result, a JSON
file. When all tasks are done, these documents become instances together.
"""

import random
from collections.abc import Iterable, Iterator

from data.pretraining.documents import Continuation, Document
from files.json_files import read_json

# Documents that are in memory together.
_MAX_DOCUMENTS = 10_000


def hold_out(
    group: list[Document], fraction: float, least: int, rng: random.Random
) -> list[Document]:
    """Removes documents from a list, but not all, and returns them.

    Args:
        group: list of documents.
        fraction: of them to hold out; rounded at random, so that it is right on
            average.
        least: minimum number to hold out.
        rng: random.Random.
    """
    number = max(int(fraction * len(group) + rng.random()), least)
    number = min(number, len(group) - 1)
    chosen = sorted(rng.sample(range(len(group)), number), reverse=True)
    return [group.pop(index) for index in chosen]


def format_document(document: Document) -> list[str]:
    """Returns a document in hexadecimal digits, for JSON."""
    return [
        " ".join(
            ("+" if isinstance(piece, Continuation) else "") + piece.hex()
            for piece in sentence
        )
        for sentence in document
    ]


def parse_document(lines: Iterable[str]) -> Document:
    """Returns the document of `format_document`."""
    return [
        [
            Continuation.fromhex(piece[1:])
            if piece[0] == "+"
            else bytes.fromhex(piece)
            for piece in line.split()
        ]
        for line in lines
    ]


def read(result_files: Iterable[str]) -> Iterator[list[Document]]:
    """Yields the documents that tasks held out, in lists that fit into memory.

    Args:
        result_files: the tasks' JSON files.
    """
    group: list[Document] = []
    for path in result_files:
        group += map(parse_document, read_json(path)["held_out"])
        if len(group) > _MAX_DOCUMENTS:
            yield group
            group = []
    if group:
        yield group
