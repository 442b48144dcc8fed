"""How a model of serve.py is described, and how it computes calls.

Which calls are computed together is tested in
tests/serving/http/test_call_queue.py.
"""

import asyncio
import itertools
import json
import math

import pytest

pytest.importorskip("fastapi", reason="needs requirements/serve.txt")

from data.text.tokenization import FullTokenizer
from serving.http.call_queue import QueuedCall
from serving.http.errors import HttpError
from serving.http.model_worker import ModelWorker
from tests.support.serving.echo_models import (
    TASK,
    EchoEngine,
    create_echo_worker,
    submit,
)

# Turns that end after one slice of a call, and after all its slices.
ONE_SLICE_S = -1
ALL_SLICES_S = math.inf
# Number of texts in a long call.
LONG_SIZE = 40
# A call of one text encodes it, runs the network, and ends.
NUM_SHORT_SLICES = 3


def submit_together(*calls):
    """Submits calls of these texts together.

    Returns the engine's batches, and the texts or the error of each call.
    """

    async def main():
        engine = EchoEngine()
        worker = create_echo_worker(engine)
        futures = [submit(worker, TASK, *texts) for texts in calls]
        result = await asyncio.gather(*futures, return_exceptions=True)
        return engine.batches, result

    batches, result = asyncio.run(main())
    texts = [
        [json.loads(reply)["text"] for reply in replies]
        if isinstance(replies, list)
        else replies
        for replies in result
    ]
    return batches, texts


def test_an_error_of_one_text_is_the_reply_to_its_call_only():
    batches, (texts, error) = submit_together(["a"], ["c", "bad"])
    assert batches == [["a", "c", "bad"]]
    assert texts == ["a"]
    assert (error.status, error.message) == (400, "text 2: bad")


def test_a_batch_on_which_the_network_fails_is_computed_text_by_text():
    batches, (texts, error) = submit_together(["a"], ["broken"])
    assert batches == [["a", "broken"], ["a"], ["broken"]]
    assert texts == ["a"]
    # The network failed, so the text is not to blame.
    assert error.status == 500
    assert "broken" not in error.message


@pytest.mark.parametrize(
    ("turn_s", "max_texts"),
    [(ONE_SLICE_S, NUM_SHORT_SLICES + 1), (ALL_SLICES_S, LONG_SIZE)],
)
def test_a_short_call_waits_for_one_turn_of_a_long_one(turn_s, max_texts):
    """At most `max_texts` of long calls come between two short ones."""

    async def main():
        engine = EchoEngine()
        worker = create_echo_worker(engine, turn_s=turn_s)
        long = [submit(worker, TASK, *["long"] * LONG_SIZE) for _ in range(2)]
        while not all(call.done() for call in long):
            await submit(worker, TASK, "short")
        return engine.computed

    computed = asyncio.run(main())
    num_adjacent = [
        len([*texts])
        for text, texts in itertools.groupby(computed)
        if text == "long"
    ]
    assert sum(num_adjacent) == 2 * LONG_SIZE
    assert max(num_adjacent) <= max_texts


@pytest.mark.parametrize(
    ("kind", "long_request", "short_request"),
    [
        (
            "squad",
            {"question": "Who?", "context": ". " * 4_000},
            {"question": "Who?", "context": "Anna is on the boat."},
        ),
        ("ner", {"text": "a " * 4_000}, {"text": "The harbor light is on."}),
    ],
    ids=["answer", "tag"],
)
def test_a_long_text_of_a_real_model_takes_more_turns_than_a_short_one(
    kind, long_request, short_request, load_text_model
):
    """The long calls come first, and take turns with the short one."""

    async def main():
        worker = ModelWorker(load_text_model(kind), ONE_SLICE_S)
        text_task = worker.text_model.text_task()
        *earlier, later = (
            worker.submit(QueuedCall.create(text_task, [request]))
            for request in [long_request] * 4 + [short_request]
        )
        await later
        are_done = [call.done() for call in earlier]
        await asyncio.gather(*earlier)
        return are_done

    assert asyncio.run(main()) == [False] * 4


def test_a_long_call_ends_with_its_client():
    async def main():
        engine = EchoEngine()
        worker = create_echo_worker(engine, turn_s=ONE_SLICE_S)
        long, other = (
            submit(worker, TASK, *["long"] * LONG_SIZE) for _ in range(2)
        )
        await submit(worker, TASK, "short")
        assert not long.done()
        assert not other.done()
        long.cancel()
        other.cancel()
        await submit(worker, TASK, "short")
        # The worker ends, because nothing is left.
        async with asyncio.timeout(60):
            while len(asyncio.all_tasks()) > 1:
                await asyncio.sleep(0.01)
        return engine.computed

    assert asyncio.run(main()).count("long") < LONG_SIZE


@pytest.mark.parametrize("text", ["unprintable", "bug", "bug in decoding"])
@pytest.mark.parametrize("num_texts", [1, LONG_SIZE])
def test_calls_after_an_unexpected_error_are_answered(text, num_texts):
    async def main():
        worker = create_echo_worker(EchoEngine())
        with pytest.raises(HttpError) as failure:
            async with asyncio.timeout(10):
                await submit(worker, TASK, *[text] * num_texts)
        async with asyncio.timeout(10):
            reply = await submit(worker, TASK, "next")
        return failure.value.status, reply

    status, (reply,) = asyncio.run(main())
    assert status == 500
    assert json.loads(reply) == {"text": "next"}


@pytest.fixture
def letters(tmp_path):
    """A tokenizer whose WordPieces are the letters "a"."""
    vocabulary = tmp_path / "vocab.txt"
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "##a"]
    vocabulary.write_text("\n".join(tokens))
    return FullTokenizer(vocabulary)


def compute_replies(text, tokenizer, max_pieces):
    """Returns the replies to a call of a text."""

    async def compute():
        worker = create_echo_worker(EchoEngine())
        worker.text_model.loaded_export.tokenizer = tokenizer
        call = QueuedCall.create(TASK, [{"text": text}])
        return await worker.compute_replies(call, max_pieces)

    return asyncio.run(compute())


def test_as_many_wordpieces_as_the_limit_are_computed(letters):
    replies = compute_replies("aaa aaa", letters, max_pieces=6)
    assert replies == [b'{"text": "aaa aaa"}']


def test_more_wordpieces_than_the_limit_are_refused(letters):
    with pytest.raises(
        HttpError, match="6 WordPieces are more than 5"
    ) as caught:
        compute_replies("aaa aaa", letters, max_pieces=5)
    assert caught.value.status == 413
