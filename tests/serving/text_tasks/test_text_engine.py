"""What a `TextEngine` reads of the settings of its head."""

import pytest

from serving.text_tasks.text_engine import create_text_engine
from tests.support.serving.stub_engines import NumpyEngine

SETTINGS = {"max_seq_length": 64, "labels": ["no", "yes"]}


def create_without_tokenizer(engine, model_class="BertClassifier", **changes):
    """Returns a TextEngine without a tokenizer."""
    return create_text_engine(engine, None, model_class, SETTINGS | changes)


@pytest.mark.parametrize(
    ("fixed_length", "longest"), [(None, 64), (32, 32), (128, 64)]
)
def test_inputs_are_as_long_as_settings_and_engine_allow(fixed_length, longest):
    text_engine = create_without_tokenizer(NumpyEngine(fixed_length))
    assert text_engine.max_seq_length == longest


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
    text_engine = create_without_tokenizer(NumpyEngine(), **changes)
    assert text_engine.trims_padding == trims_padding


def test_an_engine_has_the_labels_of_its_settings():
    assert create_without_tokenizer(NumpyEngine()).labels == ["no", "yes"]


def test_an_engine_without_labels_has_an_empty_list():
    assert create_without_tokenizer(NumpyEngine(), labels=None).labels == []


def test_a_span_labeler_has_windows_as_long_as_its_inputs():
    text_engine = create_without_tokenizer(
        NumpyEngine(fixed_length=32), "BertSpanLabeler", max_query_length=8
    )
    windows = text_engine.required_answer_setup.windows
    assert windows.max_seq_length == 32
    assert windows.max_query_length == 8


def test_only_a_span_labeler_has_options_of_answers():
    text_engine = create_without_tokenizer(NumpyEngine())
    with pytest.raises(TypeError, match="span labeler"):
        _ = text_engine.required_answer_setup


def test_inputs_that_are_too_short_for_a_question_are_refused():
    engine = NumpyEngine(fixed_length=32)
    with pytest.raises(ValueError, match="max_query_length=40"):
        create_without_tokenizer(engine, "BertSpanLabeler", max_query_length=40)
