"""Lists possible answers to SQuAD's questions with TensorFlow operations.

`list_spans` and `choose_null_span` return what `list_spans` in
data/squad/token_spans.py returns. test_answer_decoding_graph.py compares the
answers that follow from it.

The code cuts the texts of spans out of one passage at a time, and copies only
these texts, not the passage. A text reaches from the first character of its
first WordPiece to the last character of its last WordPiece. data/squad/
tokenizes the words again to find the text, as Google's code does, which almost
always finds the same text (docs/differences.md).

N = questions, W = windows, S = spans of WordPieces, B = number of first
WordPieces, and also of last ones, that `SquadDecoder.select_best_logits`
selects from each window.
"""

from typing import NamedTuple, TypedDict

import tensorflow as tf

from data.squad.passage_windows_graph import WHITE_SPACE_RUN, Passages
from data.squad.token_spans import NULL_ODDS_WITHOUT_ANSWER
from data.text.token_windows_graph import Windows
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
        texts: string [S], the text of each span, "" until `with_texts` cuts it.
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

    def gather(self, indices: tf.Tensor) -> "Spans":
        """Returns the spans at `indices`, an int vector."""
        return Spans(*(tf.gather(value, indices) for value in self))

    def concat(self, other: "Spans") -> "Spans":
        """Appends the spans of `other` to these spans."""
        pairs = zip(self, other, strict=True)
        return Spans(*(tf.concat(pair, 0) for pair in pairs))


class BestLogits(TypedDict):
    """The highest logits of W windows, by `SquadDecoder.select_best_logits`.

    Attributes:
        firsts: int16 [W, B], positions in the input of the highest start
            logits, highest first.
        lasts: int16 [W, B], positions of the highest end logits.
        start_logits: float [W, B], the start logits at `firsts`.
        end_logits: float [W, B], the end logits at `lasts`.
        null_start_logits: float [W], start logit of [CLS].
        null_end_logits: float [W], end logit of [CLS].
    """

    firsts: tf.Tensor
    lasts: tf.Tensor
    start_logits: tf.Tensor
    end_logits: tf.Tensor
    null_start_logits: tf.Tensor
    null_end_logits: tf.Tensor


class QuestionWindows(NamedTuple):
    """The windows of a question, among those of all questions.

    Attributes:
        start: int [], index of the question's first window.
        end: int [], index after its last window.
        windows: the windows of all questions.
        best: the highest logits of all windows.
    """

    start: tf.Tensor
    end: tf.Tensor
    windows: Windows
    best: BestLogits

    def own_windows(self) -> Windows:
        """Returns the windows of the question."""
        return self.windows.slice(self.start, self.end)

    def own_best(self) -> BestLogits:
        """Returns the highest logits of the question's windows."""
        rows = slice(self.start, self.end)
        best: BestLogits = tf.nest.map_structure(
            lambda logits: logits[rows], self.best
        )
        return best


def list_spans(
    question: QuestionWindows,
    passages: Passages,
    max_answer_length: int,
    use_char_offsets: bool,
) -> Spans:
    """Combines the best tokens of windows to possible answers.

    Args:
        question: the windows of the question.
        passages: the passages of all questions.
        max_answer_length: maximum length of an answer in WordPieces.
        use_char_offsets: False to let a span that contains [UNK] reach to the
            ends of its words, as in Google's code.

    Returns:
        spans without texts, sorted by window, then from the highest to the
        lowest start logit, then from the highest to the lowest end logit.
    """
    best = question.own_best()
    offsets = _convert_to_offsets(question.own_windows(), best)
    may_begin, first_tokens = _compute_valid_firsts(question, offsets)
    pairs = _list_pairs(may_begin, offsets, max_answer_length)
    # A pair is (window, first, last). The pair [0, 2, 5] is of the WordPieces
    # at [0, 2] of `offsets.firsts` and at [0, 5] of `offsets.lasts`.
    window_and_first, window_and_last = pairs[:, :2], pairs[:, ::2]
    first, last = _compute_code_points(
        passages,
        tf.gather_nd(first_tokens, window_and_first),
        tf.gather_nd(offsets.window_starts + offsets.lasts, window_and_last),
        use_char_offsets,
    )
    last_num_bytes = tf.cast(tf.gather(passages.num_bytes, last), tf.int32)
    return Spans(
        start_logits=tf.cast(
            tf.gather_nd(best["start_logits"], window_and_first), tf.float64
        ),
        end_logits=tf.cast(
            tf.gather_nd(best["end_logits"], window_and_last), tf.float64
        ),
        start_bytes=tf.gather(passages.start_bytes, first),
        end_bytes=tf.gather(passages.start_bytes, last) + last_num_bytes,
        texts=tf.fill([tf.shape(pairs)[0]], ""),
    )


class _WindowOffsets(NamedTuple):
    """The best tokens of W windows, counted from the windows' begins.

    Offset 0 is the first WordPiece of the passage in a window. In the input,
    [CLS], the question and [SEP] precede it, and [SEP] and padding follow the
    last offset, so not every token is in the window.

    Attributes:
        firsts: int64 [W, B], offsets of the first tokens.
        lasts: int64 [W, B], offsets of the last tokens.
        lengths: int64 [W, 1], number of WordPieces of each window.
        window_starts: int64 [W, 1], index of the WordPiece at offset 0, among
            those of all passages.
    """

    firsts: tf.Tensor
    lasts: tf.Tensor
    lengths: tf.Tensor
    window_starts: tf.Tensor


