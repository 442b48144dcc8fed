"""Splits the text files of a corpus into parts of about the same size.

A part begins with a new document, unless the document before it is very long.
"""

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from data.io import text_files
from data.pretraining.documents import LineRange

# Number of bytes of text in a part. Such a part usually contains hundreds of
# documents, from which random next sentences are drawn.
_PART_BYTES = 4 << 20
# A corpus of less than _MIN_PARTS * _PART_BYTES is split into _MIN_PARTS
# parts, so that several processes can work on it. It is split into fewer parts
# if these would be smaller than _MIN_PART_BYTES.
_MIN_PARTS = 8
_MIN_PART_BYTES = 256 << 10
# If no document begins within this number of bytes, the part begins with a line
# in the middle of a document.
_MAX_SEARCH = 1 << 20


# A part of the corpus. Its ranges may be in several files.
CorpusPart: TypeAlias = list[LineRange]


def split_corpus(input_files: Sequence[str]) -> list[CorpusPart]:
    """Splits text files into parts. The result depends only on the files.

    Args:
        input_files: paths of the text files. Compressed files are not cut.

    Returns:
        list of at least one part. Each part is a list of LineRanges.
    """
    sizes = [text_files.file_size(path) for path in input_files]
    total = sum(sizes)
    num_parts = max(
        total // _PART_BYTES, min(total // _MIN_PART_BYTES, _MIN_PARTS), 1
    )
    parts: list[CorpusPart] = []
    line_ranges: CorpusPart = []
    before = 0  # number of bytes in the files before `path`
    for path, size in zip(input_files, sizes, strict=True):
        start = 0
        is_compressed = text_files.is_compressed(path)
        while start < size:
            # The part ends near the next multiple of total / num_parts.
            part_number = (before + start) * num_parts // total + 1
            border = total * part_number // num_parts - before
            next_part = _PartStart(size, is_in_document=False)
            if border < size and not is_compressed:
                next_part = _find_part_start(path, border)
            end = next_part.position
            line_ranges.append(
                LineRange(
                    path,
                    start,
                    end if end < size else None,
                    is_cut=next_part.is_in_document,
                )
            )
            if end >= border:
                parts.append(line_ranges)
                line_ranges = []
            start = end
        before += size
    return parts or [[]]


class _PartStart(NamedTuple):
    """Where a part begins in a file.

    Attributes:
        position: offset of the part's first byte.
        is_in_document: whether this byte is in the middle of a document.
    """

    position: int
    is_in_document: bool


def _find_part_start(path: str, position: int) -> _PartStart:
    """Finds where a part begins after the byte `position`.

    The part begins at the first line of text after a blank line, so that no
    part consists of blank lines. If there is no blank line in the next
    _MAX_SEARCH bytes, the part begins with the first line after `position`, in
    the middle of a document.
    """
    with text_files.open_binary(path) as file:
        file.seek(position)
        # Skip the rest of the line that contains `position`.
        position += len(file.readline())
        first_line = position
        is_after_blank = False
        while line := file.readline():
            if not line.strip():
                is_after_blank = True
            elif is_after_blank:
                return _PartStart(position, is_in_document=False)
            position += len(line)
            if not is_after_blank and position >= first_line + _MAX_SEARCH:
                return _PartStart(first_line, is_in_document=True)
    return _PartStart(position, is_in_document=False)
