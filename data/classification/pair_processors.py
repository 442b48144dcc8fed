"""Reads tables of pairs of texts, for the tasks "ranking" and "embedding".

A pair is a query and a passage to rank, or two texts that may be similar.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence

import numpy as np
from absl import logging

from data.arrays import FloatArray, LabelArray
from data.classification.classification_examples import (
    ClassificationFeatures,
    InputExample,
    Label,
    create_joined_features,
    regression_value_of,
)
from data.classification.label_decoding import LabelDecoder
from data.classification.table_processor import TableProcessor
from data.classification.table_rows import PlacedRow, RowCounts
from data.processors.set_names import SetName
from data.text.tokenization import FullTokenizer
from files.paths import StrPath

# MRR@10 and nDCG@10 consider only the 10 best-ranked passages of a query.
_RANKING_DEPTH = 10
# The largest score of STS-B's scale from 0 to 5.
_MAX_SCORE = 5.0
# Number of pairs that `recall_1` compares with all others in one product.
_ROWS_AT_ONCE = 1024
# The usual columns of the two texts, and of the number.
RANKING_COLUMNS = ("query", "passage", "relevance")
PAIR_COLUMNS = ("text", "text_b", "score")


class RankingProcessor(TableProcessor):
    """Reads tables whose rows are a query, a passage and its relevance.

    A relevance of 0 means that the passage does not answer the query.
    """

    own_metrics = ("mrr_10", "ndcg_10")

    @property
    def key_names(self) -> list[str]:
        """The column of the queries, which alone decide about the dev set."""
        return [self.text_columns[0]]

    def key_texts(self, example: InputExample) -> Sequence[str]:
        """Returns the query, so that each query is in one set."""
        return [example.text_a]

    def score(
        self,
        examples: Sequence[InputExample],
        labels: LabelArray,
        predictions: LabelArray,
    ) -> dict[str, float]:
        """Computes MRR@10 and nDCG@10, each as the mean over the queries.

        Queries without a relevant passage are skipped. Passages with equal
        predictions are ranked by ascending relevance, so that ties do not
        improve the metrics. The gain of a passage is its relevance, or 0 if
        the relevance is negative, as in trec_eval. The metrics are NaN if no
        query has a relevant passage.
        """
        rows_of_query: dict[str, list[int]] = {}
        for row_index, example in enumerate(examples):
            rows_of_query.setdefault(example.text_a, []).append(row_index)
        scores = []
        for rows in rows_of_query.values():
            gains = np.maximum(labels[rows], 0)
            if gains.any():
                scores.append(_score_query(gains, predictions[rows]))
        if len(scores) < len(rows_of_query):
            logging.warning(
                "%d of %d queries have no relevant passage. They are skipped",
                len(rows_of_query) - len(scores),
                len(rows_of_query),
            )
        means = np.mean(scores, axis=0) if scores else np.full(2, np.nan)
        return dict(zip(self.metrics, means.tolist(), strict=True))


def _score_query(
    gains: LabelArray, predictions: LabelArray
) -> tuple[float, float]:
    """Returns RR@10 and nDCG@10 of the passages of a query.

    `gains` are at least 0, one of them above 0. Both arrays are [passages].
    """
    order = np.lexsort((gains, -predictions))[:_RANKING_DEPTH]
    relevant = np.flatnonzero(gains[order])
    ideal = np.sort(gains)[::-1][:_RANKING_DEPTH]
    discounts = 1 / np.log2(np.arange(len(ideal)) + 2)
    reciprocal_rank = 1 / (relevant[0] + 1) if len(relevant) else 0
    ndcg = gains[order] @ discounts / (ideal @ discounts)
    return float(reciprocal_rank), float(ndcg)


class PairProcessor(TableProcessor):
    """Reads tables whose rows are two texts and, optionally, their similarity.

    The similarity is a score in the column "score", or in the column that
    --label_column names. If the table contains only the two texts, or the flag
    is empty, the two texts of each row count as similar.
    """

    def has_scores(self, set_name: SetName) -> bool:
        """Returns whether a set contains similarity scores."""
        return self.read(set_name)[0].label is not None

    def _may_lack_labels(self, set_name: SetName) -> bool:
        is_usual_column = self._options.label_column == "score"
        return is_usual_column or super()._may_lack_labels(set_name)

    def _create_examples(
        self,
        rows: Iterable[PlacedRow],
        set_name: SetName,
        allowed_labels: Sequence[str] | None,
    ) -> tuple[list[InputExample], RowCounts]:
        """Returns the pairs, only those with a score if any has one.

        A test set keeps all pairs.
        """
        pairs, counts = super()._create_examples(rows, set_name, allowed_labels)
        scored = [pair for pair in pairs if pair.label is not None]
        if set_name == "test" or len(scored) in (0, len(pairs)):
            return pairs, counts
        counts.left_out["a label"] += len(pairs) - len(scored)
        return scored, counts

    def _check_set(
        self,
        path: StrPath,
        set_name: SetName,
        columns: Collection[str],
        examples: Sequence[InputExample],
    ) -> None:
        """Checks that no column can contain scores if the rows have none.

        Args:
            path: a table of pairs, for the message.
            set_name: the set that it contains.
            columns: names of the table's columns, with those of the texts.
            examples: the examples of the set. Rows without a score are left
                out if other rows have one, except in a test set.

        Raises:
            ValueError: the table lacks the column "score", but other columns
                may contain scores.
        """
        is_scored = any(example.label is not None for example in examples)
        if is_scored or set_name == "test":
            return
        other_columns = {*columns} - {*self.text_columns}
        if self._options.label_column and other_columns:
            raise ValueError(
                f"{self._source}: set --label_column to the column of the "
                "scores, or to nothing if the two texts of each row are "
                f"similar. The other columns are {sorted(other_columns)}"
            )


def find_max_score(examples: Iterable[InputExample]) -> float:
    """Returns the largest score of the scale that the labels use, 5 or 1.

    If any score is above 1, the scale ends at 5, as in STS-B.
    """
    return _MAX_SCORE if max(_gold_scores(examples), default=0) > 1 else 1.0


def check_scale(
    set_name: str, examples: Iterable[InputExample], max_score: float
) -> None:
    """Checks that the labels of a set are on a scale.

    Args:
        set_name: name of the set, for the error.
        examples: the pairs of the set.
        max_score: the largest score of the scale.

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
    return [regression_value_of(label) for label in labels if label is not None]


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


