"""How the calls of a batch are computed together, in turns.

Which calls form a batch is tested in tests/serving/http/test_call_queue.py.
"""

import pytest

pytest.importorskip("fastapi", reason="needs requirements/serve.txt")

from serving.http.call_queue import CallBatch
from serving.http.errors import HttpError
from tests.support.serving.echo_models import (
    EchoEngine,
    EchoModel,
    create_call,
)


def test_a_text_of_a_call_that_is_not_a_string_is_named_by_its_number():
    with pytest.raises(HttpError, match=r"^text 2: 'text' must be a string"):
        create_call("a", 5)


@pytest.mark.parametrize("texts", [["a"] * 33, ["a" * 4097]])
def test_a_call_beyond_the_limits_is_long(texts):
    assert create_call(*texts).is_long
    assert not create_call("a").is_long


def test_each_call_of_a_batch_gets_its_own_replies():
    calls = [create_call("a"), create_call("b", "c")]
    batch = CallBatch(calls)
    batch.run(EchoModel(EchoEngine()).loaded_export, seconds=60)
    assert batch.is_computed
    batch.finish()
    replies = [call.future.result() for call in calls]
    assert replies == [
        [b'{"text": "a"}'],
        [b'{"text": "b"}', b'{"text": "c"}'],
    ]


def test_a_batch_without_time_left_runs_one_slice_at_a_turn():
    engine = EchoEngine()
    batch = CallBatch([create_call("a", "b")])
    loaded_export = EchoModel(engine).loaded_export
    # Two slices encode the texts, and two compute them.
    for _ in range(4):
        batch.run(loaded_export, seconds=-1)
        assert not batch.is_computed
    assert engine.computed == ["a", "b"]
    batch.run(loaded_export, seconds=-1)
    assert batch.is_computed


def compute_reply(text, engine):
    """Returns the JSON text of the reply to a text."""
    call = create_call(text)
    batch = CallBatch([call])
    batch.run(EchoModel(engine).loaded_export, seconds=60)
    batch.finish()
    (reply,) = call.future.result()
    return reply


def test_a_reply_is_json_in_utf_8():
    reply = compute_reply("é", EchoEngine())
    assert reply == '{"text": "é"}'.encode()


def test_half_of_a_pair_of_surrogates_becomes_a_question_mark():
    engine = EchoEngine(output_of=lambda _: "\ud800")
    assert compute_reply("a", engine) == b'{"text": "?"}'
