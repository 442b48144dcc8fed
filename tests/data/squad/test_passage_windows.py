"""The windows of small passages, their characters, and their records.

test_passage_windows_golden.py compares windows with those that Google's code
recorded.
"""

import pytest

from data.io import tf_examples
from data.squad.passage_windows import encode_squad_features
from tests.support.squad.squad_passages import create_windows

PREDICTION_LENGTHS = {
    "unique_ids": 1,
    "input_ids": 12,
    "input_mask": 12,
    "segment_ids": 12,
}
ANSWER_LENGTHS = {"start_positions": 1, "end_positions": 1, "is_impossible": 1}


def test_a_window_with_a_part_of_the_answer_has_the_positions_0(
    tmp_path, tokenizer
):
    """A window contains 8 of the 11 tokens. The first window lacks the d."""
    _, windows = create_windows(
        tmp_path,
        tokenizer,
        ". a b c d a b c d . .",
        (10, "a b c d"),
        training=True,
    )
    positions = [
        (window.start_position, window.end_position) for window in windows
    ]
    answers = [
        window.tokens[start : end + 1]
        for window, (start, end) in zip(windows, positions, strict=True)
        if start
    ]
    assert positions[0] == (0, 0)
    assert answers == [[*"abcd"]]


def test_char_offsets_are_of_accents_and_unknown_words_too(tmp_path, tokenizer):
    (example,), (feature, *_) = create_windows(
        tmp_path,
        tokenizer,
        "a. B\u0301de\u0301! Ünd, c",
        use_char_offsets=True,
    )
    assert feature.tokens[3:9] == ["a", ".", "b", "##d", "##e", "[UNK]"]
    spans = feature.token_to_char_map
    texts = [example.context[slice(*spans[i])] for i in (8, 9)]
    assert texts == ["!", "Ünd"]


@pytest.mark.parametrize(
    ("training", "lengths"),
    [(False, PREDICTION_LENGTHS), (True, PREDICTION_LENGTHS | ANSWER_LENGTHS)],
)
def test_only_records_for_training_contain_the_answer(
    tmp_path, tokenizer, training, lengths
):
    _, (window,) = create_windows(
        tmp_path, tokenizer, "a b", (0, "a"), training=training
    )
    record = encode_squad_features(window)
    assert tf_examples.feature_lengths(record) == lengths
