"""Vectors from SavedModels, against the Python that the scripts run."""

import numpy as np

from tests.support.tokenizers.packed_texts import pack


def test_embed_returns_the_vectors_of_the_model(exports):
    served = exports["features"]
    (outputs,) = served.outputs
    features = pack(served, served.requests[0][1]["text"])
    expected = served.model(features)
    lengths = features["input_mask"].numpy().sum(1)
    assert outputs["lengths"].tolist() == lengths.tolist()
    # All outputs end with the longest text.
    ids, mask = (
        features[name].numpy()[:, : lengths.max()]
        for name in ("input_ids", "input_mask")
    )
    tokens = np.where(mask, np.array(served.tokenizer.tokens)[ids], "")
    assert outputs["tokens"].tolist() == tokens.tolist()
    sequence = expected["sequence_output"][:, : lengths.max()].numpy()
    sequence = sequence * mask[:, :, None]
    mean = sequence.sum(1) / lengths[:, None]
    for name, values in (
        ("pooled_output", expected["pooled_output"]),
        ("sequence_output", sequence),
        ("mean_output", mean),
        ("mean_normalized", mean / np.linalg.norm(mean, axis=1)[:, None]),
    ):
        np.testing.assert_allclose(outputs[name], values, atol=1e-5)
    assert not outputs["sequence_output"][mask == 0].any()
