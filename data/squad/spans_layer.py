"""Finds possible answers to SQuAD's questions with TensorFlow operations.

The code cuts the texts of spans out of one passage at a time. It copies only
these texts, not the passage. A text reaches from the first character of its
first WordPiece to the last character of its last one. answer_decoding.py
tokenizes the words again to find it, as Google's code does, which almost always
finds the same text (docs/differences.md).

N = questions, W = windows, S = spans of WordPieces, B = number of starts, and
also of ends, that `SquadDecoder.find_best` selects from each window.
"""

from collections.abc import Mapping
from typing import NamedTuple

import tensorflow as tf

from data.squad.answer_decoding import NO_ANSWER_SCORE_DIFF
from data.squad.windows_layer import WHITE_SPACE_RUN, Passages
from data.text.packing_layer import Windows
from data.text.tokenizer_layer import drop_invalid


class Spans(NamedTuple):
    """S spans of a passage that may be the answer to a question.

    Attributes:
        start_logits: float64 [S], start logits at the first WordPieces.
        end_logits: float64 [S], end logits at the last WordPieces.
        start_bytes: int32 [S], offset in the passage of each text's first byte,
            or -1 for no answer.
        end_bytes: int32 [S], offset after each text's last byte, or -1 for no
            answer.
        texts: string [S], the text of each span, "" until `add_texts` cuts it.
    """

    start_logits: tf.Tensor
    end_logits: tf.Tensor
    start_bytes: tf.Tensor
    end_bytes: tf.Tensor
    texts: tf.Tensor

    @property
    def scores(self) -> tf.Tensor:
        """Sum of each span's start and end logit, float64 [S]."""
        return self.start_logits + self.end_logits

    def gather(self, indexes: tf.Tensor) -> "Spans":
        """Returns the spans with the indices `indexes`, an int vector."""
        return Spans(*(tf.gather(value, indexes) for value in self))

    def concat(self, other: "Spans") -> "Spans":
        """Appends the spans of `other` to these spans."""
        pairs = zip(self, other, strict=True)
        return Spans(*(tf.concat(pair, 0) for pair in pairs))


def find_spans(
    start: tf.Tensor,
    end: tf.Tensor,
    windows: Windows,
    passages: Passages,
    best: Mapping[str, tf.Tensor],
    max_answer_length: int,
    use_char_offsets: bool,
) -> Spans:
    """Combines the best starts and ends of windows into possible answers.

    Reads the windows from `start` to before `end` in `windows` and `best`, the
    result of `SquadDecoder.find_best` for all windows. Unless
    `use_char_offsets` is true, a span that contains [UNK] reaches to the ends
    of its words, as in Google's code.

    Returns:
        Spans, without texts. They are sorted by window, then from the highest
        to the lowest start logit, then by the end logit.
    """
    best = {name: values[start:end] for name, values in best.items()}
    part = windows.slice(start, end)
    first_tokens = part.starts[:, None]
    lengths = part.lengths[:, None]
    shift = part.first_places[:, None]
    starts = tf.cast(best["starts"], tf.int64) - shift
    ends = tf.cast(best["ends"], tf.int64) - shift
    is_start = (starts >= 0) & (starts < lengths)
    # If several windows contain a token, let answers start at it only in the
    # window with the most context around it.
    tokens = first_tokens + tf.where(is_start, starts, 0)
    numbers = tf.range(tf.cast(start, tf.int64), tf.cast(end, tf.int64))
    is_start &= windows.most_context(tokens) == numbers[:, None]
    index = _find_pairs(is_start, starts, ends, lengths, max_answer_length)
    start_index, end_index = index[:, :2], index[:, ::2]
    first, last = _find_code_points(
        passages,
        tf.gather_nd(tokens, start_index),
        tf.gather_nd(first_tokens + ends, end_index),
        use_char_offsets,
    )
    size = tf.cast(tf.gather(passages.sizes, last), tf.int32)
    return Spans(
        start_logits=tf.cast(
            tf.gather_nd(best["start_logits"], start_index), tf.float64
        ),
        end_logits=tf.cast(
            tf.gather_nd(best["end_logits"], end_index), tf.float64
        ),
        start_bytes=tf.gather(passages.starts, first),
        end_bytes=tf.gather(passages.starts, last) + size,
        texts=tf.fill([tf.shape(index)[0]], ""),
    )


