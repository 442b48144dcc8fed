"""Tables of pairs: passages to rank for a query, and texts that are close."""

import dataclasses
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np
from absl import logging

from data.classification.examples import InputExample
from data.classification.features import (
    ClassificationFeatures,
    convert_single_example,
    count_cut,
    encode_classification_features,
)
from data.classification.table_task import TableOptions, TableProcessor
from data.text.tokenization import FullTokenizer
from files import flags
from files.paths import StrPath

# Ranks that count.
_DEPTH = 10
# STS-B's largest score.
_LARGEST_SCORE = 5.0


@dataclasses.dataclass(frozen=True, kw_only=True)
class PairOptions:
    """Options of training the vectors of texts."""

    contrastive_temperature: float = flags.training(
        0.05,
        "embedding, without scores: divides the cosines of a batch's pairs "
        "before the softmax.",
        at_least=1e-3,
    )


def check(options: Any) -> None:
    """Refuses flags of a classifier, which vectors do not use.

    Args:
        options: the flags of run_classifier.py.

    Raises:
        ValueError: such a flag is set.
    """
    unused = "report class_weights doc_stride tune_thresholds calibrate bilstm"
    for name in unused.split():
        if getattr(options, name):
            raise ValueError(
                f"--{name} is not used by --task_name=embedding, which has "
                "neither labels, windows nor a head; leave it out"
            )


def _with_columns(options: TableOptions, *names: str) -> TableOptions:
    """Returns options whose columns have these names where none were given."""
    default, fields = TableOptions(), ("text_column", "text_b_column")
    changes: dict[str, Any] = {
        field: name
        for field, name in zip((*fields, "label_column"), names, strict=True)
        if getattr(options, field) == getattr(default, field)
    }
    return dataclasses.replace(options, output_mode="regression", **changes)


class RankingProcessor(TableProcessor):
    """Reads rows of a query, a passage and its relevance, 0 for none."""

    def __init__(self, data_dir: StrPath, options: TableOptions) -> None:
        columns = "query", "passage", "relevance"
        super().__init__(data_dir, _with_columns(options, *columns))
        self.metrics = ("ndcg_10", "mrr_10")

    def score(
        self,
        examples: Sequence[InputExample],
        names: Collection[str],
        labels: np.ndarray,
        predictions: np.ndarray,
        label_names: Sequence[str] | None = None,
    ) -> dict[str, float]:
        """Returns the mean of MRR@10 and of nDCG@10 over the queries.

        Queries without a relevant passage do not count. Of passages with one
        score, the least relevant comes first. A gain is the relevance itself,
        as in trec_eval.
        """
        groups: dict[str, list[int]] = {}
        known = (each for each in examples if each.label is not None)
        for row, example in enumerate(known):
            groups.setdefault(example.text_a, []).append(row)
        scores = []
        for rows in groups.values():
            gains = np.maximum(labels[rows], 0)
            if not gains.any():
                continue
            order = np.lexsort((gains, -predictions[rows]))[:_DEPTH]
            found = np.flatnonzero(gains[order])
            best = np.sort(gains)[::-1][:_DEPTH]
            discounts = 1 / np.log2(np.arange(len(best)) + 2)
            scores.append(
                [
                    gains[order] @ discounts / (best @ discounts),
                    1 / (found[0] + 1) if len(found) else 0,
                ]
            )
        if len(scores) < len(groups):
            logging.warning(
                "%d of %d queries have no relevant passage and do not count",
                len(groups) - len(scores),
                len(groups),
            )
        means = np.mean(scores, axis=0) if scores else np.full(2, np.nan)
        found_scores = dict(zip(self.metrics, means.tolist(), strict=True))
        return {name: found_scores[name] for name in names}