def cosines(vectors: FloatArray) -> FloatArray:
    """Computes the cosine of the two unit vectors of each pair.

    `vectors` are float [pairs, 2, width]. The result is float [pairs, 1].
    """
    products = vectors[:, 0] * vectors[:, 1]
    sums: FloatArray = np.sum(products, axis=-1, keepdims=True)
    return sums


class CosineDecoder(LabelDecoder):
    """Turns the vectors of pairs into the cosine of each pair."""

    def __init__(self) -> None:
        super().__init__("regression", None)

    def probabilities(self, outputs: FloatArray) -> FloatArray:
        """Computes the cosines of vectors, as in `cosines`."""
        return cosines(outputs)

    def decode_labels(self, outputs: FloatArray) -> list[Label]:
        """Computes the cosines of vectors, as in `cosines`."""
        values: list[Label] = cosines(outputs)[:, 0].tolist()
        return values


def recall_1(vectors: FloatArray, partners: Sequence[str | None]) -> float:
    """Computes recall@1: how often a text is nearest to its own partner.

    A pair is a hit if its first text is nearer to its second text than to the
    second text of every other pair. If all vectors are equal, the result is 0.

    Args:
        vectors: unit vectors of the two texts of each pair, float
            [pairs, 2, width].
        partners: second text of each pair. Pairs whose second texts are equal
            are not compared with each other.

    Returns:
        a fraction from 0 to 1.
    """
    _, partner_indices = np.unique(np.array(partners, str), return_inverse=True)
    own = cosines(vectors)
    num_hits = 0
    for start in range(0, len(vectors), _ROWS_AT_ONCE):
        rows = slice(start, start + _ROWS_AT_ONCE)
        similarities = vectors[rows, 0] @ vectors[:, 1].T
        similarities[partner_indices[rows, None] == partner_indices] = -np.inf
        # Require a margin, because equal cosines may differ by rounding errors.
        num_hits += (own[rows, 0] > similarities.max(-1) + 1e-6).sum()
    return float(num_hits / len(vectors))
