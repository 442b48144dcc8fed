"""Turns start and end logits into SQuAD's answers with TensorFlow operations.

The graph chooses the same answers as answer_decoding.py, even if several
candidates have equal scores or a question has no candidate. An exported model
runs the graph without Python.

N = questions, W = windows, F = length of a window, S = spans, B = answers in
an n-best list.
"""

from collections.abc import Mapping

import tensorflow as tf

from data.squad.answer_decoding import NO_ANSWER_SCORE_DIFF
from data.squad.spans_layer import (
    Spans,
    add_texts,
    find_null,
    find_spans,
    first_of_equals,
    order_by_score,
)
from data.squad.squad_options import DecodingOptions
from data.squad.windows_layer import Passages
from data.text.packing_layer import Windows

# {output for the predicted answer: output for all answers of the n-best list}.
_NBEST_NAME_OF_OUTPUT = {
    "answer": "nbest_texts",
    "probability": "nbest_probabilities",
    "start_byte": "nbest_start_bytes",
    "end_byte": "nbest_end_bytes",
}
# {column of the n-best list: (type, padding)}.
_TYPE_AND_PADDING_OF_COLUMN: dict[str, tuple[tf.DType, str | int]] = {
    "texts": (tf.string, ""),
    "probabilities": (tf.float64, 0),
    "start_logits": (tf.float64, 0),
    "end_logits": (tf.float64, 0),
    "start_bytes": (tf.int32, -1),
    "end_bytes": (tf.int32, -1),
}


