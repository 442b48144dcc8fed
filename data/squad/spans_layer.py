"""Finds the spans that may be SQuAD's answers, as operations of a graph.

N = questions, W = windows, F = length of a window, S = spans, B = number of
starts, and also of ends, that `find_best` selects from each window.
"""

from typing import NamedTuple

import tensorflow as tf

from data.squad.alignment_layer import Spans
from data.squad.decoding import NO_ANSWER_SCORE_DIFF
from data.text.windows_layer import Windows


class BestLogits(NamedTuple):
    """The B highest start logits and the B highest end logits of W windows.

    Attributes:
        starts: int16 [W, B], positions in the window of the highest start
            logits, highest first.
        start_logits: float [W, B], start logits at `starts`.
        ends: int16 [W, B], positions in the window of the highest end logits,
            highest first.
        end_logits: float [W, B], end logits at `ends`.
        null_start_logits: float [W], start logits of [CLS].
        null_end_logits: float [W], end logits of [CLS].
    """

    starts: tf.Tensor
    start_logits: tf.Tensor
    ends: tf.Tensor
    end_logits: tf.Tensor
    null_start_logits: tf.Tensor
    null_end_logits: tf.Tensor


def find_spans(
    begin: tf.Tensor,
    end: tf.Tensor,
    windows: Windows,
    first_places: tf.Tensor,
    best: BestLogits,
    max_answer_length: int,
) -> Spans:
    """Combines the best starts and ends of windows into possible answers.

    Args:
        begin: int32, index of the first window to read.
        end: int32, index after the last window to read.
        windows: all W windows.
        first_places: int64 [W], position in each window at which the passage
            begins.
        best: BestLogits of all windows.
        max_answer_length: maximum length of an answer in WordPieces.

    Returns:
        Spans, sorted by window, then from the highest to the lowest start
        logit, then from the highest to the lowest end logit.
    """
    best = BestLogits(*(values[begin:end] for values in best))
    part = windows.slice(begin, end)
    first_tokens, lengths = part.starts[:, None], part.lengths[:, None]
    shift = first_places[begin:end, None]
    starts = tf.cast(best.starts, tf.int64) - shift
    ends = tf.cast(best.ends, tf.int64) - shift
    is_start = (starts >= 0) & (starts < lengths)
    # If several windows contain a token, let answers start at it only in the
    # window with the most context around it.
    tokens = first_tokens + tf.where(is_start, starts, 0)
    numbers = tf.range(tf.cast(begin, tf.int64), tf.cast(end, tf.int64))
    is_start &= windows.most_context(tokens) == numbers[:, None]
    # For each pair of a start and an end in a window, count the WordPieces
    # after the start, up to the end.
    num_further = ends[:, None, :] - starts[:, :, None]
    index = tf.where(
        is_start[:, :, None]
        & (ends < lengths)[:, None, :]
        & (num_further >= 0)
        & (num_further < max_answer_length)
    )
    at_start, at_end = index[:, :2], index[:, ::2]
    return Spans(
        starts=tf.gather_nd(tokens, at_start),
        ends=tf.gather_nd(first_tokens + ends, at_end),
        start_logits=tf.cast(
            tf.gather_nd(best.start_logits, at_start), tf.float64
        ),
        end_logits=tf.cast(tf.gather_nd(best.end_logits, at_end), tf.float64),
    )


def find_nulls(
    rows: tf.Tensor, best: BestLogits, num_questions: tf.Tensor
) -> tuple[Spans, tf.Tensor]:
    """Returns the span of "no answer" for each question, and its score.

    This span contains only [CLS], in the window where [CLS] has the lowest
    score.

    Args:
        rows: int64 [W], index of each window's question.
        best: BestLogits of the W windows.
        num_questions: number of questions, N.

    Returns:
        (Spans [N], scores float64 [N]).
    """
    start_logits = tf.cast(best.null_start_logits, tf.float64)
    end_logits = tf.cast(best.null_end_logits, tf.float64)
    scores = start_logits + end_logits
    lowest = tf.math.unsorted_segment_min(scores, rows, num_questions)
    lowest = tf.minimum(lowest, NO_ANSWER_SCORE_DIFF)
    window = tf.math.unsorted_segment_min(
        tf.where(
            scores == tf.gather(lowest, rows),
            tf.range(tf.size(scores)),
            tf.int32.max,
        ),
        rows,
        num_questions,
    )
    # For a question without windows, select the 0 that the code below appends
    # to the logits.
    window = tf.minimum(window, tf.size(scores))
    nothing = tf.fill([num_questions], tf.constant(-1, tf.int64))
    nulls = Spans(
        nothing,
        nothing,
        *(
            tf.gather(tf.concat([logits, [0.0]], 0), window)
            for logits in (start_logits, end_logits)
        ),
    )
    return nulls, lowest


def order_by_score(spans: Spans) -> tf.Tensor:
    """Returns the indices that sort spans by score, best first, int32 [S].

    Spans with equal scores keep their order.
    """
    return tf.argsort(spans.scores, direction="DESCENDING", stable=True)
