"""Finds the spans of tokens that may answer a question, by their logits.

Each window contributes its n best first tokens and n best last tokens. Two of
them are a span if the first token precedes the last one, and if the span is
short enough. Google's names for the two are "start" and "end", as in
`start_logits` and `end_position`.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from data.arrays import FloatArray
from data.squad.passage_windows import SquadFeatures
from data.squad.squad_options import DecodingOptions

# Score of no answer minus score of the best answer, for a question whose only
# candidate is "no answer".
NULL_ODDS_WITHOUT_ANSWER = 1000000.0


class RawResult(NamedTuple):
    """The network's outputs for a window of T positions.

    Attributes:
        unique_id: `unique_id` of the window's SquadFeatures.
        start_logits: float [T], whether an answer starts at a position.
        end_logits: float [T], whether an answer ends at a position.
    """

    unique_id: int
    start_logits: FloatArray
    end_logits: FloatArray


class TokenSpan(NamedTuple):
    """The tokens of a window that may be the answer.

    Attributes:
        feature: the window, None for "no answer" of a question without windows.
        first: index in the window of the first token.
        last: index of the last token. Both are 0, the index of [CLS], for no
            answer.
        start_logit: logit of the first token.
        end_logit: logit of the last token.
    """

    feature: SquadFeatures | None
    first: int
    last: int
    start_logit: float
    end_logit: float

    @property
    def score(self) -> float:
        """The sum of the two logits."""
        return self.start_logit + self.end_logit


class QuestionSpans(NamedTuple):
    """The spans that may answer a question.

    Attributes:
        spans: the possible answers.
        null: span of "no answer", which contains only [CLS], in the window
            where [CLS] has the lowest score.
        null_score: score of no answer. Without windows,
            NULL_ODDS_WITHOUT_ANSWER.
    """

    spans: list[TokenSpan]
    null: TokenSpan
    null_score: float


def list_spans(
    features: list[SquadFeatures],
    result_of_id: Mapping[int, RawResult],
    options: DecodingOptions,
) -> QuestionSpans:
    """Returns the possible answers to a question, and "no answer".

    Args:
        features: windows of the question.
        result_of_id: {`unique_id` of a window: its logits}.
        options: options for choosing answers from the logits.
    """
    spans: list[TokenSpan] = []
    null = TokenSpan(None, 0, 0, 0.0, 0.0)
    null_score = NULL_ODDS_WITHOUT_ANSWER
    for feature in features:
        result = result_of_id[feature.unique_id]
        length = len(feature.tokens) if options.trim_padding else None
        start_logits = np.asarray(result.start_logits[:length], np.float64)
        end_logits = np.asarray(result.end_logits[:length], np.float64)
        spans += _create_spans(
            feature,
            _select_highest(start_logits, options.n_best_size),
            _select_highest(end_logits, options.n_best_size),
            options.max_answer_length,
        )
        cls = TokenSpan(
            feature, 0, 0, float(start_logits[0]), float(end_logits[0])
        )
        if cls.score < null_score:
            null = cls
            null_score = cls.score
    return QuestionSpans(spans, null, null_score)


def _select_highest(logits: FloatArray, num_best: int) -> dict[int, float]:
    """Returns {position: logit} of the highest logits, best first.

    Of two equal logits, the earlier one comes first.
    """
    positions = np.argsort(-logits, kind="stable")[:num_best]
    return dict(
        zip(positions.tolist(), logits[positions].tolist(), strict=True)
    )


def _create_spans(
    feature: SquadFeatures,
    start_logit_of_token: Mapping[int, float],
    end_logit_of_token: Mapping[int, float],
    max_answer_length: int,
) -> Iterator[TokenSpan]:
    """Yields the spans of the passage in a window, with their logits.

    Takes {position: logit} of the first and of the last tokens. For example, if
    an answer has at most 3 tokens, the first tokens 4 and 1 and the last tokens
    5 and 3 form the spans from 4 to 5 and from 1 to 3.
    """
    for first, start_logit in start_logit_of_token.items():
        # If several windows contain a token, let answers start at it only in
        # the window with the most context around it.
        if not feature.token_is_max_context.get(first, False):
            continue
        for last, end_logit in end_logit_of_token.items():
            is_short = first <= last < first + max_answer_length
            if is_short and last in feature.token_to_orig_map:
                yield TokenSpan(feature, first, last, start_logit, end_logit)
