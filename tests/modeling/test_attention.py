import numpy as np
import pytest

from modeling.attention import AttentionLayer

# batch, from length, to length, heads, size per head; other widths each
B, F, T, N, H, FROM_WIDTH, TO_WIDTH = 2, 5, 7, 3, 4, 6, 9


@pytest.fixture
def inputs():
    rng = np.random.default_rng(0)
    return (
        rng.normal(size=(B, F, FROM_WIDTH)),
        rng.normal(size=(B, T, TO_WIDTH)),
        rng.integers(0, 2, size=(B, F, T)).astype("int32"),
    )


def create():
    layer = AttentionLayer(N, H, 0.0, "zeros", dtype="float64")
    layer.build((B, F, FROM_WIDTH), (B, T, TO_WIDTH))
    rng = np.random.default_rng(1)
    for weight in layer.weights:
        weight.assign(rng.normal(size=weight.shape))
    return layer


def attend(layer, from_tensor, to_tensor, mask):
    """Attention one head and one position at a time; and its weights."""
    query, key, value = (
        tensor @ np.asarray(dense.kernel) + np.asarray(dense.bias)
        for tensor, dense in (
            (from_tensor, layer.query),
            (to_tensor, layer.key),
            (to_tensor, layer.value),
        )
    )
    context = np.zeros((B, F, N * H))
    for b, f, n in np.ndindex(B, F, N):
        head = slice(n * H, (n + 1) * H)
        scores = key[b, :, head] @ query[b, f, head] / np.sqrt(H)
        scores = scores - 10000.0 * (1 - mask[b, f])
        probs = np.exp(scores - scores.max())
        context[b, f, head] = probs / probs.sum() @ value[b, :, head]
    return context


def test_equals_a_reference_in_loops(inputs):
    from_tensor, to_tensor, mask = inputs
    mask[0, 0] = 0  # A row that sees nothing stays finite.
    layer = create()
    expected = attend(layer, from_tensor, to_tensor, mask)
    actual = layer(from_tensor, to_tensor, mask)
    np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-12)
    # Without a mask, each position sees all others.
    expected = attend(layer, from_tensor, to_tensor, np.ones((B, F, T)))
    np.testing.assert_allclose(layer(from_tensor, to_tensor), expected)
