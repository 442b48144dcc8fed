"""What a `TextEngine` reads of the settings of its head."""

import pytest

from serving.text_tasks.answer import parse_span_labeler_head
from serving.text_tasks.export_reading import create_text_engine
from tests.support.serving.stub_engines import NumpyEngine


def create_without_tokenizer(engine, parse_head=dict, **settings):
    """Returns a TextEngine without a tokenizer."""
    settings = {"max_seq_length": 64} | settings
    return create_text_engine(engine, None, settings, parse_head)


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


def test_a_head_has_inputs_as_long_as_its_engine():
    text_engine = create_without_tokenizer(
        NumpyEngine(fixed_length=32), labels=["no", "yes"]
    )
    assert text_engine.head == {"max_seq_length": 32, "labels": ["no", "yes"]}


def test_inputs_that_are_too_short_for_a_question_are_refused():
    engine = NumpyEngine(fixed_length=32)
    with pytest.raises(ValueError, match="max_query_length=40"):
        create_without_tokenizer(
            engine, parse_span_labeler_head, max_query_length=40
        )
