"""How calls to a model of serve.py are computed together, in turns."""

import pytest

pytest.importorskip("fastapi", reason="needs requirements/serve.txt")

from serving.http.call_batch import CallBatch
from tests.support.serving.echo_models import (
    EchoEngine,
    EchoModel,
    create_call,
)


def test_each_call_of_a_batch_gets_its_own_replies():
    calls = [create_call("a"), create_call("b", "c")]
    batch = CallBatch(calls)
    batch.run(EchoModel(EchoEngine()).loaded_model, seconds=60)
    assert batch.is_computed
    batch.finish()
    replies = [call.future.result() for call in calls]
    assert replies == [
        [b'{"text": "a"}'],
        [b'{"text": "b"}', b'{"text": "c"}'],
    ]


def test_a_turn_ends_with_the_first_step_after_its_time():
    engine = EchoEngine()
    batch = CallBatch([create_call("a", "b")])
    loaded_model = EchoModel(engine).loaded_model
    # Two steps encode the texts, and two compute them.
    for _ in range(4):
        batch.run(loaded_model, seconds=-1)
        assert not batch.is_computed
    assert engine.computed == ["a", "b"]
    batch.run(loaded_model, seconds=-1)
    assert batch.is_computed
