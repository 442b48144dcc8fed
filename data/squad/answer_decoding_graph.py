"""Turns start and end logits into SQuAD's answers with TensorFlow operations.

An exported model runs the graph without Python. `SquadDecoder` chooses the same
answers as `decode_predictions` in data/squad/answer_decoding.py, even if
several candidates have equal scores or a question has no candidate.
test_answer_decoding_graph.py compares the two.

N = questions, W = windows, T = length of a window, S = spans, B = answers in
an n-best list.
"""

import functools
from typing import NamedTuple, TypedDict

import tensorflow as tf

from data.squad.passage_windows_graph import Passages
from data.squad.squad_options import DecodingOptions
from data.squad.token_spans import NULL_ODDS_WITHOUT_ANSWER
from data.squad.token_spans_graph import (
    BestLogits,
    QuestionWindows,
    Spans,
    choose_null_span,
    list_first_occurrences,
    list_spans,
    order_by_score,
    with_texts,
)
from data.text.token_windows_graph import Windows


class NbestLists(TypedDict):
    """The n-best lists of N questions. B = `options.n_best_size` + 1.

    Attributes:
        null_odds: float64 [N], score of no answer minus the score of the best
            answer.
        nbest_sizes: int32 [N], length of each n-best list.
        nbest_texts: string [N, B], padded with "".
        nbest_probabilities: float64 [N, B], softmax of the scores in each list,
            padded with 0.
        nbest_start_logits: float64 [N, B], padded with 0.
        nbest_end_logits: float64 [N, B], padded with 0.
        nbest_start_bytes: int32 [N, B], each answer's first byte in the
            passage, or -1 for no answer. Padded with -1.
        nbest_end_bytes: int32 [N, B], the byte after each answer's last byte,
            or -1 for no answer. Padded with -1.
    """

    null_odds: tf.Tensor
    nbest_sizes: tf.Tensor
    nbest_texts: tf.Tensor
    nbest_probabilities: tf.Tensor
    nbest_start_logits: tf.Tensor
    nbest_end_logits: tf.Tensor
    nbest_start_bytes: tf.Tensor
    nbest_end_bytes: tf.Tensor


class DecodedAnswers(NbestLists):
    """The predicted answers to N questions, and their n-best lists.

    Attributes:
        answer: string [N].
        probability: float64 [N], the answer's probability in the n-best list.
        start_byte: int32 [N], the answer's first byte in the passage, or -1 for
            no answer.
        end_byte: int32 [N], the byte after its last byte, or -1 for no answer.
    """

    answer: tf.Tensor
    probability: tf.Tensor
    start_byte: tf.Tensor
    end_byte: tf.Tensor


class _SelectedLogits(NamedTuple):
    """The highest logits of W windows.

    Attributes:
        logits: float [W, B], highest first.
        positions: int16 [W, B], their positions in the input.
        null_logits: float [W], logit of [CLS].
    """

    logits: tf.Tensor
    positions: tf.Tensor
    null_logits: tf.Tensor


