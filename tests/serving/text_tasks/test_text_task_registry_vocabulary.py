"""The vocabulary of an export is the one that its model was trained with."""

import types

import pytest

from serving.text_tasks.text_task_registry import read_tokenizer
from tests.support.paths import SAMPLES


@pytest.mark.parametrize("recorded", [{}, {"tokenizer": {}}])
def test_a_vocabulary_without_a_recorded_one_is_accepted(recorded):
    preset = types.SimpleNamespace(
        do_lower_case=True, training_settings=recorded
    )
    assert read_tokenizer(SAMPLES, preset).do_lower_case


def test_another_vocabulary_than_the_recorded_one_is_refused():
    preset = types.SimpleNamespace(
        do_lower_case=True, training_settings={"tokenizer": {"vocab": "other"}}
    )
    with pytest.raises(ValueError, match="is not the vocabulary"):
        read_tokenizer(SAMPLES, preset)
