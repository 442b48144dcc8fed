"""SQuAD inside a graph: turns start and end logits into answers.

The answers are those of decoding.py, ties and odd cases included; no
Python runs when it is called.

N = questions, W = windows, F = length of a window, S = spans, B = answers in
an n-best list. For passages' WordPieces, characters and letters see
windows_layer.py.
"""

import tensorflow as tf

from data.squad.alignment_layer import Spans, letters_of, span_texts
from data.squad.decoding import NO_ANSWER_SCORE_DIFF, DecodingOptions
from data.squad.windows_layer import Passages
from data.text.windows_layer import Windows

# Spans whose texts are looked at together, for each answer wanted.
_SPANS_AT_A_TIME = 4


class SquadDecoder:
    """Turns logits into answers.

    Args:
        options: DecodingOptions; `do_lower_case` and `verbose_logging` have
            no effect here.
        use_char_offsets: whether answers are cut out of the passage where
            their tokens stand; else they are led back to it as the
            original's.
    """

    def __init__(
        self, options: DecodingOptions, use_char_offsets: bool = False
    ) -> None:
        self.n_best_size = options.n_best_size
        self.max_answer_length = options.max_answer_length
        self.version_2_with_negative = options.version_2_with_negative
        self.null_score_diff_threshold = options.null_score_diff_threshold
        self.use_char_offsets = use_char_offsets

    def __call__(
        self,
        windows: Windows,
        first_places: tf.Tensor,
        passages: Passages,
        start_logits: tf.Tensor,
        end_logits: tf.Tensor,
    ) -> dict[str, tf.Tensor]:
        """Answers questions.

        Args:
            windows: Windows, as `SquadWindows` gives them.
            first_places: int64 [W], as it gives them.
            passages: Passages, as it gives them.
            start_logits: float [W, F].
            end_logits: float [W, F].

        Returns:
            dict of tensors [N]: `answer`, string; `probability`, float64, of
            the n best; `start_byte` and `end_byte`, int32, where the answer
            stands in the passage, the end exclusive, -1 for no answer;
            `null_odds`, float64, the score of no answer less that of the
            best. And of the n-best list, [N, B], filled up with "" and 0:
            `nbest_texts`, `nbest_probabilities`, `nbest_start_logits` and
            `nbest_end_logits`; int32 [N] `nbest_sizes`.
        """
        start_logits = tf.cast(start_logits, tf.float64)
        end_logits = tf.cast(end_logits, tf.float64)
        num_questions = passages.ids.nrows()
        spans = self._find_spans(
            windows, first_places, start_logits, end_logits
        )
        nulls, null_scores = _find_nulls(
            windows.rows, start_logits[:, 0], end_logits[:, 0], num_questions
        )
        if self.version_2_with_negative:
            spans = Spans(
                *(tf.concat(pair, 0) for pair in zip(spans, nulls, strict=True))
            )
        # Best first; of equals the first, no answer last.
        spans = spans.gather(
            tf.argsort(spans.scores, direction="DESCENDING", stable=True)
        )
        spans = spans.gather(tf.argsort(spans.rows, stable=True))
        bounds = tf.searchsorted(spans.rows, tf.range(num_questions + 1))

        def answer(row: tf.Tensor) -> dict[str, tf.Tensor]:
            found = spans.gather(tf.range(bounds[row], bounds[row + 1]))
            null = nulls.gather([row])
            nbest, texts = self._nbest(found, null, passages)
            return self._answer(nbest, texts, null_scores[row], passages)

        size = self.n_best_size + 1
        return tf.map_fn(
            answer,
            tf.range(num_questions),
            fn_output_signature={
                "answer": tf.TensorSpec([], tf.string),
                "probability": tf.TensorSpec([], tf.float64),
                "start_byte": tf.TensorSpec([], tf.int32),
                "end_byte": tf.TensorSpec([], tf.int32),
                "null_odds": tf.TensorSpec([], tf.float64),
                "nbest_texts": tf.TensorSpec([size], tf.string),
                "nbest_probabilities": tf.TensorSpec([size], tf.float64),
                "nbest_start_logits": tf.TensorSpec([size], tf.float64),
                "nbest_end_logits": tf.TensorSpec([size], tf.float64),
                "nbest_sizes": tf.TensorSpec([], tf.int32),
            },
        )

    def _find_spans(
        self,
        windows: Windows,
        first_places: tf.Tensor,
        start_logits: tf.Tensor,
        end_logits: tf.Tensor,
    ) -> Spans:
        """Returns the Spans of all windows, by window, start and end."""
        num_best = tf.minimum(self.n_best_size, tf.shape(start_logits)[1])
        start_values, starts = tf.math.top_k(start_logits, num_best)
        end_values, ends = tf.math.top_k(end_logits, num_best)
        # [W, n, 1] and [W, 1, n]: each start with each end.
        shift = first_places[:, None, None]
        starts = tf.cast(starts, tf.int64)[:, :, None] - shift
        ends = tf.cast(ends, tf.int64)[:, None, :] - shift
        splits = windows.tokens.row_splits
        lengths = windows.tokens.row_lengths()[:, None, None]
        is_span = (
            (starts >= 0)
            & (starts <= ends)
            & (ends < lengths)
            & (ends - starts < self.max_answer_length)
        )
        index = tf.where(is_span)
        window, start_rank, end_rank = tf.unstack(index, axis=1)
        first = tf.gather(splits, window)
        starts = first + tf.gather_nd(starts[:, :, 0], index[:, :2])
        ends = first + tf.gather_nd(ends[:, 0, :], index[:, ::2])
        spans = Spans(
            rows=tf.gather(windows.rows, window),
            starts=tf.gather(windows.tokens.flat_values, starts),
            ends=tf.gather(windows.tokens.flat_values, ends),
            start_logits=tf.gather_nd(start_values, index[:, :2]),
            end_logits=tf.gather_nd(end_values, index[:, ::2]),
        )
        # A token that is in two windows starts answers in one of them.
        is_kept = tf.gather(windows.is_max_context.flat_values, starts)
        return spans.gather(tf.where(is_kept)[:, 0])

    def _nbest(
        self, spans: Spans, null: Spans, passages: Passages
    ) -> tuple[Spans, tf.Tensor]:
        """Returns the best Spans of a question whose texts differ, and those.

        Args:
            spans: Spans of one question, sorted.
            null: its Spans of no answer, one.
            passages: Passages.

        Returns:
            (Spans [B], string [B]), at least one.
        """
        num_spans = tf.size(spans.rows)
        step = _SPANS_AT_A_TIME * self.n_best_size

        def goes_on(
            begin: tf.Tensor, indexes: tf.Tensor, texts: tf.Tensor
        ) -> tf.Tensor:
            return (begin < num_spans) & (tf.size(texts) < self.n_best_size)

        def look_further(
            begin: tf.Tensor, indexes: tf.Tensor, texts: tf.Tensor
        ) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
            more = tf.range(begin, tf.minimum(begin + step, num_spans))
            indexes = tf.concat([indexes, more], 0)
            more = span_texts(
                spans.gather(more), passages, self.use_char_offsets
            )
            texts, number = tf.unique(tf.concat([texts, more], 0))
            first = tf.math.unsorted_segment_min(
                tf.range(tf.size(number)), number, tf.size(texts)
            )
            indexes = tf.gather(indexes, first)
            return (
                begin + step,
                indexes[: self.n_best_size],
                texts[: self.n_best_size],
            )

        _, indexes, texts = tf.while_loop(
            goes_on,
            look_further,
            (0, tf.zeros([0], tf.int32), tf.zeros([0], tf.string)),
            shape_invariants=(
                tf.TensorShape([]),
                tf.TensorShape([None]),
                tf.TensorShape([None]),
            ),
        )
        if self.version_2_with_negative:
            lacks_null = tf.reduce_all(texts != "")
            null_text = ""
        else:
            # What the original answers when it finds nothing.
            lacks_null = tf.size(texts) == 0
            null = null._replace(
                start_logits=tf.zeros([1], tf.float64),
                end_logits=tf.zeros([1], tf.float64),
            )
            null_text = "empty"
        added = tf.range(tf.cast(lacks_null, tf.int32))
        nbest = Spans(
            *(
                tf.concat([tf.gather(some, indexes), tf.gather(last, added)], 0)
                for some, last in zip(spans, null, strict=True)
            )
        )
        return nbest, tf.concat([texts, tf.gather([null_text], added)], 0)

    def _answer(
        self,
        nbest: Spans,
        texts: tf.Tensor,
        null_score: tf.Tensor,
        passages: Passages,
    ) -> dict[str, tf.Tensor]:
        """Returns the answer to a question, a dict; see __call__."""
        probabilities = tf.nn.softmax(nbest.scores)
        is_answer = nbest.starts >= 0
        best = _first_true(is_answer)
        has_answer = is_answer[best]
        null_odds = tf.where(
            has_answer,
            null_score - nbest.start_logits[best] - nbest.end_logits[best],
            tf.constant(NO_ANSWER_SCORE_DIFF, tf.float64),
        )
        if self.version_2_with_negative:
            has_answer &= null_odds <= self.null_score_diff_threshold
        chosen = tf.where(has_answer, best, _first_true(~is_answer))
        answered = tf.range(chosen, chosen + tf.cast(has_answer, tf.int32))
        first, last = letters_of(
            nbest.gather(answered), passages, self.use_char_offsets
        )
        padding = [[0, self.n_best_size + 1 - tf.size(texts)]]
        return {
            "answer": texts[chosen],
            "probability": probabilities[chosen],
            "start_byte": _or_none(tf.gather(passages.starts, first)),
            "end_byte": _or_none(tf.gather(passages.ends, last)),
            "null_odds": null_odds,
            "nbest_texts": tf.pad(texts, padding, constant_values=""),
            "nbest_probabilities": tf.pad(probabilities, padding),
            "nbest_start_logits": tf.pad(nbest.start_logits, padding),
            "nbest_end_logits": tf.pad(nbest.end_logits, padding),
            "nbest_sizes": tf.size(texts),
        }


def _find_nulls(
    rows: tf.Tensor,
    start_logits: tf.Tensor,
    end_logits: tf.Tensor,
    num_questions: tf.Tensor,
) -> tuple[Spans, tf.Tensor]:
    """Returns the Spans [N] of no answer, and its scores, float64 [N].

    It is [CLS] alone, of the window where that scores lowest.
    """
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
        tf.range(num_questions),
        nothing,
        nothing,
        *(
            tf.gather(tf.concat([logits, [0.0]], 0), window)
            for logits in (start_logits, end_logits)
        ),
    )
    return nulls, lowest


def _first_true(values: tf.Tensor) -> tf.Tensor:
    """Returns the index, int32, of the first true value; else of the last."""
    last = tf.size(values) - 1
    return tf.reduce_min(tf.where(values, tf.range(last + 1), last))


def _or_none(byte: tf.Tensor) -> tf.Tensor:
    """Returns the one byte there is, int32 [0 or 1]; -1 for none."""
    return tf.concat([byte, [-1]], 0)[0]
