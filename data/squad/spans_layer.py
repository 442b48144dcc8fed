"""Finds the spans that may be answers inside a graph, for SQuAD.

N = questions, W = windows, F = length of a window, S = spans, B = number of
best starts, and of best ends, of each window.
"""

from typing import NamedTuple

import tensorflow as tf

from data.squad.alignment_layer import Spans
from data.squad.decoding import NO_ANSWER_SCORE_DIFF
from data.text.windows_layer import Windows


class BestLogits(NamedTuple):
    """The best logits of windows. All other logits are discarded.

    Attributes:
        starts: int16 [W, B], positions in the window, best first.
        start_logits: float [W, B].
        ends: int16 [W, B], positions in the window, best first.
        end_logits: float [W, B].
        null_start_logits: float [W], start logits of [CLS].
        null_end_logits: float [W], end logits of [CLS].
    """

    starts: tf.Tensor
    start_logits: tf.Tensor
    ends: tf.Tensor
    end_logits: tf.Tensor
    null_start_logits: tf.Tensor
    null_end_logits: tf.Tensor


def find_best(
    start_logits: tf.Tensor, end_logits: tf.Tensor, n_best_size: int
) -> BestLogits:
    """Selects each window's best logits from all logits, float [W, F]."""
    start_logits = tf.convert_to_tensor(start_logits)
    end_logits = tf.convert_to_tensor(end_logits)
    num_best = tf.minimum(n_best_size, tf.shape(start_logits)[1])
    best: list[tf.Tensor] = []
    for logits in (start_logits, end_logits):
        # Use int16 to halve the memory, because there may be many windows.
        values, places = tf.math.top_k(logits, num_best, index_type=tf.int16)
        best += [places, values]
    best += [start_logits[:, 0], end_logits[:, 0]]
    return BestLogits(*best)


def find_spans(
    begin: tf.Tensor,
    end: tf.Tensor,
    windows: Windows,
    first_places: tf.Tensor,
    best: BestLogits,
    max_answer_length: int,
) -> Spans:
    """Finds the Spans of some windows, ordered by window, start and end.

    The function reads the windows with the indices `begin` to `end` - 1, int32.
    `first_places`, int64 [W], are the positions in the windows at which the
    passage begins. `max_answer_length` counts WordPieces.
    """
    best = BestLogits(*(values[begin:end] for values in best))
    part = windows.slice(begin, end)
    first_tokens, lengths = part.starts[:, None], part.lengths[:, None]
    shift = first_places[begin:end, None]
    starts = tf.cast(best.starts, tf.int64) - shift
    ends = tf.cast(best.ends, tf.int64) - shift
    is_start = (starts >= 0) & (starts < lengths)
    # If several windows contain a token, it starts answers in only one window.
    tokens = first_tokens + tf.where(is_start, starts, 0)
    numbers = tf.range(tf.cast(begin, tf.int64), tf.cast(end, tf.int64))
    is_start &= windows.most_context(tokens) == numbers[:, None]
    # Combine each start with each end.
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
    """Returns the Spans [N] of no answer, and their scores, float64 [N].

    The span of no answer contains only [CLS], in the window where the score of
    [CLS] is lowest.

    `rows`, int64 [W], is the index of each window's question. N is
    `num_questions`.
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
    # A question without windows has logits of 0.
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
    """Returns the order of spans by score, int32 [S]. Ties keep their order."""
    return tf.argsort(spans.scores, direction="DESCENDING", stable=True)


def sort(spans: Spans) -> Spans:
    """Sorts spans by score, best first. Ties keep their order."""
    return spans.gather(order_by_score(spans))