def _convert_to_offsets(windows: Windows, best: BestLogits) -> _WindowOffsets:
    """Converts positions in the inputs to offsets in their windows."""
    shift = windows.first_positions[:, None]
    return _WindowOffsets(
        firsts=tf.cast(best["firsts"], tf.int64) - shift,
        lasts=tf.cast(best["lasts"], tf.int64) - shift,
        lengths=windows.lengths[:, None],
        window_starts=windows.starts[:, None],
    )


def _compute_valid_firsts(
    question: QuestionWindows, offsets: _WindowOffsets
) -> tuple[tf.Tensor, tf.Tensor]:
    """Computes with which of the first tokens an answer may begin.

    Returns (whether it may begin there, bool [W, B], index of the WordPiece
    there among those of all passages, int64 [W, B]).
    """
    is_inside = (offsets.firsts >= 0) & (offsets.firsts < offsets.lengths)
    # If several windows contain a token, let answers start at it only in the
    # window with the most context around it.
    tokens = offsets.window_starts + tf.where(is_inside, offsets.firsts, 0)
    indices = tf.range(
        tf.cast(question.start, tf.int64), tf.cast(question.end, tf.int64)
    )
    best_windows = question.windows.find_max_context_windows(tokens)
    is_best = best_windows == indices[:, None]
    return is_inside & is_best, tokens


def _list_pairs(
    may_begin: tf.Tensor, offsets: _WindowOffsets, max_answer_length: int
) -> tf.Tensor:
    """Returns (window, first, last) of each possible answer, int64 [S, 3].

    These are indices into `offsets.firsts` and `offsets.lasts`. `may_begin`
    says with which of the first tokens an answer may begin, bool [W, B].

    For example, a window of 6 WordPieces, and answers of at most 3:

        firsts  4 1    both may begin an answer
        lasts   5 3 7  7 is outside of the window, so it is in no pair

    The pairs are [0, 0, 0], for the answer from 4 to 5, and [0, 1, 1], from 1
    to 3. From 4 to 3 is no answer, and from 1 to 5 is too long.
    """
    # For each pair of a first and a last WordPiece in a window, count the
    # WordPieces after the first.
    num_further = offsets.lasts[:, None, :] - offsets.firsts[:, :, None]
    return tf.where(
        may_begin[:, :, None]
        & (offsets.lasts < offsets.lengths)[:, None, :]
        & (num_further >= 0)
        & (num_further < max_answer_length)
    )


def _compute_code_points(
    passages: Passages,
    first_tokens: tf.Tensor,
    last_tokens: tf.Tensor,
    use_char_offsets: bool,
) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns the first and the last code point of each span, int32 [S].

    `first_tokens` and `last_tokens` are the first and the last WordPiece of
    each span, int64 [S].

    For example, in the passage that `Passages` shows, the WordPiece "cafe" is
    the characters 0 to 3. They come from the code points 0 to 3, and the accent
    at 4 belongs to the last one. So the span is 0 to 4. If "19" were [UNK], a
    span of it would reach from 6 to 9, to the ends of its word "(19)".
    """
    first_chars = tf.gather(passages.first_chars, first_tokens)
    last_chars = tf.gather(passages.first_chars, last_tokens + 1) - 1
    first = tf.gather(passages.source_code_points, first_chars)
    last = tf.gather(passages.source_code_points, last_chars)
    # Add the accents that follow the last code point.
    candidates = passages.not_before_accent
    last = tf.gather(candidates, tf.searchsorted(candidates, last))
    if use_char_offsets:
        return first, last
    has_no_unknown = tf.gather(passages.num_unknown, first_tokens) == tf.gather(
        passages.num_unknown, last_tokens + 1
    )
    # The last edge up to a code point begins its word, and the next ends it.
    edges = passages.word_edges
    first_rank, last_rank = (
        tf.searchsorted(edges, code_point, side="right")
        for code_point in (first, last)
    )
    return (
        tf.where(has_no_unknown, first, tf.gather(edges, first_rank - 1)),
        tf.where(has_no_unknown, last, tf.gather(edges, last_rank) - 1),
    )


def with_texts(spans: Spans, context: tf.Tensor, keeps_space: bool) -> Spans:
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


def choose_null_span(question: QuestionWindows) -> tuple[Spans, tf.Tensor]:
    """Chooses the [CLS] with the lowest score as "no answer" to a question.

    Returns (Spans of this one span, its score, float64 []). Without windows,
    the score is NULL_ODDS_WITHOUT_ANSWER.
    """
    best = question.own_best()
    # Append the values that are the result for a question without windows.
    start_logits, end_logits = (
        tf.concat([tf.cast(logits, tf.float64), [0.0]], 0)
        for logits in (best["null_start_logits"], best["null_end_logits"])
    )
    window_scores = (start_logits + end_logits)[:-1]
    # The score of the appended values is not their sum, but a constant.
    scores = tf.concat([window_scores, [NULL_ODDS_WITHOUT_ANSWER]], 0)
    lowest = tf.reduce_min(scores)
    # If a score is NaN, no score equals `lowest`. Choose the appended values.
    lowest_windows = tf.where(scores == lowest)[:, 0]
    appended = [tf.size(scores, tf.int64) - 1]
    first = tf.concat([lowest_windows, appended], 0)[:1]
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


def list_first_occurrences(keys: tf.Tensor) -> tf.Tensor:
    """Returns the index at which each distinct value of `keys` first occurs.

    `keys` are [S]. The indices are int32, ascending.

    Examples:
        >>> keys = tf.constant(["b", "a", "b", "c"])
        >>> list_first_occurrences(keys).numpy().tolist()
        [0, 1, 3]
    """
    values, value_indices = tf.unique(keys)
    return tf.math.unsorted_segment_min(
        tf.range(tf.size(value_indices)), value_indices, tf.size(values)
    )