class SquadDecoder:
    """Turns the start and end logits of windows into answers to questions.

    Args:
        options: DecodingOptions. `verbose_logging` has no effect.
        use_char_offsets: True to cut answers out of the passage at the
            characters of their first and last token. False to map answers back
            to the passage as in Google's code.
    """

    def __init__(
        self, options: DecodingOptions, use_char_offsets: bool = False
    ) -> None:
        self.options = options
        self.use_char_offsets = use_char_offsets

    def find_best(
        self, start_logits: tf.Tensor, end_logits: tf.Tensor
    ) -> dict[str, tf.Tensor]:
        """Selects the highest logits of each window.

        Both arguments are float [W, F].

        Returns:
            dict of tensors. `starts`, `ends`: int16 [W, B], positions in the
            window of the B = `options.n_best_size` highest start logits and end
            logits, highest first. `start_logits`, `end_logits`: float [W, B],
            these logits. `null_start_logits`, `null_end_logits`: float [W],
            logits of [CLS].
        """
        best = {}
        for side, logits in (("start", start_logits), ("end", end_logits)):
            logits = tf.convert_to_tensor(logits)
            num_best = tf.minimum(self.options.n_best_size, tf.shape(logits)[1])
            # Store positions as int16, which need half the memory of int32,
            # because there may be many windows.
            best[f"{side}_logits"], best[f"{side}s"] = tf.math.top_k(
                logits, num_best, index_type=tf.int16
            )
            best[f"null_{side}_logits"] = logits[:, 0]
        return best

    def __call__(
        self,
        windows: Windows,
        passages: Passages,
        best: Mapping[str, tf.Tensor],
        rows: tf.Tensor | None = None,
    ) -> dict[str, tf.Tensor]:
        """Returns the answers to N questions.

        Args:
            windows: windows of all questions, as `create_windows` returns them.
            passages: Passages, one for each question.
            best: result of `find_best` for all windows.
            rows: int32 [N], indices of the questions to answer. None for all.

        Returns:
            dict of tensors. B = `options.n_best_size` + 1.
            `answer`: string [N].
            `probability`: float64 [N], softmax of the n best answers' scores.
            `start_byte`, `end_byte`: int32 [N], the answer's first byte in the
            passage, and the byte after its last byte, or -1 for no answer.
            `null_odds`: float64 [N], score of no answer minus the score of the
            best answer.
            `nbest_sizes`: int32 [N], length of each n-best list.
            `nbest_texts`: string [N, B], padded with "".
            `nbest_probabilities`, `nbest_start_logits`, `nbest_end_logits`:
            float64 [N, B], padded with 0.
            `nbest_start_bytes`, `nbest_end_bytes`: int32 [N, B], padded with
            -1.
        """
        if rows is None:
            rows = tf.range(tf.size(passages.contexts))

        def answer(row: tf.Tensor) -> dict[str, tf.Tensor]:
            return self._answer(*self._find_nbest(windows, passages, best, row))

        size = self.options.n_best_size + 1
        specs = {
            "chosen": tf.TensorSpec([], tf.int32),
            "null_odds": tf.TensorSpec([], tf.float64),
            "nbest_sizes": tf.TensorSpec([], tf.int32),
        }
        for name, (dtype, _) in _TYPE_AND_PADDING_OF_COLUMN.items():
            specs[f"nbest_{name}"] = tf.TensorSpec([size], dtype)
        # Answer one question at a time, to limit memory.
        outputs: dict[str, tf.Tensor] = tf.map_fn(
            answer, rows, fn_output_signature=specs, parallel_iterations=1
        )
        chosen = outputs.pop("chosen")
        return outputs | {
            name: tf.gather(outputs[column], chosen, batch_dims=1)
            for name, column in _NBEST_NAME_OF_OUTPUT.items()
        }

    def _find_nbest(
        self,
        windows: Windows,
        passages: Passages,
        best: Mapping[str, tf.Tensor],
        row: tf.Tensor,
    ) -> tuple[Spans, tf.Tensor]:
        """Returns a question's best spans, and the score of no answer.

        The spans have distinct texts, and the best one is first.
        """
        bounds = tf.cast([row, row + 1], tf.int64)
        start, end = tf.unstack(tf.searchsorted(windows.rows, bounds))
        spans = find_spans(
            start=start,
            end=end,
            windows=windows,
            passages=passages,
            best=best,
            max_answer_length=self.options.max_answer_length,
            use_char_offsets=self.use_char_offsets,
        )
        spans = spans.gather(order_by_score(spans))
        num_spans = tf.size(spans.texts)
        num_best = self.options.n_best_size

        def add_spans(
            num_read: tf.Tensor, nbest: Spans
        ) -> tuple[tf.Tensor, Spans]:
            following = tf.minimum(num_read + num_best, num_spans)
            more = spans.gather(tf.range(num_read, following))
            context = passages.contexts[row]
            nbest = nbest.concat(
                add_texts(more, context, self.use_char_offsets)
            )
            firsts = first_of_equals(nbest.texts)[:num_best]
            return following, nbest.gather(firsts)

        # Create few texts at a time, until there are enough distinct ones.
        null, null_score = find_null(best, start, end)
        _, nbest = tf.while_loop(
            lambda num_read, nbest: (
                (num_read < num_spans) & (tf.size(nbest.texts) < num_best)
            ),
            add_spans,
            (0, null.gather(tf.range(0))),
            shape_invariants=(
                tf.TensorShape([]),
                Spans._make([tf.TensorShape([None])] * len(Spans._fields)),
            ),
        )
        return self._add_null(nbest, null), null_score

    def _add_null(self, nbest: Spans, null: Spans) -> Spans:
        """Inserts `null`, the span of "no answer", into the sorted n-best list.

        In SQuAD v1.1, an empty list becomes a list of only the text "empty", as
        in Google's code, and other lists do not change.
        """
        if self.options.version_2_with_negative:
            nbest = nbest.concat(null)
            order = order_by_score(nbest)
            # "No answer" stays in the list even if its score is the lowest, so
            # the list may be one entry longer than n_best_size.
            is_last = order[-1] == tf.size(order) - 1
            size = self.options.n_best_size + tf.cast(is_last, tf.int32)
            return nbest.gather(order[:size])
        zero = tf.zeros([1], tf.float64)
        empty = null._replace(
            start_logits=zero, end_logits=zero, texts=tf.constant(["empty"])
        )
        is_empty = tf.cast(tf.size(nbest.texts) == 0, tf.int32)
        return nbest.concat(empty.gather(tf.range(is_empty)))

    def _answer(
        self, nbest: Spans, null_score: tf.Tensor
    ) -> dict[str, tf.Tensor]:
        """Returns the outputs of `__call__` for one question.

        `chosen` is the index of the predicted answer in the n-best list.
        """
        is_answer = nbest.start_bytes >= 0
        best = _first_true(is_answer)
        has_answer = is_answer[best]
        null_odds = tf.where(
            has_answer,
            null_score - nbest.start_logits[best] - nbest.end_logits[best],
            tf.constant(NO_ANSWER_SCORE_DIFF, tf.float64),
        )
        if self.options.version_2_with_negative:
            has_answer &= null_odds <= self.options.null_score_diff_threshold
        chosen = tf.where(has_answer, best, _first_true(~is_answer))
        size = tf.size(nbest.texts)
        padding = [[0, self.options.n_best_size + 1 - size]]
        values = nbest._asdict() | {
            "probabilities": tf.nn.softmax(nbest.scores)
        }
        columns = {
            f"nbest_{name}": tf.pad(values[name], padding, constant_values=fill)
            for name, (_, fill) in _TYPE_AND_PADDING_OF_COLUMN.items()
        }
        return columns | {
            "chosen": chosen,
            "null_odds": null_odds,
            "nbest_sizes": size,
        }


def _first_true(values: tf.Tensor) -> tf.Tensor:
    """Returns the index of the first true value, or the last index."""
    last = tf.size(values) - 1
    return tf.reduce_min(tf.where(values, tf.range(last + 1), last))
