"""Which calls a model of serve.py computes together, and whose turn it is.

serving/http/served_model.py computes them. What it tells about itself is tested
in tests/serving/http/test_served_model.py.
"""

import asyncio
import itertools
import json
import math
import threading

import pytest

pytest.importorskip("fastapi", reason="needs requirements/serve.txt")

from serving.http.errors import HttpError
from tests.support.serving.echo_models import (
    OTHER_TASK,
    TASK,
    EchoEngine,
    load_echo,
    submit,
)


def compute_waiting(calls, gone=()):
    """Computes calls that wait while the model computes the text "first".

    Returns the batches after the first, and the texts or the error of each
    call. The clients of the calls in `gone` do not wait anymore.
    """

    async def main():
        may_run = threading.Event()
        engine = EchoEngine(may_run.wait)
        model = load_echo(engine)
        first = submit(model, TASK, "first")
        await asyncio.sleep(0)
        cancelled = [submit(model, *call) for call in gone]
        futures = [submit(model, *call) for call in calls]
        for future in cancelled:
            future.cancel()
        may_run.set()
        await first
        result = await asyncio.gather(*futures, return_exceptions=True)
        return engine.batches[1:], result

    batches, result = asyncio.run(main())
    texts = [
        [json.loads(reply)["text"] for reply in replies]
        if isinstance(replies, list)
        else replies
        for replies in result
    ]
    return batches, texts


def test_calls_of_one_task_that_wait_are_the_next_batch():
    calls = [(TASK, "a"), (OTHER_TASK, "b"), (TASK, "c"), (TASK, *["d"] * 31)]
    batches, texts = compute_waiting(calls)
    assert batches == [["a", "c"], ["b"], ["d"] * 31]
    assert texts == [["a"], ["b"], ["c"], ["d"] * 31]


def test_a_call_of_many_texts_has_its_turn_between_two_batches():
    calls = [(TASK, "a"), (OTHER_TASK, "b"), (TASK, *["e"] * 40)]
    batches, texts = compute_waiting(calls)
    assert batches.index(["e"] * 40) < 2
    assert texts == [["a"], ["b"], ["e"] * 40]


# A batch contains at most 4096 bytes of text.
@pytest.mark.parametrize(("num_bytes", "num_batches"), [(4095, 1), (4096, 2)])
def test_a_batch_has_a_limit_of_bytes(num_bytes, num_batches):
    batches, _ = compute_waiting([(TASK, "a"), (TASK, "b" * num_bytes)])
    assert len(batches) == num_batches


def test_a_call_whose_client_is_gone_is_in_no_batch():
    batches, _ = compute_waiting([(TASK, "a")], gone=[(TASK, "gone")])
    assert batches == [["a"]]


def test_an_error_of_one_text_is_the_reply_to_its_call_only():
    calls = [(TASK, "a"), (TASK, "c", "bad")]
    batches, (texts, error) = compute_waiting(calls)
    assert batches == [["a", "c", "bad"]]
    assert texts == ["a"]
    assert (error.status, error.message) == (400, "text 2: bad")


def test_a_batch_on_which_the_network_fails_is_computed_text_by_text():
    batches, (texts, error) = compute_waiting([(TASK, "a"), (TASK, "broken")])
    assert batches == [["a", "broken"], ["a"], ["broken"]]
    assert texts == ["a"]
    # The network failed, so the text is not to blame.
    assert error.status == 500
    assert "broken" not in error.message


@pytest.mark.parametrize("turn_s, max_texts", [(-1, 4), (math.inf, 40)])
def test_a_short_call_waits_for_one_turn_of_a_long_one(turn_s, max_texts):
    """A turn is a single step, or all steps. A short call has three."""

    async def main():
        engine = EchoEngine()
        model = load_echo(engine, turn_s=turn_s)
        long = [submit(model, TASK, *["long"] * 40) for _ in range(2)]
        while not all(call.done() for call in long):
            await submit(model, TASK, "short")
        return engine.computed

    computed = asyncio.run(main())
    num_adjacent = [
        len([*texts])
        for text, texts in itertools.groupby(computed)
        if text == "long"
    ]
    assert sum(num_adjacent) == 80
    assert max(num_adjacent) <= max_texts


def test_a_long_call_ends_with_its_client():
    async def main():
        engine = EchoEngine()
        # Each turn is a single step.
        model = load_echo(engine, turn_s=-1)
        long, other = (submit(model, TASK, *["long"] * 40) for _ in range(2))
        await submit(model, TASK, "short")
        assert not long.done()
        assert not other.done()
        long.cancel()
        other.cancel()
        await submit(model, TASK, "short")
        # The worker ends, because nothing is left.
        async with asyncio.timeout(60):
            while len(asyncio.all_tasks()) > 1:
                await asyncio.sleep(0.01)
        return engine.computed

    assert asyncio.run(main()).count("long") < 40


@pytest.mark.parametrize("text", ["unprintable", "bug"])
@pytest.mark.parametrize("num_texts", [1, 40])
def test_calls_after_an_unexpected_error_are_answered(text, num_texts):
    async def main():
        model = load_echo(EchoEngine())
        with pytest.raises(HttpError) as failure:
            async with asyncio.timeout(10):
                await submit(model, TASK, *[text] * num_texts)
        async with asyncio.timeout(10):
            return failure.value.status, await submit(model, TASK, "next")

    status, (reply,) = asyncio.run(main())
    assert status == 500
    assert json.loads(reply) == {"text": "next"}
