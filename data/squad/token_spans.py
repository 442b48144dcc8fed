"""Finds the spans of tokens that may answer a question, by their logits.

Each window contributes its n best starts and n best ends. A start and an end
are a span if the start precedes the end, and if the span is short enough.
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
    """The network's outputs for a window of F positions.

    Attributes:
        unique_id: `unique_id` of the window's SquadFeatures.
        start_logits: float [F], whether an answer starts at a position.
        end_logits: float [F], whether an answer ends at a position.
    """

    unique_id: int
    start_logits: FloatArray
    end_logits: FloatArray


class TokenSpan(NamedTuple):
    """The tokens of a window that may be the answer.

    Attributes:
        feature: the window, None for "no answer" of a question without windows.
        start_index: index in the window of the first token.
        end_index: index of the last token. Both are 0, the index of
            [CLS], for no answer.
        start_logit: logit of the first token.
        end_logit: logit of the last token.
    """

    feature: SquadFeatures | None
    start_index: int
    end_index: int
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
    result_of: Mapping[int, RawResult],
    options: DecodingOptions,
) -> QuestionSpans:
    """Returns the possible answers to a question, and "no answer".

    Args:
        features: windows of the question.
        result_of: {`unique_id` of a window: its logits}.
        options: options for choosing answers from the logits.
    """
    spans: list[TokenSpan] = []
    null = TokenSpan(None, 0, 0, 0.0, 0.0)
    null_score = NULL_ODDS_WITHOUT_ANSWER
    for feature in features:
        result = result_of[feature.unique_id]
        length = len(feature.tokens) if options.trim_padding else None
        start_logits = np.asarray(result.start_logits[:length], np.float64)
        end_logits = np.asarray(result.end_logits[:length], np.float64)
        starts = _select_highest(start_logits, options.n_best_size)
        ends = _select_highest(end_logits, options.n_best_size)
        spans += _create_spans(feature, starts, ends, options.max_answer_length)
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
    starts: Mapping[int, float],
    ends: Mapping[int, float],
    max_answer_length: int,
) -> Iterator[TokenSpan]:
    """Yields the spans of the passage in a window, from a start to an end.

    `starts` and `ends` are {position: logit}. For example, if an answer has at
    most 3 tokens, the starts 4 and 1 and the ends 5 and 3 form the spans from 4
    to 5 and from 1 to 3.
    """
    for start, start_logit in starts.items():
        # If several windows contain a token, let answers start at it only in
        # the window with the most context around it.
        if not feature.token_is_max_context.get(start, False):
            continue
        for end, end_logit in ends.items():
            is_short = start <= end < start + max_answer_length
            if is_short and end in feature.token_to_orig_map:
                yield TokenSpan(feature, start, end, start_logit, end_logit)
