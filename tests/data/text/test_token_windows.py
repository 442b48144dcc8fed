"""Windows over long texts, against Google's way of comparing all."""

import numpy as np
import pytest

from data.text.token_windows import (
    cut_spans,
    cut_windows,
    find_max_context_windows,
    join_tokens,
    log_num_cut,
    pad_input,
    stack_inputs,
)


def is_max_context(doc_spans, cur_span_index, position):
    """Google's loop over all windows, for one token."""
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
@pytest.mark.parametrize("num_wordpieces", [1, 2, 17, 50])
def test_a_token_belongs_to_the_window_with_most_context(
    num_wordpieces, max_tokens, doc_stride
):
    spans = cut_spans(num_wordpieces, max_tokens, doc_stride)
    windows = find_max_context_windows(spans)
    for index, (start, length) in enumerate(spans):
        positions = np.arange(start, start + length)
        np.testing.assert_array_equal(
            windows[positions] == index,
            [is_max_context(spans, index, position) for position in positions],
        )


@pytest.mark.parametrize(
    ("tokens", "windows"),
    [
        pytest.param("", [""], id="no_token"),
        pytest.param("a b c", ["a b c"], id="as_long_as_a_window"),
        pytest.param("a b c d", ["a b c", "c d"], id="one_token_more"),
    ],
)
def test_a_text_becomes_at_least_one_window(tokens, windows):
    cut = cut_windows(tokens.split(), max_seq_length=5, doc_stride=2)
    assert [" ".join(window) for window in cut] == windows


@pytest.mark.parametrize(
    ("tokens_a", "tokens_b", "expected", "first_length", "num_cut"),
    [
        ("a b", "", "[CLS] a b [SEP]", 4, 0),
        ("a b c d e f", "", "[CLS] a b c d e [SEP]", 7, 1),
        ("a b", "c", "[CLS] a b [SEP] c [SEP]", 4, 0),
        # The longer text is cut, and of equal texts the second one.
        ("a b c d", "e", "[CLS] a b c [SEP] e [SEP]", 5, 1),
        ("a b c", "d e f", "[CLS] a b [SEP] d e [SEP]", 4, 2),
        ("a b c", "d e", "[CLS] a b [SEP] d e [SEP]", 4, 1),
    ],
)
def test_texts_are_packed_into_an_input_of_seven_tokens(
    tokens_a, tokens_b, expected, first_length, num_cut
):
    joined = join_tokens(tokens_a.split(), tokens_b.split(), 7)
    assert joined == (expected.split(), first_length, num_cut)


def test_items_that_were_cut_are_counted_at_the_end(caplog):
    caplog.set_level("INFO")
    items = log_num_cut([1, 5, 9], lambda item: item > 4, "texts were cut")
    assert next(items) == 1
    assert caplog.messages == []
    assert [*items] == [5, 9]
    assert caplog.messages == ["2 of 3 texts were cut"]


def test_without_a_cut_nothing_is_logged(caplog):
    caplog.set_level("INFO")
    assert [*log_num_cut([1], lambda item: False, "texts were cut")] == [1]
    assert caplog.messages == []


def test_the_second_text_is_segment_1_and_the_padding_is_0():
    assert pad_input([5, 6, 7], 2, 5) == {
        "input_ids": [5, 6, 7, 0, 0],
        "input_mask": [1, 1, 1, 0, 0],
        "segment_ids": [0, 0, 1, 0, 0],
    }


def test_inputs_become_the_rows_of_arrays():
    inputs = [pad_input(ids, 1, 2) for ids in ([5], [6])]
    arrays = stack_inputs(inputs, 2)
    assert arrays["input_ids"].tolist() == [[5, 0], [6, 0]]
    assert {str(array.dtype) for array in arrays.values()} == {"int32"}


def test_stack_inputs_of_no_input_returns_empty_arrays():
    arrays = stack_inputs([], 0)
    assert {array.shape for array in arrays.values()} == {(0, 0)}
