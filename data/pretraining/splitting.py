"""Splits a corpus into parts of about the same size.

A part begins with a new document, unless the document before it is very long.
"""

import bisect
import itertools
from collections.abc import Iterator, Sequence

from data.io import text_files
from data.pretraining.documents import Block

# Number of bytes of text in a part. Such a part usually contains hundreds of
# documents, from which random next sentences are drawn.
_PART_BYTES = 4 << 20
# A corpus of less than _LEAST_PARTS * _PART_BYTES is split into _LEAST_PARTS
# parts, so that several processes can work on it. It is split into fewer parts
# if these would be smaller than _LEAST_PART_BYTES.
_LEAST_PARTS = 8
_LEAST_PART_BYTES = 256 << 10
# If no document begins within this number of bytes, the part begins with a line
# in the middle of a document.
_MAX_SEARCH = 1 << 20
# Number of other parts that provide random next sentences if a part contains
# only one document.
_NUM_LENDERS = 4

Part = tuple[int, list[Block]]


def split_to_parts(input_files: Sequence[str]) -> list[list[Block]]:
    """Splits text files into parts. The result depends only on the files.

    Args:
        input_files: paths of the text files. Compressed files are not cut.

    Returns:
        list of parts. Each part is a list of Blocks.
    """
    sizes = [text_files.size(path) for path in input_files]
    starts = list(itertools.accumulate(sizes, initial=0))
    num_parts = max(
        starts[-1] // _PART_BYTES,
        min(starts[-1] // _LEAST_PART_BYTES, _LEAST_PARTS),
        1,
    )
    # {(number of the file, offset of the byte at which a part begins): True if
    # this byte is in the middle of a document}.
    cuts = {(0, 0): False, (len(sizes), 0): False}
    last = (0, 0)
    for number in range(1, num_parts):
        position = starts[-1] * number // num_parts
        file = bisect.bisect_right(starts, position) - 1
        path, is_cut, start = input_files[file], False, 0
        position -= starts[file]
        if (file, position) < last:
            continue
        if not path.endswith(".gz"):
            start, is_cut = _find_start(path, position)
        last = (file, start)
        if start >= sizes[file]:
            last, is_cut = (file + 1, 0), False
        cuts[last] = is_cut
    parts = []
    for (first, start), (last_file, end) in itertools.pairwise(sorted(cuts)):
        parts.append(
            [
                Block(
                    input_files[file],
                    start if file == first else 0,
                    end if file == last_file else None,
                    file == last_file and cuts[last_file, end],
                )
                for file in range(first, last_file + bool(end))
            ]
        )
    return parts


def _find_start(path: str, position: int) -> tuple[int, bool]:
    """Finds where a part begins after the byte `position`.

    A part begins with the first line of text after a blank line, so that no
    part consists of blank lines. If there is no blank line in the next
    _MAX_SEARCH bytes, the part begins with the first line after `position`.

    Returns:
        (offset of the part's first byte, True if this byte is in the middle of
        a document).
    """
    with text_files.open_raw(path) as file:
        file.seek(position)
        # Skip the rest of the line that contains `position`.
        first_line = position = position + len(file.readline())
        is_after_blank = False
        while line := file.readline():
            if not line.strip():
                is_after_blank = True
            elif is_after_blank:
                return position, False
            position += len(line)
            if not is_after_blank and position >= first_line + _MAX_SEARCH:
                return first_line, True
    return position, False


def find_lenders(parts: Sequence[list[Block]]) -> list[list[Part]]:
    """Chooses, for each part, the parts to draw random next sentences from.

    The chosen parts are spread evenly over the corpus. No document is partly in
    a part and partly in the parts chosen for it.
    """
    # A document may span several parts. Group successive parts: a group ends
    # with the first part whose end is the end of a document.
    ends = [
        number
        for number, blocks in enumerate(parts, start=1)
        if not blocks[-1].is_cut
    ]
    found = []
    for start, end in itertools.pairwise([0, *ends]):
        num_others = len(parts) - (end - start)
        for number in range(start, end):
            others = {
                (number + num_others * i // _NUM_LENDERS) % num_others
                for i in range(_NUM_LENDERS if num_others else 0)
            }
            lenders = sorted(
                x if x < start else x + end - start for x in others
            )
            found.append([(lender, parts[lender]) for lender in lenders])
    return found


def share_out(
    parts: Sequence[list[Block]], shards: Sequence[str]
) -> Iterator[tuple[list[Part], list[str]]]:
    """Distributes parts and shards evenly over tasks.

    The number of tasks is the number of parts or the number of shards,
    whichever is smaller. Yields for each task its parts, as pairs (number,
    blocks), and the paths of its shards.
    """
    number = min(len(parts), len(shards))
    numbered = list(enumerate(parts))
    for task in range(number):
        first, end = (
            [len(items) * border // number for items in (parts, shards)]
            for border in (task, task + 1)
        )
        yield numbered[first[0] : end[0]], list(shards[first[1] : end[1]])
