"""Spans of windows that may be answers, one rule at a time.

test_answer_decoding_graph.py compares answers to whole data sets with Google's.
"""

import numpy as np
import pytest
import tensorflow as tf

from data.squad import passage_windows_graph, token_spans_graph
from data.squad.squad_options import WindowOptions
from data.squad.token_spans import NULL_ODDS_WITHOUT_ANSWER
from data.text import tokenization
from tests.support.paths import ROOT

VOCAB = ROOT / "tests/testdata/golden/vocab/uncased.txt"
# [CLS], the question's one WordPiece and [SEP] precede a window.
FIRST = 3


def question_about(passage, starts, ends, max_seq_length=32):
    """Returns the windows of a question, and its passage.

    `starts` and `ends` are {position in an input: logit}, the same in each
    window.
    """
    windows, passages = passage_windows_graph.create_windows(
        tokenization.FullTokenizer(VOCAB).layer,
        WindowOptions(max_seq_length, max_query_length=1, doc_stride=3),
        tf.constant(["?"]),
        tf.constant([passage]),
    )
    num_windows = windows.text_indices.shape[0]

    def repeat(values, dtype):
        return tf.constant([[*values]] * num_windows, dtype)

    question = token_spans_graph.QuestionWindows(
        start=tf.constant(0, tf.int64),
        end=tf.constant(num_windows, tf.int64),
        windows=windows,
        best={
            "firsts": repeat(starts, tf.int16),
            "lasts": repeat(ends, tf.int16),
            "start_logits": repeat(starts.values(), tf.float32),
            "end_logits": repeat(ends.values(), tf.float32),
            "null_start_logits": tf.range(num_windows, dtype=tf.float32),
            "null_end_logits": tf.zeros([num_windows]),
        },
    )
    return question, passages


def find_texts(passage, starts, ends, max_answer_length=9, **options):
    question, passages = question_about(passage, starts, ends, **options)
    spans = token_spans_graph.list_spans(
        question, passages, max_answer_length, use_char_offsets=True
    )
    texts = token_spans_graph.with_texts(
        spans, tf.constant(passage), True
    ).texts
    return [text.decode() for text in texts.numpy()]


def test_spans_are_sorted_by_their_starts_then_by_their_ends():
    starts = {FIRST + 1: 2.0, FIRST: 1.0}
    ends = {FIRST + 2: 4.0, FIRST + 1: 3.0}
    assert find_texts("1 2 3 4", starts, ends) == ["2 3", "2", "1 2 3", "1 2"]


@pytest.mark.parametrize(
    ("start", "end"),
    [
        pytest.param(FIRST + 2, FIRST + 1, id="the end is before the start"),
        pytest.param(FIRST, FIRST + 3, id="longer than an answer may be"),
        pytest.param(0, FIRST, id="the start is [CLS]"),
        pytest.param(1, FIRST, id="the start is in the question"),
        pytest.param(FIRST, FIRST + 4, id="the end is [SEP]"),
        pytest.param(FIRST + 5, FIRST + 5, id="both are padding"),
    ],
)
def test_a_span_outside_the_limits_is_not_found(start, end):
    spans = find_texts("1 2 3 4", {start: 1.0}, {end: 1.0}, max_answer_length=3)
    assert spans == []


def test_a_span_starts_only_in_the_window_with_the_most_context():
    # The windows of 6 WordPieces are 1 to 6 and 4 to 9. In the second one, "4"
    # has nothing on its left.
    options = {"max_seq_length": FIRST + 6 + 1}
    passage = "1 2 3 4 5 6 7 8 9"
    at_4 = {FIRST + 3: 1.0}
    assert find_texts(passage, at_4, at_4, **options) == ["4", "7"]
    at_first = {FIRST: 1.0}
    assert find_texts(passage, at_first, at_first, **options) == ["1"]


def test_a_text_has_the_spelling_of_the_passage():
    place = {FIRST: 1.0}
    assert find_texts("\u00c9. 2", place, place) == ["\u00c9"]


def test_no_answer_is_the_cls_with_the_lowest_score():
    passage = "1 2 3 4 5 6 7 8 9"
    question, _ = question_about(passage, {0: 1.0}, {0: 1.0}, FIRST + 7)
    null, score = token_spans_graph.choose_null_span(question)
    assert float(score) == 0.0
    assert null.start_bytes.numpy().tolist() == [-1]
    assert null.scores.numpy().tolist() == [0.0]


def test_without_a_window_no_answer_has_the_highest_score():
    question, _ = question_about("1", {0: 1.0}, {0: 1.0})
    none = question._replace(end=question.start)
    null, score = token_spans_graph.choose_null_span(none)
    assert float(score) == NULL_ODDS_WITHOUT_ANSWER
    assert null.scores.numpy().tolist() == [0.0]


def test_equal_scores_keep_their_order():
    logits = tf.constant([1.0, 3.0, 1.0, 3.0], tf.float64)
    zeros = tf.zeros([4], tf.int32)
    spans = token_spans_graph.Spans(
        logits, logits, zeros, zeros, tf.fill([4], "")
    )
    order = token_spans_graph.order_by_score(spans)
    np.testing.assert_array_equal(order, [1, 3, 0, 2])


def test_the_first_of_equal_texts_is_found():
    firsts = token_spans_graph.list_first_occurrences(
        tf.constant(["b", "a", "b", "c", "a"])
    )
    np.testing.assert_array_equal(firsts, [0, 1, 3])
