"""Turns texts into inputs of equal length: cuts long texts, pads short ones.

Long texts are cut to the network's input length, or into windows.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, TypedDict, TypeVar

import numpy as np
from absl import logging

from data.arrays import IntArray

T = TypeVar("T")


def log_num_cut(
    items: Iterable[T], is_cut: Callable[[T], bool], what: str
) -> Iterator[T]:
    """Yields the items, then logs how many were truncated or cut into windows.

    Args:
        items: examples or features.
        is_cut: function that returns whether to count an item.
        what: end of the log line, such as "texts were longer than
            --max_seq_length=8 and were cut".
    """
    num_items = 0
    num_cut = 0
    for item in items:
        num_items += 1
        num_cut += is_cut(item)
        yield item
    if num_cut:
        logging.info("%d of %d %s", num_cut, num_items, what)


class JoinedTokens(NamedTuple):
    """The tokens of an input.

    Attributes:
        tokens: WordPieces of one or two texts, with [CLS] and [SEP].
        first_length: number of tokens in segment 0. The rest are in segment 1.
        num_cut: number of WordPieces that were cut off.
    """

    tokens: list[str]
    first_length: int
    num_cut: int


def join_tokens(
    tokens_a: Sequence[str], tokens_b: Sequence[str], max_seq_length: int
) -> JoinedTokens:
    """Joins one or two texts to an input of at most `max_seq_length` tokens.

        [CLS] who moore ##d the tug ? [SEP] the pilot did . [SEP]
          0    0   0    0    0   0  0   0    1    1    1  1   1
        [CLS] a ferry sails at noon . [SEP]
          0   0   0     0   0   0   0   0

    Cuts the end of the longer text, and of the second if both are equally long,
    as `_truncate_seq_pair` in Google's run_classifier.py does.

    Args:
        tokens_a: WordPieces of the first text.
        tokens_b: WordPieces of the second text, empty for a single text.
        max_seq_length: maximum length of the input, at least 3.
    """
    room = max_seq_length - (3 if tokens_b else 2)
    num_cut = max(len(tokens_a) + len(tokens_b) - room, 0)
    # The second text needs half of the room, or less if it is shorter.
    room_b = min(len(tokens_b), room // 2)
    tokens_a = tokens_a[: room - room_b]
    tokens = ["[CLS]", *tokens_a, "[SEP]"]
    second = [*tokens_b[: room - len(tokens_a)], "[SEP]"] if tokens_b else []
    return JoinedTokens(
        tokens=tokens + second, first_length=len(tokens), num_cut=num_cut
    )


class DocSpan(NamedTuple):
    """A window of a text that is cut into windows.

    Attributes:
        start: index of its first WordPiece in the text.
        length: number of its WordPieces.
    """

    start: int
    length: int


def cut_spans(
    num_wordpieces: int, max_tokens_for_doc: int, doc_stride: int
) -> list[DocSpan]:
    """Cuts a text into overlapping windows that cover it.

    Examples:
        >>> for span in cut_spans(10, max_tokens_for_doc=6, doc_stride=4):
        ...     print(span)
        DocSpan(start=0, length=6)
        DocSpan(start=4, length=6)

    Args:
        num_wordpieces: length of the text in WordPieces.
        max_tokens_for_doc: number of tokens of each window. Only the last
            window may be shorter.
        doc_stride: number of tokens from the start of a window to the start of
            the next window.
    """
    doc_spans = []
    start = 0
    while start < num_wordpieces:
        length = min(num_wordpieces - start, max_tokens_for_doc)
        doc_spans.append(DocSpan(start, length))
        if start + length == num_wordpieces:
            break
        start += max(min(length, doc_stride), 1)
    return doc_spans


def cut_windows(
    tokens: list[str], max_seq_length: int, doc_stride: int
) -> list[list[str]]:
    """Cuts the WordPieces of a single text into the windows of a classifier.

    A text without WordPieces becomes one empty window, because every text must
    get a label. Training and serving call this function.

    Examples:
        >>> tug = ["a", "tug", "pulls", "it"]
        >>> cut_windows(tug, max_seq_length=5, doc_stride=2)
        [['a', 'tug', 'pulls'], ['pulls', 'it']]
        >>> cut_windows([], max_seq_length=5, doc_stride=2)
        [[]]

    Args:
        tokens: WordPieces of the text.
        max_seq_length: maximum length of a window with its [CLS] and [SEP],
            which the function does not add.
        doc_stride: number of WordPieces from the start of a window to the start
            of the next window.
    """
    spans = cut_spans(max(len(tokens), 1), max_seq_length - 2, doc_stride)
    return [tokens[start : start + length] for start, length in spans]


def find_max_context_windows(doc_spans: Sequence[DocSpan]) -> IntArray:
    """Finds the window that contains the most context around each token.

    The context is the number of tokens to the token's left or to its right in
    the window, whichever is smaller, plus 0.01 times the window's length, as in
    Google's code. If several windows contain the most context, the function
    chooses the first of these windows.

        passage:  a tug pulls the barge past two piers at high tide
        window 1: a tug pulls the barge
        window 2: the barge past two piers
        window 3: two piers at high tide

    "piers" has 4 tokens on its left and 0 on its right in window 2, but 1 and 3
    in window 3. So window 3 contains the most context.

    `doc_spans` are the passage's windows, which cover it.

    Examples:
        >>> spans = cut_spans(11, max_tokens_for_doc=5, doc_stride=3)
        >>> find_max_context_windows(spans).tolist()
        [0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 2]

    Returns:
        index of the window for each token of the passage, int [tokens].
    """
    num_wordpieces = sum(doc_spans[-1]) if doc_spans else 0
    windows = np.zeros(num_wordpieces, int)
    scores = np.full(num_wordpieces, -np.inf)
    for index, (start, length) in enumerate(doc_spans):
        left = np.arange(length)
        score = np.minimum(left, length - 1 - left) + 0.01 * length
        better = start + np.flatnonzero(score > scores[start : start + length])
        windows[better] = index
        scores[better] = score[better - start]
    return windows


class PaddedInput(TypedDict):
    """The network's input for one text or pair, [max_seq_length] each.

    Attributes:
        input_ids: ids of the WordPieces.
        input_mask: 1 = a real token.
        segment_ids: 0 or 1, number of the text.
    """

    input_ids: list[int]
    input_mask: list[int]
    segment_ids: list[int]


def pad_input(
    input_ids: Sequence[int], first_length: int, max_seq_length: int
) -> PaddedInput:
    """Returns the network's input for ids, padded with zeros.

    The first `first_length` ids are in segment 0.

    Examples:
        >>> padded = pad_input([2, 7, 3, 8, 3], 3, max_seq_length=6)
        >>> padded["input_ids"], padded["segment_ids"]
        ([2, 7, 3, 8, 3, 0], [0, 0, 0, 1, 1, 0])
    """
    padding = [0] * (max_seq_length - len(input_ids))
    second_length = len(input_ids) - first_length
    return {
        "input_ids": [*input_ids, *padding],
        "input_mask": [1] * len(input_ids) + padding,
        "segment_ids": [0] * first_length + [1] * second_length + padding,
    }


def stack_inputs(
    inputs: Sequence[PaddedInput], max_seq_length: int
) -> dict[str, IntArray]:
    """Returns N inputs as arrays, int32 [N, max_seq_length] each."""
    rows = {
        "input_ids": [row["input_ids"] for row in inputs],
        "input_mask": [row["input_mask"] for row in inputs],
        "segment_ids": [row["segment_ids"] for row in inputs],
    }
    # An array of no rows needs its shape.
    shape = (len(inputs), max_seq_length)
    return {
        name: np.array(values, np.int32).reshape(shape)
        for name, values in rows.items()
    }
