"""Compares the texts of similar pairs: their scores, inputs and cosines.

A row of a user's table is such a pair if --task_name is embedding: two texts
and, optionally, their similarity. The similarity is a score in the column
"score", or in the column that --label_column names. If the table contains only
the two texts, or the flag is empty, the two texts of each row count as similar.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence

import numpy as np

from data.arrays import FloatArray
from data.classification.classification_examples import (
    InputExample,
    Label,
    convert_regression_label,
)
from data.classification.classification_features import (
    ClassificationFeatures,
    create_joined_features,
)
from data.classification.label_codec import LabelCodec
from data.text.tokenization import FullTokenizer
from files.paths import StrPath
from model_folders.output_modes import REGRESSION

# The largest score of STS-B's scale from 0 to 5.
_MAX_SCORE = 5.0


def check_score_column(
    source: StrPath | None,
    label_column: str,
    other_columns: Collection[str],
    pairs: Iterable[InputExample],
) -> None:
    """Checks that no column can contain scores if the pairs have none.

    Args:
        source: folder or table of the pairs, for the message.
        label_column: value of --label_column.
        other_columns: the table's columns but those of the two texts.
        pairs: the pairs of the table.

    Raises:
        ValueError: the table lacks the column "score", but other columns may
            contain scores.
    """
    if any(pair.label is not None for pair in pairs):
        return
    if label_column and other_columns:
        raise ValueError(
            f"{source}: set --label_column to the column of the scores, or to "
            "nothing if the two texts of each row are similar. The other "
            f"columns are {sorted(other_columns)}"
        )


def are_scored(pairs: Sequence[InputExample]) -> bool:
    """Returns whether the pairs of a train set or a dev set have scores.

    All of them have scores, or none, as `ParsedRows.without_unscored` returns
    them.
    """
    return pairs[0].label is not None


def guess_max_score(examples: Iterable[InputExample]) -> float:
    """Returns the largest score of the scale that the labels use, 5 or 1.

    If any score is above 1, the scale ends at 5, as in STS-B.
    """
    return _MAX_SCORE if max(_gold_scores(examples), default=0) > 1 else 1.0


def check_scale(
    set_name: str, examples: Iterable[InputExample], max_score: float
) -> None:
    """Checks that the labels of a set are on a scale.

    `max_score` is the largest score of the scale, and `set_name` is for the
    error.

    Raises:
        ValueError: a score is not on the scale.
    """
    scores = _gold_scores(examples)
    least, largest = min(scores, default=0.0), max(scores, default=0.0)
    if least < -1 or largest > max_score:
        raise ValueError(
            f"the scores of the {set_name} set are from {least:g} to "
            f"{largest:g}. All sets must use the same scale, either from "
            "0 to 5 or from -1 to 1"
        )


def _gold_scores(examples: Iterable[InputExample]) -> list[float]:
    labels = [example.label for example in examples]
    return [
        convert_regression_label(label) for label in labels if label is not None
    ]


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

    def split_pair(
        pair: InputExample,
    ) -> tuple[list[InputExample], float | None]:
        texts = [
            InputExample(pair.guid, pair.text_a),
            InputExample(pair.guid, pair.text_b or ""),
        ]
        if pair.label is None:
            return texts, None
        return texts, convert_regression_label(pair.label) / max_score

    groups = map(split_pair, examples)
    return create_joined_features(groups, max_seq_length, tokenizer)


class CosineCodec(LabelCodec):
    """Turns the vectors of pairs into the cosine of each pair."""

    def __init__(self) -> None:
        super().__init__(REGRESSION, None)

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
