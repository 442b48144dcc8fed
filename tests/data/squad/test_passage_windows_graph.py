"""Windows that a graph cuts, against those of Google's code.

test_answer_decoding_graph.py compares the windows of odd texts with Python's.
"""

import numpy as np
import pytest
import tensorflow as tf

from tests.support.squad.squad_cases import (
    CASES,
    load_case,
    load_tokenizer,
    window_options,
    windows_of_case,
)


@pytest.mark.parametrize("case", CASES)
def test_windows_equal_those_of_googles_code(case):
    examples, _, recorded = load_case(case, "predict_file", False)
    windows, _ = windows_of_case(case, examples)
    length = window_options(case).max_seq_length
    features = windows.pack(load_tokenizer(case).layer, length)
    for name in ("input_ids", "input_mask", "segment_ids"):
        assert features[name].dtype == tf.int32
        np.testing.assert_array_equal(features[name], recorded[name])
    np.testing.assert_array_equal(
        windows.text_indices, recorded["example_index"]
    )


@pytest.mark.parametrize("case", CASES)
def test_the_window_of_most_context_of_each_token_is_googles(case):
    examples, expected, _ = load_case(case, "predict_file", False)
    windows, _ = windows_of_case(case, examples)
    first_positions = windows.first_positions.numpy().tolist()
    for window, feature in enumerate(expected):
        start = windows.starts[window]
        tokens = tf.range(start, start + windows.lengths[window])
        best_windows = windows.find_max_context_windows(tokens)
        has_most = (best_windows == window).numpy().tolist()
        assert feature.token_is_max_context == dict(
            enumerate(has_most, first_positions[window])
        )
