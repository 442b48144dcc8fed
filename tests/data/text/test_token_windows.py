"""Windows over long texts, against the original's way of comparing all."""

import numpy as np
import pytest

from data.text.token_windows import cut_spans, max_context_windows


def is_max_context(doc_spans, cur_span_index, position):
    """The original's loop over all windows, for one token."""
    scores = []
    for start, length in doc_spans:
        end = start + length - 1
        if start <= position <= end:
            context = min(position - start, end - position)
            scores.append(context + 0.01 * length)
        else:
            scores.append(-np.inf)
    return scores.index(max(scores)) == cur_span_index


@pytest.mark.parametrize("max_tokens", [1, 2, 5, 16])
@pytest.mark.parametrize("doc_stride", [1, 2, 3, 8, 40])
@pytest.mark.parametrize("num_tokens", [1, 2, 17, 50])
def test_a_token_belongs_to_the_window_with_most_context(
    num_tokens, max_tokens, doc_stride
):
    spans = cut_spans(num_tokens, max_tokens, doc_stride)
    windows = max_context_windows(spans)
    for index, (start, length) in enumerate(spans):
        positions = np.arange(start, start + length)
        np.testing.assert_array_equal(
            windows[positions] == index,
            [is_max_context(spans, index, p) for p in positions],
        )
