"""Vectors from SavedModels, against the Python that the scripts run."""

from typing import NamedTuple

import numpy as np
import pytest

from tests.support.tokenizers.packed_texts import pack


class Embedded(NamedTuple):
    """What `embed` returned, and what it should return.

    Attributes:
        outputs: {name: array} of the outputs.
        expected: {name: array} that the model itself computes.
        mask: 1 for each token that is not padding, [N, T].
    """

    outputs: dict
    expected: dict
    mask: np.ndarray


@pytest.fixture
def embedded(exports):
    """The `Embedded` of an export, up to the end of the longest text."""
    served = exports["features"]
    (outputs,) = served.outputs
    features = pack(served, served.requests[0][1]["text"])
    computed = served.model(features)
    lengths = features["input_mask"].numpy().sum(1)
    ids, mask = (
        features[name].numpy()[:, : lengths.max()]
        for name in ("input_ids", "input_mask")
    )
    sequence = computed["sequence_output"].numpy()[:, : lengths.max()]
    sequence = sequence * mask[:, :, None]
    mean = sequence.sum(1) / lengths[:, None]
    expected = {
        "tokens": np.where(mask, np.array(served.tokenizer.tokens)[ids], ""),
        "lengths": lengths,
        "pooled_output": computed["pooled_output"],
        "sequence_output": sequence,
        "mean_output": mean,
        "mean_normalized": mean / np.linalg.norm(mean, axis=1)[:, None],
    }
    return Embedded(outputs, expected, mask)


@pytest.mark.parametrize("name", ["tokens", "lengths"])
def test_the_tokens_are_those_that_the_model_reads(name, embedded):
    expected = embedded.expected[name].tolist()
    assert embedded.outputs[name].tolist() == expected


@pytest.mark.parametrize(
    "name",
    ["pooled_output", "sequence_output", "mean_output", "mean_normalized"],
)
def test_the_vectors_are_those_of_the_model(name, embedded):
    np.testing.assert_allclose(
        embedded.outputs[name], embedded.expected[name], atol=1e-5
    )


def test_the_vectors_of_padding_are_zero(embedded):
    assert not embedded.outputs["sequence_output"][embedded.mask == 0].any()
