"""The records of windows. The golden tests compare their values."""

import pytest

from data.io import tf_examples
from data.squad.squad_features import encode_squad_features
from tests.support.squad.squad_passages import create_windows

PREDICTION_LENGTHS = {
    "unique_ids": 1,
    "input_ids": 12,
    "input_mask": 12,
    "segment_ids": 12,
}
ANSWER_LENGTHS = {"start_positions": 1, "end_positions": 1, "is_impossible": 1}


@pytest.mark.parametrize(
    "training, lengths",
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