def _find_pairs(
    is_start: tf.Tensor,
    starts: tf.Tensor,
    ends: tf.Tensor,
    lengths: tf.Tensor,
    max_answer_length: int,
) -> tf.Tensor:
    """Returns (window, start, end) of each possible answer, int64 [N, 3].

    These are indices into `starts` and `ends`, the best places in each of W
    windows, [W, K]. `lengths` are the lengths of the windows' passages, [W, 1].
    """
    # For each pair of a start and an end in a window, count the WordPieces
    # after the start, up to the end.
    num_further = ends[:, None, :] - starts[:, :, None]
    return tf.where(
        is_start[:, :, None]
        & (ends < lengths)[:, None, :]
        & (num_further >= 0)
        & (num_further < max_answer_length)
    )


def _find_code_points(
    passages: Passages,
    starts: tf.Tensor,
    ends: tf.Tensor,
    use_char_offsets: bool,
) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns the first and the last code point of each span, int32 [S].

    `starts` and `ends` are the first and the last WordPiece of each span.
    """
    first_char = tf.gather(passages.first_char, starts)
    last_char = tf.gather(passages.first_char, ends + 1) - 1
    first = tf.gather(passages.sources, first_char)
    last = tf.gather(passages.sources, last_char)
    # Add the accents that follow the last code point.
    last = tf.gather(passages.ends, tf.searchsorted(passages.ends, last))
    if use_char_offsets:
        return first, last
    is_known = tf.gather(passages.num_unknown, starts) == tf.gather(
        passages.num_unknown, ends + 1
    )
    # The last edge up to a code point begins its word, and the next ends it.
    edges = passages.word_edges
    first_rank, last_rank = (
        tf.searchsorted(edges, code_point, side="right")
        for code_point in (first, last)
    )
    return (
        tf.where(is_known, first, tf.gather(edges, first_rank - 1)),
        tf.where(is_known, last, tf.gather(edges, last_rank) - 1),
    )


def add_texts(spans: Spans, context: tf.Tensor, keeps_space: bool) -> Spans:
    """Returns the spans with their texts, cut out of a passage.

    `context` is the passage, string []. `spans` must not contain "no answer".
    `keeps_space` is False to replace white space by single spaces, as in
    Google's code.
    """
    # Call `tf.strings.substr` for one span at a time. For all spans at once, it
    # would copy the complete passage for each span.
    texts = tf.map_fn(
        lambda part: tf.strings.substr(context, part[0], part[1] - part[0]),
        (spans.start_bytes, spans.end_bytes),
        fn_output_signature=tf.string,
    )
    texts = drop_invalid(texts)
    if not keeps_space:
        texts = tf.strings.regex_replace(texts, WHITE_SPACE_RUN, " ")
    return spans._replace(texts=texts)


def find_null(
    best: Mapping[str, tf.Tensor], start: tf.Tensor, end: tf.Tensor
) -> tuple[Spans, tf.Tensor]:
    """Returns the span of "no answer" to one question, and its score.

    This span contains only [CLS], in the window where [CLS] has the lowest
    score. The windows of the question are `start` to before `end`. The result
    is (Spans [1], score, float64).
    """
    # Append the values that are the result for a question without windows.
    start_logits, end_logits = (
        tf.concat([tf.cast(logits[start:end], tf.float64), [0.0]], 0)
        for logits in (best["null_start_logits"], best["null_end_logits"])
    )
    scores = (start_logits + end_logits)[:-1]
    scores = tf.concat([scores, [NO_ANSWER_SCORE_DIFF]], 0)
    lowest = tf.reduce_min(scores)
    # If a score is NaN, no score equals `lowest`. Choose the appended values.
    lowest_windows = tf.where(scores == lowest)[:, 0]
    first = tf.concat([lowest_windows, [tf.size(scores, tf.int64) - 1]], 0)[:1]
    null = Spans(
        start_logits=tf.gather(start_logits, first),
        end_logits=tf.gather(end_logits, first),
        start_bytes=tf.constant([-1]),
        end_bytes=tf.constant([-1]),
        texts=tf.constant([""]),
    )
    return null, lowest


def order_by_score(spans: Spans) -> tf.Tensor:
    """Returns the indices that sort spans by score, best first, int32 [S].

    Spans with equal scores keep their order.
    """
    return tf.argsort(spans.scores, direction="DESCENDING", stable=True)


def first_of_equals(keys: tf.Tensor) -> tf.Tensor:
    """Returns the index at which each distinct value of `keys` first occurs.

    `keys` are [S]. The indices are int32, ascending.
    """
    values, numbers = tf.unique(keys)
    return tf.math.unsorted_segment_min(
        tf.range(tf.size(numbers)), numbers, tf.size(values)
    )