class PairProcessor(TableProcessor):
    """Reads rows of two texts, and their score if the table has the column.

    Without scores, each row's texts are close to each other.
    """

    may_lack_labels = True

    def __init__(self, data_dir: StrPath, options: TableOptions) -> None:
        columns = "text", "text_b", "score"
        super().__init__(data_dir, _with_columns(options, *columns))

    def has_scores(self, split: str) -> bool:
        """Returns whether the examples of a split have scores."""
        first, *_ = self.read_split(self._data_dir, split)
        return first.label is not None

    def read_set(self, data_dir: StrPath, name: str) -> list[InputExample]:
        """See SetReader; all examples have a score, or none."""
        examples = super().read_set(data_dir, name)
        missing = [each for each in examples if each.label is None]
        if missing and len(missing) < len(examples) and name != "test":
            raise ValueError(
                f"{data_dir}: example {missing[0].guid} has no score, and "
                "others have one; complete the column, or leave it out"
            )
        return examples


def create_pair_features(
    examples: Sequence[InputExample],
    max_seq_length: int,
    tokenizer: FullTokenizer,
) -> Iterator[ClassificationFeatures]:
    """Yields the features of each pair, its texts one after the other.

    A score above 1 is one of STS-B's, from 0 to 5, and divided by 5.

    Yields:
        ClassificationFeatures whose input_ids, input_mask and segment_ids are
        lists of int, [2 * max_seq_length], and label_id the score, at most 1.

    Raises:
        ValueError: a score is out of range.
    """
    labels: list[Any] = [example.label for example in examples]
    scores = [float(label) for label in labels if label is not None]
    largest = max(map(abs, scores), default=0.0)
    if largest > _LARGEST_SCORE or min(scores, default=0.0) < -1:
        raise ValueError(
            "the scores must be from 0 to 5, or from -1 to 1. Received: "
            f"{min(scores):g} to {max(scores):g}"
        )
    unit = _LARGEST_SCORE if largest > 1 else 1.0
    for index, (example, score) in enumerate(
        zip(examples, labels, strict=True)
    ):
        first, second = (
            convert_single_example(
                2 * index + place,
                InputExample(example.guid, text or "", label="0"),
                ["0"],
                max_seq_length,
                tokenizer,
            )
            for place, text in enumerate((example.text_a, example.text_b))
        )
        yield ClassificationFeatures(
            first.input_ids + second.input_ids,
            first.input_mask + second.input_mask,
            first.segment_ids + second.segment_ids,
            None if score is None else float(score) / unit,
            first.is_cut or second.is_cut,
        )


def encode_pairs(
    examples: Sequence[InputExample],
    max_seq_length: int,
    tokenizer: FullTokenizer,
) -> Iterator[bytes]:
    """Yields the serialized `create_pair_features`; logs how many are cut."""
    encoded = create_pair_features(examples, max_seq_length, tokenizer)
    return map(
        encode_classification_features, count_cut(encoded, max_seq_length)
    )


def cosines(vectors: np.ndarray) -> np.ndarray:
    """Returns float32 [N, 1] of pairs of vectors [N, 2, W], of length 1."""
    return np.sum(vectors[:, 0] * vectors[:, 1], axis=-1, keepdims=True)


def recall_1(vectors: np.ndarray, partners: Sequence[str | None]) -> float:
    """Returns how often a first text's partner is its nearest second text.

    It must be nearer than every other text, so that vectors that are all alike
    find nothing.

    Args:
        vectors: float [N, 2, W], of length 1.
        partners: the second texts, of which some may be equal.
    """
    _, numbers = np.unique(np.array(partners, str), return_inverse=True)
    own, hits = cosines(vectors), 0
    for begin in range(0, len(vectors), 1024):
        rows = slice(begin, begin + 1024)
        found = vectors[rows, 0] @ vectors[:, 1].T
        found[numbers[rows, None] == numbers] = -np.inf
        # Equal vectors differ by rounding.
        hits += (own[rows, 0] > found.max(-1) + 1e-6).sum()
    return float(hits / len(vectors))
