"""Spans of tokens that may answer a question, one rule at a time.

test_answer_decoding_golden.py compares the answers with Google's.
"""

import dataclasses

import pytest

from data.squad.passage_windows import SquadFeatures
from data.squad.squad_options import DecodingOptions
from data.squad.token_spans import (
    NULL_ODDS_WITHOUT_ANSWER,
    RawResult,
    list_spans,
)

LENGTH = 8
# The passage is at the positions 2 to 6 of the window.
WINDOW = SquadFeatures(
    unique_id=7,
    example_index=0,
    doc_span_index=0,
    tokens=["[CLS]", "[SEP]", "a", "b", "c", "d", "e", "[SEP]"],
    token_to_orig_map={position: position - 2 for position in range(2, 7)},
    token_is_max_context=dict.fromkeys(range(2, 7), True),
    input_ids=[],
    input_mask=[],
    segment_ids=[],
)


def logits_of(values, length=LENGTH):
    """Returns the logits of a window, 0 at all positions but these."""
    return [values.get(position, 0.0) for position in range(length)]


def find_places(starts, ends, window=WINDOW, length=LENGTH, **options):
    """Returns the (first, last) positions of the spans of a window."""
    result = RawResult(7, logits_of(starts, length), logits_of(ends, length))
    options = DecodingOptions(**{"n_best_size": 2} | options)
    spans, _, _ = list_spans([window], {7: result}, options)
    return [(span.first, span.last) for span in spans]


def test_the_best_starts_and_ends_are_combined():
    places = find_places({2: 3.0, 3: 2.0}, {4: 3.0, 5: 2.0})
    assert places == [(2, 4), (2, 5), (3, 4), (3, 5)]


def test_a_span_does_not_end_before_it_starts():
    assert find_places({4: 3.0, 2: 2.0}, {3: 3.0, 5: 2.0}) == [
        (4, 5),
        (2, 3),
        (2, 5),
    ]


def test_a_span_may_be_one_token():
    assert find_places({4: 3.0}, {4: 3.0}, n_best_size=1) == [(4, 4)]


def test_a_span_has_at_most_max_answer_length_tokens():
    starts, ends = {4: 3.0, 2: 2.0}, {5: 3.0, 4: 2.0}
    places = find_places(starts, ends, max_answer_length=3)
    assert places == [(4, 5), (4, 4), (2, 4)]


@pytest.mark.parametrize("outside", [0, 1, 7])
def test_a_span_lies_in_the_passage(outside):
    ends = {outside: 3.0, 4: 2.0}
    starts = {outside: 3.0, 3: 2.0}
    assert find_places(starts, ends) == [(3, 4)]


def test_a_span_starts_where_the_window_has_the_most_context():
    window = dataclasses.replace(WINDOW, token_is_max_context={3: True})
    places = find_places({2: 3.0, 3: 2.0}, {4: 3.0}, window, n_best_size=2)
    assert {start for start, _ in places} == {3}


@pytest.mark.parametrize(
    ("trim_padding", "places"), [(True, [(2, 2)]), (False, [])]
)
def test_padding_takes_the_place_of_a_span_unless_it_is_trimmed(
    trim_padding, places
):
    in_padding = {9: 3.0, 2: 2.0}
    found = find_places(
        in_padding,
        in_padding,
        length=10,
        n_best_size=1,
        trim_padding=trim_padding,
    )
    assert found == places


def test_no_answer_is_in_the_window_where_cls_scores_lowest():
    other = dataclasses.replace(WINDOW, unique_id=8)
    high, low = logits_of({0: 2.0}), logits_of({0: -1.0})
    results = {7: RawResult(7, high, high), 8: RawResult(8, low, high)}
    _, null, null_score = list_spans(
        [WINDOW, other], results, DecodingOptions()
    )
    assert null.feature is other
    assert null_score == null.score == 1.0


def test_a_question_without_windows_has_no_span():
    spans, null, null_score = list_spans([], {}, DecodingOptions())
    assert spans == []
    assert null.feature is None
    assert null_score == NULL_ODDS_WITHOUT_ANSWER