class SquadDecoder:
    """Turns the start and end logits of windows into answers to questions.

    Args:
        options: how to choose answers. `verbose_logging` has no effect.
        use_char_offsets: True to cut answers out of the passage at the
            characters of their first and last token. False to map answers back
            to the passage as in Google's code.
    """

    def __init__(
        self, options: DecodingOptions, use_char_offsets: bool = False
    ) -> None:
        self.options = options
        self.use_char_offsets = use_char_offsets

    def select_best_logits(
        self, start_logits: tf.Tensor, end_logits: tf.Tensor
    ) -> BestLogits:
        """Selects the highest logits of each window.

        Both arguments are float [W, T]. B is `options.n_best_size`, or T for
        shorter windows.
        """
        start = self._select_highest(start_logits)
        end = self._select_highest(end_logits)
        return {
            "start_logits": start.logits,
            "firsts": start.positions,
            "null_start_logits": start.null_logits,
            "end_logits": end.logits,
            "lasts": end.positions,
            "null_end_logits": end.null_logits,
        }

    def _select_highest(self, logits: tf.Tensor) -> _SelectedLogits:
        logits = tf.convert_to_tensor(logits)
        num_best = tf.minimum(self.options.n_best_size, tf.shape(logits)[1])
        # Store positions as int16, which need half the memory of int32, because
        # there may be many windows.
        highest, positions = tf.math.top_k(
            logits, num_best, index_type=tf.int16
        )
        # [CLS] is the first token of an input.
        cls_logits = logits[:, 0]
        return _SelectedLogits(highest, positions, cls_logits)

    def __call__(
        self,
        windows: Windows,
        passages: Passages,
        best: BestLogits,
        question_indices: tf.Tensor | None = None,
    ) -> DecodedAnswers:
        """Returns the answers to N questions.

        Args:
            windows: windows of all questions, as `create_windows` returns them.
            passages: the passage of each question.
            best: result of `select_best_logits` for all windows.
            question_indices: int32 [N], the questions to answer. None for all.
        """
        if question_indices is None:
            question_indices = tf.range(tf.size(passages.contexts))
        # Answer one question at a time, to limit memory.
        answers: tuple[tf.Tensor, NbestLists] = tf.map_fn(
            functools.partial(self._decode_question, windows, passages, best),
            question_indices,
            fn_output_signature=(
                tf.TensorSpec([], tf.int32),
                self._nbest_specs(),
            ),
            parallel_iterations=1,
        )
        chosen_indices, lists = answers
        return {
            **lists,
            "answer": _select_each(lists["nbest_texts"], chosen_indices),
            "probability": _select_each(
                lists["nbest_probabilities"], chosen_indices
            ),
            "start_byte": _select_each(
                lists["nbest_start_bytes"], chosen_indices
            ),
            "end_byte": _select_each(lists["nbest_end_bytes"], chosen_indices),
        }

    def _nbest_specs(self) -> dict[str, tf.TensorSpec]:
        """Returns the specs of `NbestLists` for one question."""
        size = self.options.n_best_size + 1
        return {
            "null_odds": tf.TensorSpec([], tf.float64),
            "nbest_sizes": tf.TensorSpec([], tf.int32),
            "nbest_texts": tf.TensorSpec([size], tf.string),
            "nbest_probabilities": tf.TensorSpec([size], tf.float64),
            "nbest_start_logits": tf.TensorSpec([size], tf.float64),
            "nbest_end_logits": tf.TensorSpec([size], tf.float64),
            "nbest_start_bytes": tf.TensorSpec([size], tf.int32),
            "nbest_end_bytes": tf.TensorSpec([size], tf.int32),
        }

    def _decode_question(
        self,
        windows: Windows,
        passages: Passages,
        best: BestLogits,
        question_index: tf.Tensor,
    ) -> tuple[tf.Tensor, NbestLists]:
        """Answers one question. Returns what `_choose_answer` returns."""
        bounds = tf.cast([question_index, question_index + 1], tf.int64)
        start, end = tf.unstack(tf.searchsorted(windows.text_indices, bounds))
        question = QuestionWindows(start, end, windows, best)
        nbest, null_score = self._create_nbest(
            question, passages, question_index
        )
        return self._choose_answer(nbest, null_score)

    def _create_nbest(
        self,
        question: QuestionWindows,
        passages: Passages,
        question_index: tf.Tensor,
    ) -> tuple[Spans, tf.Tensor]:
        """Returns a question's n-best list, and the score of no answer."""
        spans = list_spans(
            question,
            passages,
            self.options.max_answer_length,
            self.use_char_offsets,
        )
        null, null_score = choose_null_span(question)
        nbest = self._with_distinct_texts(
            spans.gather(order_by_score(spans)),
            passages.contexts[question_index],
        )
        return self._with_null(nbest, null), null_score

    def _with_distinct_texts(self, spans: Spans, context: tf.Tensor) -> Spans:
        """Returns the first `n_best_size` spans with distinct texts.

        `spans` are sorted, best first, and lack their texts. `context` is their
        passage, string []. For example, the first three distinct of the texts
        "a boat", "boat", "a boat", "a" and "the" are those of the first, the
        second and the fourth span.
        """
        num_spans = tf.size(spans.texts)
        num_best = self.options.n_best_size

        def needs_more(num_read: tf.Tensor, nbest: Spans) -> tf.Tensor:
            return (num_read < num_spans) & (tf.size(nbest.texts) < num_best)

        def add_next_spans(
            num_read: tf.Tensor, nbest: Spans
        ) -> tuple[tf.Tensor, Spans]:
            following = tf.minimum(num_read + num_best, num_spans)
            next_spans = spans.gather(tf.range(num_read, following))
            nbest = nbest.concat(
                with_texts(next_spans, context, self.use_char_offsets)
            )
            firsts = list_first_occurrences(nbest.texts)[:num_best]
            return following, nbest.gather(firsts)

        # Cut few texts at a time, until there are enough distinct ones.
        empty = spans.gather(tf.range(0))
        any_length = tf.TensorShape([None])
        _, nbest = tf.while_loop(
            needs_more,
            add_next_spans,
            (0, empty),
            shape_invariants=(
                tf.TensorShape([]),
                tf.nest.map_structure(lambda _: any_length, empty),
            ),
        )
        return nbest

    def _with_null(self, nbest: Spans, null: Spans) -> Spans:
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

    def _choose_answer(
        self, nbest: Spans, null_score: tf.Tensor
    ) -> tuple[tf.Tensor, NbestLists]:
        """Chooses the answer to one question.

        Returns (index of the predicted answer in the n-best list, the list).
        """
        is_answer = nbest.start_bytes >= 0
        best = _find_first_true(is_answer)
        has_answer = is_answer[best]
        null_odds = tf.where(
            has_answer,
            null_score - nbest.start_logits[best] - nbest.end_logits[best],
            tf.constant(NULL_ODDS_WITHOUT_ANSWER, tf.float64),
        )
        if self.options.version_2_with_negative:
            has_answer &= null_odds <= self.options.null_score_diff_threshold
        chosen_index = tf.where(has_answer, best, _find_first_true(~is_answer))
        size = tf.size(nbest.texts)
        padding = [[0, self.options.n_best_size + 1 - size]]
        probabilities = tf.nn.softmax(nbest.scores)

        def pad(values: tf.Tensor, fill: str | int) -> tf.Tensor:
            return tf.pad(values, padding, constant_values=fill)

        return chosen_index, {
            "null_odds": null_odds,
            "nbest_sizes": size,
            "nbest_texts": pad(nbest.texts, ""),
            "nbest_probabilities": pad(probabilities, 0),
            "nbest_start_logits": pad(nbest.start_logits, 0),
            "nbest_end_logits": pad(nbest.end_logits, 0),
            "nbest_start_bytes": pad(nbest.start_bytes, -1),
            "nbest_end_bytes": pad(nbest.end_bytes, -1),
        }


def _select_each(values: tf.Tensor, indices: tf.Tensor) -> tf.Tensor:
    """Returns the value at the index of each row, [N].

    `values` are [N, B], and `indices`, int32 [N], are from 0 to B - 1.
    """
    selected: tf.Tensor = tf.gather(values, indices, batch_dims=1)
    return selected


def _find_first_true(values: tf.Tensor) -> tf.Tensor:
    """Returns the index of the first true value, or the last index."""
    last = tf.size(values) - 1
    return tf.reduce_min(tf.where(values, tf.range(last + 1), last))
