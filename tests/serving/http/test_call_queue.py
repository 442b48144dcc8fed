"""Which calls to a model of serve.py form a batch, and whose turn it is.

How a model computes the batches is tested in
tests/serving/http/test_model_worker.py.
"""

import pytest

pytest.importorskip("fastapi", reason="needs requirements/serve.txt")

from serving.http.call_queue import CallQueue
from tests.support.serving.echo_models import OTHER_TASK, create_call


def create_queue(*calls):
    """Returns a queue to which calls were added in this order."""
    queue = CallQueue()
    for call in calls:
        queue.add(call)
    return queue


def take_all(queue):
    """Takes all batches, each to its end. Returns the calls of each batch."""
    batches = []
    while batch := queue.take_next():
        batches.append([*batch.calls])
    return batches


def test_waiting_calls_of_one_task_are_a_batch():
    first = create_call("a")
    other = create_call("b", text_task=OTHER_TASK)
    second = create_call("c")
    queue = create_queue(first, other, second)
    assert take_all(queue) == [[first, second], [other]]


# A batch contains at most 32 texts.
@pytest.mark.parametrize(("num_texts", "num_batches"), [(31, 1), (32, 2)])
def test_a_batch_has_a_limit_of_texts(num_texts, num_batches):
    queue = create_queue(create_call("a"), create_call(*["b"] * num_texts))
    assert len(take_all(queue)) == num_batches


# A batch contains at most 4096 bytes of text.
@pytest.mark.parametrize(("num_bytes", "num_batches"), [(4095, 1), (4096, 2)])
def test_a_batch_has_a_limit_of_bytes(num_bytes, num_batches):
    queue = create_queue(create_call("a"), create_call("b" * num_bytes))
    assert len(take_all(queue)) == num_batches


def test_a_later_call_that_fits_is_computed_before_one_that_does_not():
    first = create_call(*["a"] * 16)
    large = create_call(*["b"] * 17)
    small = create_call("c")
    queue = create_queue(first, large, small)
    assert take_all(queue) == [[first, small], [large]]


def test_long_calls_and_batches_take_turns():
    long = [create_call(*["long"] * 40) for _ in range(2)]
    queue = create_queue(*long, create_call("a"))
    computed = []
    for text in "bcd":
        batch = queue.take_next()
        computed.append(batch.is_long)
        # A long call needs more turns than there are short calls.
        if batch.is_long:
            queue.put_back(batch)
        queue.add(create_call(text))
    assert computed == [True, False, True]


def test_a_batch_that_was_put_back_is_continued_before_later_calls():
    first = create_call("a")
    queue = create_queue(first)
    batch = queue.take_next()
    queue.add(create_call("b"))
    queue.put_back(batch)
    assert queue.take_next() is batch


@pytest.mark.parametrize("texts", [["a"], ["a"] * 40])
def test_a_call_whose_client_is_gone_is_in_no_batch(texts):
    gone = create_call(*texts)
    waiting = create_call("b")
    queue = create_queue(gone, waiting)
    gone.future.cancel()
    assert take_all(queue) == [[waiting]]


def test_a_batch_that_nobody_awaits_is_not_continued():
    call = create_call("a")
    queue = create_queue(call)
    batch = queue.take_next()
    queue.put_back(batch)
    call.future.cancel()
    assert queue.take_next() is None
