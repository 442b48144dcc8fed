"""Requests that an engine runs together, with serving/engines/engine.py."""

import pytest

from serving import engines
from serving.engines.batching import NetworkInput
from tests.support.serving.stub_engines import NumpyEngine

ONE_TEXT = {0: [NetworkInput([4, 5], 2)]}
# A network that outputs so many values runs 16 WordPieces at a time.
MANY_VALUES = 1 << 20


def run_all(engine, requests, **changes):
    """Returns what an engine yields after each batch."""
    limits = engine.batch_limits(16, **{"trims_padding": True} | changes)
    return [*engine.run_all(requests, limits)]


def test_each_request_gets_the_outputs_of_its_inputs():
    requests = {
        3: [NetworkInput([1, 2], 2), NetworkInput([9] * 10, 10)],
        5: [NetworkInput([7], 1)],
    }
    steps = run_all(NumpyEngine(), requests, values_per_wordpiece=MANY_VALUES)
    assert steps == [
        {},
        {3: [{"ids_sum": 3}, {"ids_sum": 90}], 5: [{"ids_sum": 7}]},
    ]


def test_a_request_without_inputs_is_complete_before_any_batch():
    engine = NumpyEngine()
    limits = engine.batch_limits(16, trims_padding=True)
    steps = engine.run_all({1: [], **ONE_TEXT}, limits)
    assert next(steps) == {1: []}
    assert not engine.batches


def test_inputs_are_padded_to_the_fixed_length_of_a_network():
    engine = NumpyEngine(fixed_length=12)
    run_all(engine, ONE_TEXT)
    assert engine.shapes == [(1, 12)]


def test_inputs_are_padded_to_the_maximum_for_a_model_that_needs_it():
    engine = NumpyEngine()
    run_all(engine, ONE_TEXT, trims_padding=False)
    assert engine.shapes == [(1, 16)]


def test_inputs_are_padded_to_the_next_length_otherwise():
    engine = NumpyEngine()
    run_all(engine, ONE_TEXT)
    assert engine.shapes == [(1, 8)]


def test_a_network_with_many_outputs_gets_smaller_batches():
    engine = NumpyEngine()
    requests = {key: [NetworkInput([4, 5], 2)] for key in range(4)}
    run_all(engine, requests, values_per_wordpiece=MANY_VALUES)
    assert engine.shapes == [(2, 8), (2, 8)]


def test_the_engine_runs_one_row_at_a_time_if_the_network_needs_it():
    engine = NumpyEngine(needs_single_rows=True)
    run_all(engine, {0: [NetworkInput([4], 1)] * 2})
    assert engine.shapes == [(1, 8), (1, 8)]


@pytest.mark.parametrize("padded_length", [6, 8, 16])
def test_padded_inputs_get_the_padding_of_requests(padded_length):
    engine = NumpyEngine()
    limits = engine.batch_limits(16, trims_padding=True)
    features = engines.pad_batch(
        [NetworkInput([4, 5], 2), NetworkInput([6], 1)], padded_length
    )
    outputs = engine.run_padded(features, limits)
    assert engine.shapes == [(2, 8)]
    assert outputs["ids_sum"].tolist() == [9, 6]


def test_an_input_of_several_texts_keeps_its_axes():
    engine = NumpyEngine()
    limits = engine.batch_limits(16, trims_padding=True)
    features = {
        name: values.reshape(1, 2, 10)
        for name, values in engines.pad_batch(
            [NetworkInput([4, 5], 2)] * 2, 10
        ).items()
    }
    engine.run_padded(features, limits)
    assert engine.shapes == [(1, 2, 8)]


def test_a_batch_without_rows_is_refused():
    with pytest.raises(ValueError, match="at least one row"):
        NumpyEngine().run(engines.pad_batch([], 8))
