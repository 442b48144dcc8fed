"""Encodes pairs of similar texts, and compares the vectors of these texts."""

from collections.abc import Iterator, Sequence

import numpy as np

from data.arrays import FloatArray
from data.classification.classification_examples import (
    InputExample,
    Label,
    regression_value_of,
)
from data.classification.classification_features import (
    ClassificationFeatures,
    create_joined_features,
)
from data.classification.label_codec import LabelCodec
from data.text.tokenization import FullTokenizer
from model_folders import kinds

# Number of pairs that `recall_1` compares with all others in one product.
_PAIRS_AT_ONCE = 1024


def create_pair_features(
    examples: Sequence[InputExample],
    max_seq_length: int,
    tokenizer: FullTokenizer,
    max_score: float = 1.0,
) -> Iterator[ClassificationFeatures]:
    """Converts the two texts of each pair to separate inputs for the network.

    Yields:
        ClassificationFeatures: input_ids, input_mask and segment_ids contain
        the two texts one after another, as lists of int, [2 * max_seq_length].
        label_id is (label of the pair) / `max_score`, or None if the label is
        None.
    """

    def inputs_of(
        pair: InputExample,
    ) -> tuple[list[InputExample], float | None]:
        texts = [
            InputExample(pair.guid, pair.text_a),
            InputExample(pair.guid, pair.text_b or ""),
        ]
        if pair.label is None:
            return texts, None
        return texts, regression_value_of(pair.label) / max_score

    groups = map(inputs_of, examples)
    return create_joined_features(groups, max_seq_length, tokenizer)


class CosineCodec(LabelCodec):
    """Turns the vectors of pairs into the cosine of each pair."""

    def __init__(self) -> None:
        super().__init__(kinds.REGRESSION, None)

    def compute_values(self, outputs: FloatArray) -> FloatArray:
        """Computes the cosine of each pair, float [pairs, 1].

        `outputs` are unit vectors, float [pairs, 2, width].
        """
        return _cosines(outputs)

    def decode_labels(self, outputs: FloatArray) -> list[Label]:
        """Computes the cosine of each pair, as `compute_values` does."""
        values: list[Label] = _cosines(outputs)[:, 0].tolist()
        return values


def recall_1(vectors: FloatArray, partners: Sequence[str | None]) -> float:
    """Computes recall@1: how often a text is nearest to its own partner.

    A pair is a hit if its first text is nearer to its second text than to the
    second text of every other pair. If all vectors are equal, the result is 0.

    Examples:
        The first text of each pair is near to the second text of the pair, or
        to the second text of the other pair:

        >>> up, right = [0.0, 1.0], [1.0, 0.0]
        >>> recall_1(np.array([[up, up], [right, right]]), ["a", "b"])
        1.0
        >>> recall_1(np.array([[up, right], [right, up]]), ["a", "b"])
        0.0

    Args:
        vectors: unit vectors of the two texts of each pair, float
            [pairs, 2, width].
        partners: second text of each pair. Pairs whose second texts are equal
            are not compared with each other.

    Returns:
        a fraction from 0 to 1.
    """
    _, partner_indices = np.unique(np.array(partners, str), return_inverse=True)
    own = _cosines(vectors)
    num_hits = 0
    for start in range(0, len(vectors), _PAIRS_AT_ONCE):
        block = slice(start, start + _PAIRS_AT_ONCE)
        similarities = vectors[block, 0] @ vectors[:, 1].T
        similarities[partner_indices[block, None] == partner_indices] = -np.inf
        # Require a margin, because equal cosines may differ by rounding errors.
        num_hits += (own[block, 0] > similarities.max(-1) + 1e-6).sum()
    return float(num_hits / len(vectors))


def _cosines(vectors: FloatArray) -> FloatArray:
    """Computes the cosine of the two unit vectors of each pair.

    `vectors` are float [pairs, 2, width]. The result is float [pairs, 1].
    """
    products = vectors[:, 0] * vectors[:, 1]
    sums: FloatArray = np.sum(products, axis=-1, keepdims=True)
    return sums
