"""What is read of an export: its vocabulary, and the settings of its head."""

import types

import pytest

from model_folders.kinds import ModelClass
from model_folders.training_settings import TrainingSettings
from serving.text_tasks.export_reading import (
    create_loaded_export,
    read_export_tokenizer,
)
from tests.support.paths import SAMPLES
from tests.support.serving.stub_engines import NumpyEngine


@pytest.mark.parametrize("recorded", [{}, {"tokenizer": {}}])
def test_a_vocabulary_without_a_recorded_one_is_accepted(recorded):
    preset = types.SimpleNamespace(
        folder=SAMPLES,
        do_lower_case=True,
        training_settings=TrainingSettings(inputs=recorded),
    )
    assert read_export_tokenizer(preset).do_lower_case


def test_another_vocabulary_than_the_recorded_one_is_refused():
    preset = types.SimpleNamespace(
        folder=SAMPLES,
        do_lower_case=True,
        training_settings=TrainingSettings(
            inputs={"tokenizer": {"vocab": "other"}}
        ),
    )
    with pytest.raises(ValueError, match="is not the vocabulary"):
        read_export_tokenizer(preset)


def create_without_tokenizer(engine, **settings):
    """Returns the LoadedExport of a span labeler, without a tokenizer."""
    settings = {"max_seq_length": 64, "max_query_length": 16} | settings
    return create_loaded_export(engine, None, ModelClass.SPAN_LABELER, settings)


@pytest.mark.parametrize(
    ("fixed_length", "longest"), [(None, 64), (32, 32), (128, 64)]
)
def test_inputs_are_as_long_as_settings_and_engine_allow(fixed_length, longest):
    loaded_export = create_without_tokenizer(NumpyEngine(fixed_length))
    assert loaded_export.max_seq_length == longest


@pytest.mark.parametrize(
    ("changes", "trims_padding"),
    [
        ({}, True),
        ({"trim_padding": True}, True),
        ({"trim_padding": False}, False),
    ],
)
def test_only_an_engine_that_reads_padding_pads_all_inputs(
    changes, trims_padding
):
    loaded_export = create_without_tokenizer(NumpyEngine(), **changes)
    assert loaded_export.trims_padding == trims_padding


def test_a_head_has_inputs_as_long_as_its_engine():
    loaded_export = create_without_tokenizer(NumpyEngine(fixed_length=32))
    assert loaded_export.head.windows.max_seq_length == 32
    assert loaded_export.head.windows.max_query_length == 16


def test_inputs_that_are_too_short_for_a_question_are_refused():
    engine = NumpyEngine(fixed_length=32)
    with pytest.raises(ValueError, match="max_query_length=40"):
        create_without_tokenizer(engine, max_query_length=40)
