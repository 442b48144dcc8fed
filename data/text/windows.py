"""Cuts a long text into overlapping windows of tokens."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
from absl import logging

T = TypeVar("T")


class DocSpan(NamedTuple):
    """A window's first token and number of tokens."""

    start: int
    length: int


def count_cut(
    items: Iterable[T], is_cut: Callable[[T], bool], what: str
) -> Iterator[T]:
    """Yields the items, then logs the number for which `is_cut` is true.

    Args:
        items: examples or features.
        is_cut: function that returns whether an item was too long.
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
    """Cuts a text into windows that cover it.

    Args:
        num_tokens: int, length of the text in tokens.
        max_tokens_for_doc: int, length of all windows except the last.
        doc_stride: int, tokens between the starts of successive windows.
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

    The context is the smaller number of tokens to the token's left or right in
    a window, plus 0.01 times the window's length, as in Google's code. If
    several windows have the most context, the first window counts.

        passage:  a tug pulls the barge past two piers at high tide
        window 1: a tug pulls the barge
        window 2: the barge past two piers
        window 3: two piers at high tide

    "piers" has 4 tokens on its left and 0 on its right in window 2, but 1 and 3
    in window 3. So window 3 has the most context.

    Args:
        doc_spans: list of (start, length) of the passage's windows.
        cur_span_index: int, index of the window to check.
        position: int or array of int, tokens of the passage in this window.

    Returns:
        bool array of the shape of `position`.
    """
    position = np.asarray(position)
    # Compare only neighbors that overlap. Comparing all windows would need
    # quadratic time in a long text.
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
