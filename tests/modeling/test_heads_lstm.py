"""The LSTM between the encoder and a head (paper 5.1).

modeling/heads.py contains it, and modeling/base_task_model.py calls it.
"""

import numpy as np
import pytest

from modeling import BertClassifier, named_variables
from tests.support.kinds import (
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


@pytest.mark.parametrize(
    "kind, unpad",
    [
        ("choices", False),
        ("tokens", True),
        pytest.param("spans", True, marks=pytest.mark.slow),
    ],
)
def test_every_task_takes_an_lstm(kind, unpad):
    features = create_features(kind)
    options = {"bilstm": True, "left_to_right": True, "unpad": unpad, "seed": 3}
    model = built(MODELS[kind](**options))
    names = named_variables(model)
    assert len([name for name in names if name.startswith("bilstm/")]) == 6
    outputs = model(features)
    # The same on rows cut to their length: padding takes no part.
    longest = int(features["input_mask"].sum(-1).max())
    short = {
        name: features[name][..., :longest]
        for name in ("input_ids", "input_mask", "segment_ids")
    }
    cut = model(short)
    if kind in ("tokens", "spans"):
        mask = short["input_mask"].astype(bool)
        outputs = [
            np.asarray(output)[:, :longest][mask] for output in flat(outputs)
        ]
        cut = [np.asarray(output)[mask] for output in flat(cut)]
    assert_close(outputs, cut, 1e-5)
