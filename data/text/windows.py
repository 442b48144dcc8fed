"""Cuts a long text into overlapping windows of tokens."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
from absl import logging

T = TypeVar("T")


class DocSpan(NamedTuple):
    """A window: its first token, and its number of tokens."""

    start: int
    length: int


def count_cut(
    items: Iterable[T], is_cut: Callable[[T], bool], what: str
) -> Iterator[T]:
    """Yields the items, and then logs how many are long, if any are.

    Args:
        items: inputs of the network.
        is_cut: function that says whether an item is longer than the input.
        what: end of the log line, such as "texts were longer than
            --max_seq_length=8 and were cut".
    """
    num_items = num_cut = 0
    for item in items:
        num_items += 1
        num_cut += is_cut(item)
        yield item
    if num_cut:
        logging.info("%d of %d %s", num_cut, num_items, what)


def cut_spans(
    num_tokens: int, max_tokens_for_doc: int, doc_stride: int
) -> list[DocSpan]:
    """Returns the list of DocSpans, windows that cover a text.

    Args:
        num_tokens: int, the text's length.
        max_tokens_for_doc: int, the length of all windows but the last.
        doc_stride: int, tokens from the start of one to that of the next.
    """
    doc_spans = []
    start = 0
    while start < num_tokens:
        length = min(num_tokens - start, max_tokens_for_doc)
        doc_spans.append(DocSpan(start, length))
        if start + length == num_tokens:
            break
        start += min(length, doc_stride)
    return doc_spans


def check_is_max_context(
    doc_spans: Sequence[tuple[int, int]],
    cur_span_index: int,
    position: int | np.ndarray,
) -> np.ndarray:
    """Returns whether no other window has more context around a token.

    The context is the smaller number of tokens to its left or right in a
    window; ties go to the longer window, then to the first.

        passage:  a tug pulls the barge past two piers at high tide
        window 1: a tug pulls the barge
        window 2: the barge past two piers
        window 3: two piers at high tide

    "piers" has 4 and 0 tokens around it in window 2, 1 and 3 in window 3,
    which is therefore its window.

    Args:
        doc_spans: list of (start, length) of the passage's windows.
        cur_span_index: int, the window in question.
        position: int or array of int, tokens of the passage, in that window.

    Returns:
        bool, or an array of them like `position`.
    """
    position = np.asarray(position)
    # Few windows overlap, and those are neighbors: to look at all of them takes
    # the square of the time in a long text.
    begin, end = cur_span_index, cur_span_index + 1
    while begin and sum(doc_spans[begin - 1]) > position.min():
        begin -= 1
    while end < len(doc_spans) and doc_spans[end][0] <= position.max():
        end += 1
    scores = []
    for start, length in doc_spans[begin:end]:
        left, right = position - start, start + length - 1 - position
        context = np.minimum(left, right)
        score = context + 0.01 * length
        scores.append(np.where(context < 0, -np.inf, score))
    return np.argmax(scores, axis=0) == cur_span_index - begin
