"""Which request and which flags each method of a model makes of its arguments.

tests/serving/test_text_model.py tests what the models answer.
"""

import pytest

from serving.text_model import TextModel
from serving.text_tasks.text_task import DEFAULT_REPLY_OPTIONS, ReplyOptions


class Recorder(TextModel):
    """Returns what a method asks: (name of the task, flags, fields)."""

    def __init__(self):
        """Loads no model."""

    def _ask(self, text_task, reply_options=DEFAULT_REPLY_OPTIONS, **fields):
        return text_task.name, reply_options, fields


@pytest.mark.parametrize(
    ("method", "arguments", "text_task_name", "fields"),
    [
        ("classify", ["a"], "classify", {"text_a": "a", "text_b": ""}),
        ("classify", ["a", "b"], "classify", {"text_a": "a", "text_b": "b"}),
        ("answer", ["a?", "b"], "answer", {"question": "a?", "context": "b"}),
        ("tag", ["a"], "tag", {"text": "a"}),
        ("fill_mask", ["a"], "fill-mask", {"text": "a"}),
        (
            "next_sentence",
            ["a", "b"],
            "next-sentence",
            {"text_a": "a", "text_b": "b"},
        ),
        ("embed", [["a", "b"]], "embed", {"text": ["a", "b"]}),
        ("rerank", ["a", ["b"]], "rerank", {"query": "a", "passages": ["b"]}),
        ("tokenize", ["a"], "tokenize", {"text_a": "a", "text_b": ""}),
    ],
)
def test_a_method_asks_by_its_task_with_its_texts(
    method, arguments, text_task_name, fields
):
    asked_name, _, asked_fields = getattr(Recorder(), method)(*arguments)
    assert asked_name == text_task_name
    assert asked_fields == fields


@pytest.mark.parametrize(
    ("method", "texts", "flags"),
    [
        ("classify", ["a"], {"min_probability": 0.5}),
        ("answer", ["a?", "b"], {"n_best": 3}),
        ("fill_mask", ["a"], {"top_k": 7}),
        ("embed", ["a"], {"tokens": True}),
    ],
)
def test_an_argument_that_is_not_a_text_is_a_flag_of_the_task(
    method, texts, flags
):
    _, reply_options, _ = getattr(Recorder(), method)(*texts, **flags)
    assert reply_options == ReplyOptions(**flags)
