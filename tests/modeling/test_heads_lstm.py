"""The LSTM between the encoder and a head (paper 5.1)."""

import numpy as np
import pytest

from modeling import BertClassifier, named_variables
from tests.support.model_cases import (
    CONFIG,
    MODELS,
    NUM_LABELS,
    assert_close,
    create_features,
    flat,
)
from tests.support.models import built


def test_the_lstm_reads_each_row_without_its_padding():
    model = BertClassifier(CONFIG, NUM_LABELS, bilstm=True, dtype="float64")
    features = create_features()
    encoded, _ = model.encode(features, training=False, seed=None)
    for row, length in enumerate(features["input_mask"].sum(-1)):
        alone = {
            name: features[name][row : row + 1, :length]
            for name in ("input_ids", "segment_ids")
        }
        expected, _ = model.encode(alone, training=False, seed=None)
        states = expected["sequence_output"]
        encoded_states = encoded["sequence_output"][row : row + 1, :length]
        assert_close(encoded_states, states, 1e-12)
        # Where each direction ends.
        half = states.shape[-1] // 2
        ends = np.append(states[0, -1, :half], states[0, 0, half:])
        for pooled in (
            encoded["pooled_output"][row],
            expected["pooled_output"],
        ):
            assert_close(np.ravel(pooled), ends, 1e-12)


def create_with_lstm(kind, **options):
    """Returns a built model with an LSTM."""
    options |= {"bilstm": True, "left_to_right": True, "seed": 3}
    return built(MODELS[kind](**options))


def without_padding(features):
    """Returns the inputs of a batch, cut to the length of the longest row."""
    longest = int(features["input_mask"].sum(-1).max())
    return {
        name: features[name][..., :longest]
        for name in ("input_ids", "input_mask", "segment_ids")
    }


@pytest.mark.parametrize("kind", ["choices", "tokens", "spans"])
def test_every_task_takes_an_lstm(kind):
    """It has two kernels and a bias for each direction."""
    names = named_variables(create_with_lstm(kind))
    assert len([name for name in names if name.startswith("bilstm/")]) == 6


def test_padding_takes_no_part_in_the_scores_of_a_text():
    features = create_features("choices")
    model = create_with_lstm("choices", trim_padding=False)
    assert_close(model(features), model(without_padding(features)), 1e-5)


@pytest.mark.parametrize(
    "kind", ["tokens", pytest.param("spans", marks=pytest.mark.slow)]
)
def test_padding_takes_no_part_in_the_scores_of_words(kind):
    features = create_features(kind)
    model = create_with_lstm(kind, trim_padding=True)
    short = without_padding(features)
    is_word = short["input_mask"].astype(bool)
    length = is_word.shape[-1]
    for padded, cut in zip(
        flat(model(features)), flat(model(short)), strict=True
    ):
        assert_close(padded[:, :length][is_word], cut[is_word], 1e-5)
