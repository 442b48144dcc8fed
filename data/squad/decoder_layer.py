"""Turns start and end logits into answers inside a graph, for SQuAD.

The answers are the same as in decoding.py, including ties and odd cases. No
Python runs when the graph is called.

N = questions, W = windows, F = length of a window, S = spans, B = answers in
an n-best list. windows_layer.py defines a passage's characters and letters.
"""

import functools
from collections.abc import Callable

import numpy as np
import tensorflow as tf

from data.squad.alignment_layer import Alignment, Spans, first_of_equals
from data.squad.decoding import NO_ANSWER_SCORE_DIFF, DecodingOptions
from data.squad.spans_layer import (
    BestLogits,
    find_best,
    find_nulls,
    find_spans,
    order_by_score,
    sort,
)
from data.squad.windows_layer import Passages
from data.text.windows_layer import Windows

# {output for the chosen answer: column of the n-best list that contains it}.
_OF_CHOSEN = {
    "answer": "nbest_texts",
    "probability": "nbest_probabilities",
    "start_byte": "nbest_start_bytes",
    "end_byte": "nbest_end_bytes",
}
# Maximum number of windows whose spans are in memory at the same time.
_WINDOWS_AT_A_TIME = 64


class SquadDecoder:
    """Turns logits into answers.

    Args:
        options: DecodingOptions. `verbose_logging` has no effect.
        use_char_offsets: True to cut answers out of the passage at their
            tokens. False to map answers back to the passage as in Google's
            code.
    """

    def __init__(
        self, options: DecodingOptions, use_char_offsets: bool = False
    ) -> None:
        self.options = options
        self.use_char_offsets = use_char_offsets

    def find_best(
        self, start_logits: tf.Tensor, end_logits: tf.Tensor
    ) -> BestLogits:
        """Selects each window's best logits from all logits, float [W, F]."""
        return find_best(start_logits, end_logits, self.options.n_best_size)

    def __call__(
        self,
        windows: Windows,
        first_places: tf.Tensor,
        passages: Passages,
        best: BestLogits,
    ) -> dict[str, tf.Tensor]:
        """Returns the answers to N questions.

        `SquadWindows` returns `windows`, `first_places`, int64 [W], and
        `passages`. `best` contains the best logits of all windows.

        Returns:
            dict of tensors.
            `answer`: string [N].
            `probability`: float64 [N], of the answer among the n best.
            `start_byte`, `end_byte`: int32 [N], the answer's first byte in the
            passage, and the byte after its last byte, or -1 for no answer.
            `null_odds`: float64 [N], score of no answer minus the best score.
            `nbest_sizes`: int32 [N], length of each n-best list.
            `nbest_texts`: string [N, B], padded with "".
            `nbest_probabilities`, `nbest_start_logits`, `nbest_end_logits`:
            float64 [N, B], padded with 0.
            `nbest_start_bytes`, `nbest_end_bytes`: int32 [N, B], padded with
            -1.
        """
        num_questions = tf.size(passages.contexts)
        nulls, null_scores = find_nulls(windows.rows, best, num_questions)
        bounds = tf.searchsorted(
            windows.rows, tf.range(tf.cast(num_questions, tf.int64) + 1)
        )
        find = functools.partial(
            find_spans,
            windows=windows,
            first_places=first_places,
            best=best,
            max_answer_length=self.options.max_answer_length,
        )

        def answer(row: tf.Tensor) -> dict[str, tf.Tensor]:
            alignment = Alignment(passages, row, self.use_char_offsets)
            nbest, texts = self._find_nbest(
                find, bounds[row], bounds[row + 1], alignment
            )
            nbest, texts = self._add_null(nbest, texts, nulls.gather([row]))
            return self._answer(nbest, texts, null_scores[row], alignment)

        # Answer one question at a time, to limit memory.
        outputs = tf.map_fn(
            answer,
            tf.range(num_questions),
            fn_output_signature=self._specs(),
            parallel_iterations=1,
        )
        chosen = outputs.pop("chosen")
        return outputs | {
            name: tf.gather(outputs[column], chosen, batch_dims=1)
            for name, column in _OF_CHOSEN.items()
        }

    def _specs(self) -> dict[str, tf.TensorSpec]:
        """Returns the specs of the outputs for one question."""
        size = self.options.n_best_size + 1
        return {
            "chosen": tf.TensorSpec([], tf.int32),
            "null_odds": tf.TensorSpec([], tf.float64),
            "nbest_texts": tf.TensorSpec([size], tf.string),
            "nbest_probabilities": tf.TensorSpec([size], tf.float64),
            "nbest_start_logits": tf.TensorSpec([size], tf.float64),
            "nbest_end_logits": tf.TensorSpec([size], tf.float64),
            "nbest_start_bytes": tf.TensorSpec([size], tf.int32),
            "nbest_end_bytes": tf.TensorSpec([size], tf.int32),
            "nbest_sizes": tf.TensorSpec([], tf.int32),
        }

    def _find_nbest(
        self,
        find_spans: Callable[[tf.Tensor, tf.Tensor], Spans],
        begin: tf.Tensor,
        end: tf.Tensor,
        alignment: Alignment,
    ) -> tuple[Spans, tf.Tensor]:
        """Finds a question's best spans with distinct texts.

        `find_spans(begin, end)` returns the Spans of windows. The question's
        windows have the indices `begin` to `end` - 1, int32.

        Returns:
            (Spans [B], their texts, string [B]), best first. B may be 0.
        """

        def add_windows(
            window: tf.Tensor, nbest: Spans, texts: tf.Tensor
        ) -> tuple[tf.Tensor, Spans, tf.Tensor]:
            following = tf.minimum(window + _WINDOWS_AT_A_TIME, end)
            # Sort the best spans first. Ties keep their order.
            spans = sort(find_spans(window, following))
            spans = alignment.remove_repeated(spans)
            return following, *self._merge(spans, nbest, texts, alignment)

        nothing = tf.zeros([0], tf.int64), tf.zeros([0], tf.float64)
        _, nbest, texts = tf.while_loop(
            lambda window, *_: window < end,
            add_windows,
            (
                begin,
                Spans(nothing[0], nothing[0], nothing[1], nothing[1]),
                tf.zeros([0], tf.string),
            ),
            shape_invariants=(tf.TensorShape([]), *_NBEST_SHAPES),
        )
        return nbest, texts

    def _merge(
        self, spans: Spans, nbest: Spans, texts: tf.Tensor, alignment: Alignment
    ) -> tuple[Spans, tf.Tensor]:
        """Merges the spans of more windows into the n best.

        `nbest` are the best spans of earlier windows, and `texts`, string [B],
        their distinct texts. Both Spans are sorted, best first. Returns the
        updated (nbest, texts).
        """
        num_spans = tf.size(spans.starts)
        # Append -inf, so that the index after the last span is valid.
        scores = tf.concat([spans.scores, [-np.inf]], 0)

        def may_improve(
            begin: tf.Tensor, nbest: Spans, texts: tf.Tensor
        ) -> tf.Tensor:
            # Create texts only for spans that may still be among the best.
            worst = tf.reduce_min(nbest.scores)
            return (begin < num_spans) & (
                (tf.size(texts) < self.options.n_best_size)
                | (scores[tf.minimum(begin, num_spans)] > worst)
            )

        def add_spans(
            begin: tf.Tensor, nbest: Spans, texts: tf.Tensor
        ) -> tuple[tf.Tensor, Spans, tf.Tensor]:
            following = tf.minimum(begin + self.options.n_best_size, num_spans)
            more = spans.gather(tf.range(begin, following))
            added = alignment.find_texts(more)
            nbest, texts = nbest.concat(more), tf.concat([texts, added], 0)
            order = order_by_score(nbest)
            firsts, _ = first_of_equals(tf.gather(texts, order))
            order = tf.gather(order, firsts[: self.options.n_best_size])
            return following, nbest.gather(order), tf.gather(texts, order)

        _, nbest, texts = tf.while_loop(
            may_improve,
            add_spans,
            (0, nbest, texts),
            shape_invariants=(tf.TensorShape([]), *_NBEST_SHAPES),
        )
        return nbest, texts

    def _add_null(
        self, nbest: Spans, texts: tf.Tensor, null: Spans
    ) -> tuple[Spans, tf.Tensor]:
        """Inserts "no answer" into the n-best list, sorted by score."""
        if self.options.version_2_with_negative:
            nbest, texts = nbest.concat(null), tf.concat([texts, [""]], 0)
            order = order_by_score(nbest)
            # Keep "no answer" in the list, whatever its score.
            is_last = order[-1] == tf.size(order) - 1
            order = order[
                : self.options.n_best_size + tf.cast(is_last, tf.int32)
            ]
            return nbest.gather(order), tf.gather(texts, order)
        # Google's code returns the text "empty" if it finds no answer.
        added = tf.range(tf.cast(tf.size(texts) == 0, tf.int32))
        null = null._replace(
            start_logits=tf.zeros([1], tf.float64),
            end_logits=tf.zeros([1], tf.float64),
        )
        return (
            nbest.concat(null.gather(added)),
            tf.concat([texts, tf.gather(["empty"], added)], 0),
        )

    def _answer(
        self,
        nbest: Spans,
        texts: tf.Tensor,
        null_score: tf.Tensor,
        alignment: Alignment,
    ) -> dict[str, tf.Tensor]:
        """Returns the outputs that `_specs` lists, for one question.

        `chosen` is the index of the answer in the n-best list.
        """
        probabilities = tf.nn.softmax(nbest.scores)
        start_bytes, end_bytes = alignment.find_bytes(nbest)
        is_answer = nbest.starts >= 0
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
        padding = [[0, self.options.n_best_size + 1 - tf.size(texts)]]
        return {
            "chosen": chosen,
            "null_odds": null_odds,
            "nbest_texts": tf.pad(texts, padding, constant_values=""),
            "nbest_probabilities": tf.pad(probabilities, padding),
            "nbest_start_logits": tf.pad(nbest.start_logits, padding),
            "nbest_end_logits": tf.pad(nbest.end_logits, padding),
            "nbest_start_bytes": tf.pad(
                start_bytes, padding, constant_values=-1
            ),
            "nbest_end_bytes": tf.pad(end_bytes, padding, constant_values=-1),
            "nbest_sizes": tf.size(texts),
        }


_NBEST_SHAPES = (Spans(*[tf.TensorShape([None])] * 4), tf.TensorShape([None]))


def _first_true(values: tf.Tensor) -> tf.Tensor:
    """Returns the index, int32, of the first true value, or the last index."""
    last = tf.size(values) - 1
    return tf.reduce_min(tf.where(values, tf.range(last + 1), last))
