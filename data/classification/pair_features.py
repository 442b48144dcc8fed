"""Converts pairs of texts to two inputs, and their scores to one scale."""

from collections.abc import Iterable, Iterator, Sequence

from data.classification.classification_examples import InputExample
from data.classification.classification_features import (
    ClassificationFeatures,
    create_joined_features,
)
from data.classification.label_numbers import regression_value_of
from data.text.tokenization import FullTokenizer

# The largest score of STS-B's scale from 0 to 5.
_MAX_SCORE = 5.0


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
