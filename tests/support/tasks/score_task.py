"""Defines a task whose answers need no network, and the model that it asks.

For example:

    loaded_model = create_model_stub(lambda inputs, **_: [{0: []}])
    Asker(loaded_model, PARSE_NUMBER_TASK).ask([{"text": "1.5"}])
"""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from serving.text_tasks import text_task
from serving.text_tasks.request_fields import Field

# Returns the number in a text.
PARSE_NUMBER_TASK = text_task.TextTask(
    "score",
    lambda loaded_model, request: text_task.EncodedRequest([], request["text"]),
    lambda loaded_model, text, *_: {"score": float(text)},
    [Field("text")],
)


def create_model_stub(run_all: Callable[..., Any]) -> SimpleNamespace:
    """Returns a model for the task, whose engine computes with a function."""
    engine = SimpleNamespace(run_all=run_all)
    return SimpleNamespace(engine=engine, max_seq_length=8, needs_padding=False)
