"""The batches of an engine, and the requests that they complete."""

import itertools

import numpy as np
import pytest

from serving import engines
from serving.engines import batching
from serving.engines.batching import NetworkInput


def create_input(length, first_id=1):
    """Returns an input of one text, with ascending ids."""
    return NetworkInput([*range(first_id, first_id + length)], length)


def plan(lengths_of_key, max_wordpieces, needs_single_rows=False):
    """Returns the batches of requests, {key: lengths of the inputs}."""
    requests = {
        key: [create_input(length) for length in input_lengths]
        for key, input_lengths in lengths_of_key.items()
    }
    limits = batching.BatchLimits((8, 16), max_wordpieces, needs_single_rows)
    return [*batching.plan_batches(requests, limits)]


def places(batch):
    """Returns (key, index of the input) of each row of a batch."""
    return [(row.key, row.input_index) for row in batch.rows]


def test_the_longest_inputs_are_batched_first():
    batches = plan({0: [3, 12], 1: [9], 2: [5]}, max_wordpieces=32)
    assert [places(batch) for batch in batches] == [
        [(0, 1), (1, 0)],
        [(2, 0), (0, 0)],
    ]


def test_inputs_of_one_length_keep_the_order_of_the_requests():
    (batch,) = plan({7: [4], 2: [4, 4], 5: [4]}, max_wordpieces=64)
    assert places(batch) == [(7, 0), (2, 0), (2, 1), (5, 0)]


def test_a_batch_is_padded_to_the_shortest_length_that_fits():
    batches = plan({0: [9], 1: [8]}, max_wordpieces=16)
    assert [batch.length for batch in batches] == [16, 8]


def test_a_batch_counts_the_padding_as_wordpieces():
    batches = plan({0: [5] * 5}, max_wordpieces=16)
    assert [len(batch.rows) for batch in batches] == [2, 2, 1]


def test_an_input_above_the_limit_is_a_batch_of_its_own():
    batches = plan({0: [16, 16]}, max_wordpieces=8)
    assert [places(batch) for batch in batches] == [[(0, 0)], [(0, 1)]]


def test_single_rows_are_batches_of_one():
    batches = plan({0: [5, 5]}, max_wordpieces=64, needs_single_rows=True)
    assert [places(batch) for batch in batches] == [[(0, 0)], [(0, 1)]]


def test_without_requests_there_are_no_batches():
    assert plan({}, max_wordpieces=64) == []


def test_a_batch_is_padded_after_its_wordpieces():
    inputs = [NetworkInput([5, 6, 7], 3), NetworkInput([8], 1)]
    features = engines.pad_batch(inputs, 4)
    assert features["input_ids"].tolist() == [[5, 6, 7, 0], [8, 0, 0, 0]]
    assert features["input_mask"].tolist() == [[1, 1, 1, 0], [1, 0, 0, 0]]


def test_only_the_second_text_of_a_pair_is_segment_1():
    features = engines.pad_batch([NetworkInput([5, 6, 7], 1)], 4)
    assert features["segment_ids"].tolist() == [[0, 1, 1, 0]]


def test_features_are_int32():
    features = engines.pad_batch([create_input(3)], 4)
    assert {values.dtype for values in features.values()} == {np.dtype("int32")}


def test_inputs_are_padded_to_few_lengths():
    """An engine keeps memory for each length. None is beyond the positions."""
    assert batching.list_padded_lengths(30) == [8, 16, 24, 30]


def test_the_padding_of_a_long_input_is_at_most_a_quarter_of_it():
    lengths = batching.list_padded_lengths(512)
    assert len(lengths) == 20
    assert lengths[-1] == 512
    steps = itertools.pairwise(length for length in lengths if length >= 64)
    assert max(above / (below + 1) for below, above in steps) < 1.25


def collect(collector, batch, values):
    """Adds the values of a batch, one for each row, as its outputs."""
    return collector.add_batch(batch.rows, {"score": np.array(values)})


@pytest.fixture
def two_batches():
    """Requests 0, of a short and a long input, and 1, in two batches."""
    requests = {0: [create_input(3), create_input(12)], 1: [create_input(9)]}
    limits = batching.BatchLimits([8, 16], max_wordpieces=32)
    batches = batching.plan_batches(requests, limits)
    return batching.OutputCollector(requests), [*batches]


def test_a_request_is_returned_with_the_batch_that_completes_it(two_batches):
    collector, (long_inputs, short_inputs) = two_batches
    assert collect(collector, long_inputs, [0.5, 0.25]) == {
        1: [{"score": 0.25}]
    }
    assert [*collect(collector, short_inputs, [0.75])] == [0]


def test_outputs_are_in_the_order_of_the_inputs(two_batches):
    collector, (long_inputs, short_inputs) = two_batches
    collect(collector, long_inputs, [0.5, 0.25])
    assert collect(collector, short_inputs, [0.75]) == {
        0: [{"score": 0.75}, {"score": 0.5}]
    }
