"""The lengths of a loaded model's inputs, and its labels."""

import pytest

from serving.text_tasks.loaded_model import create_loaded_model
from tests.support.serving.stub_engines import NumpyEngine

SETTINGS = {"max_seq_length": 64, "labels": ["no", "yes"]}


def load_without_tokenizer(engine, **changes):
    """Returns a model without a tokenizer."""
    return create_loaded_model(engine, None, SETTINGS | changes)


@pytest.mark.parametrize(
    ("fixed_length", "longest"), [(None, 64), (32, 32), (128, 64)]
)
def test_inputs_are_as_long_as_settings_and_engine_allow(fixed_length, longest):
    model = load_without_tokenizer(NumpyEngine(fixed_length))
    assert model.max_seq_length == longest
    assert model.settings["max_seq_length"] == longest


@pytest.mark.parametrize(
    ("changes", "needs_padding"),
    [
        ({}, False),
        ({"trim_padding": True}, False),
        ({"trim_padding": False}, True),
    ],
)
def test_only_a_model_that_reads_padding_pads_all_inputs(
    changes, needs_padding
):
    model = load_without_tokenizer(NumpyEngine(), **changes)
    assert model.needs_padding == needs_padding


def test_a_model_has_the_labels_of_its_settings():
    assert load_without_tokenizer(NumpyEngine()).labels == ["no", "yes"]


def test_a_model_without_labels_has_an_empty_list():
    assert load_without_tokenizer(NumpyEngine(), labels=None).labels == []


def test_a_warm_up_runs_each_length_once():
    engine = NumpyEngine()
    load_without_tokenizer(engine).warm_up()
    lengths = [8, 16, 24, 32, 40, 48, 56, 64]
    assert engine.shapes == [(1, length) for length in lengths]
