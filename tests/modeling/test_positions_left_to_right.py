"""Left-to-right models, and the LSTM on top of them (paper 5.1).

modeling/positions.py creates their attention masks.
"""

import numpy as np
import pytest

from modeling import BertClassifier, BertModel, named_variables
from tests.support.kinds import (
    BATCH_SIZE,
    CONFIG,
    LENGTH,
    MODELS,
    NUM_LABELS,
    assert_close,
    create_features,
    flat,
)
from tests.support.models import built


@pytest.mark.parametrize("masks_each", [False, True])
def test_no_position_sees_a_later_one(masks_each):
    """A mask for each position says the same as left_to_right."""
    ids = create_features()["input_ids"]
    mask = np.tile(
        np.tril(np.ones((LENGTH, LENGTH), "int32")), (BATCH_SIZE, 1, 1)
    )
    model = BertModel(CONFIG, left_to_right=not masks_each)
    changed = np.where(np.arange(LENGTH) < LENGTH // 2, ids, 1)
    one, other = (
        model(input_ids, mask if masks_each else None)["sequence_output"]
        for input_ids in (ids, changed)
    )
    half = LENGTH // 2
    assert_close(one[:, :half], other[:, :half], 1e-6)
    assert np.abs(one[:, half:] - other[:, half:]).max() > 0.01


@pytest.mark.parametrize("unpad", [False, True])
def test_the_last_wordpiece_is_pooled(unpad):
    features = create_features()
    ids, mask = features["input_ids"], features["input_mask"]
    model = BertModel(CONFIG, left_to_right=True, unpad=unpad)
    outputs = model(ids, mask)
    last = np.asarray(outputs["sequence_output"])[
        np.arange(BATCH_SIZE), mask.sum(-1) - 1
    ]
    assert_close(outputs["pooled_output"], model.pooler(last), 1e-6)
    # A mask with from positions, which says the same.
    square = np.repeat(mask[:, None], LENGTH, 1)
    assert_close(
        model(ids, square)["pooled_output"], outputs["pooled_output"], 1e-5
    )


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
