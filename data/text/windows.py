"""Cuts a long text into overlapping windows of tokens."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

import numpy as np
from absl import logging

T = TypeVar("T")


def count_cut(
    items: Iterable[T], is_cut: Callable[[T], bool], what: str
) -> Iterator[T]:
    """Yields the items, then logs how many of them were cut.

    Args:
        items: examples or features.
        is_cut: function that returns whether an item was cut.
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
) -> list[tuple[int, int]]:
    """Cuts a text into overlapping windows that cover it.

    Args:
        num_tokens: length of the text in tokens.
        max_tokens_for_doc: number of tokens of each window. Only the last
            window may be shorter.
        doc_stride: number of tokens from the start of a window to the start of
            the next window.

    Returns:
        (start, length) of each window: the index of its first token, and its
        number of tokens.
    """
    doc_spans = []
    start = 0
    while start < num_tokens:
        length = min(num_tokens - start, max_tokens_for_doc)
        doc_spans.append((start, length))
        if start + length == num_tokens:
            break
        start += min(length, doc_stride)
    return doc_spans


def check_is_max_context(
    doc_spans: Sequence[tuple[int, int]],
    cur_span_index: int,
    position: int | np.ndarray,
) -> np.ndarray:
    """Returns whether no other window contains more context around a token.

    The context is the number of tokens to the token's left or to its right in
    the window, whichever is smaller, plus 0.01 times the window's length, as in
    Google's code. If several windows contain the most context, the function
    returns True only for the first of them.

        passage:  a tug pulls the barge past two piers at high tide
        window 1: a tug pulls the barge
        window 2: the barge past two piers
        window 3: two piers at high tide

    "piers" has 4 tokens on its left and 0 on its right in window 2, but 1 and 3
    in window 3. So window 3 contains the most context.

    Args:
        doc_spans: list of (start, length) of the passage's windows.
        cur_span_index: int, index of the window to check.
        position: int or array of int, indexes of tokens of the passage. The
            window contains these tokens.

    Returns:
        bool array of the shape of `position`.
    """
    position = np.asarray(position)
    # Compare only windows that contain the tokens, because comparing all
    # windows of a long text would need quadratic time.
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
