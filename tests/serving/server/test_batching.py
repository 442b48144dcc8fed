"""Batches of concurrent requests: none lost, none mixed up, none too many."""

import asyncio
import random
import threading
import time
import types
from concurrent.futures import ThreadPoolExecutor

import pytest

pytest.importorskip("starlette", reason="needs requirements/serve.txt")

from serving.server import app, monitoring
from serving.server.batching import Batcher, Closed
from serving.server.limits import Limits
from serving.server.protocol import RestError
from serving.server.signatures import Key


class Model:
    """Answers with the key and the payload; remembers its batches."""

    def __init__(self):
        self.batches = []
        self.may_run = threading.Event()
        self.may_run.set()

    def __call__(self, key, payloads):
        self.may_run.wait()
        self.batches.append((key, list(payloads)))
        if key == "broken":
            raise RuntimeError("broken")
        return [(key, payload) for payload in payloads]


def hold(model, batcher):
    """Keeps the model busy with one request, so that others wait."""
    model.may_run.clear()
    first = batcher.submit("first", 0, 1)
    while len(batcher):
        time.sleep(0.001)
    return first


def test_what_waits_is_batched_by_key_and_size():
    model = Model()
    batcher = Batcher(model, Limits(max_batch_size=4))
    futures = [hold(model, batcher)]
    for request in [
        ("a", 1, 1),
        ("b", 2, 1),
        ("a", 3, 2),
        ("a", 4, 2),
        ("a", 5, 1),
        ("a", 6, 1, True),
        ("a", 7, 1, True),
        ("b", 8, 9),
    ]:
        futures.append(batcher.submit(*request))
    model.may_run.set()
    batcher.close(60)
    assert [future.result()[1] for future in futures] == [*range(9)]
    assert model.batches == [
        ("first", [0]),
        ("a", [1, 3, 5]),
        ("b", [2]),
        ("a", [4]),
        ("a", [6]),
        ("a", [7]),
        ("b", [8]),
    ]
    with pytest.raises(Closed):
        batcher.submit("a", 1, 1)


def test_a_request_waits_for_others_as_long_as_the_option_says():
    model = Model()
    limits = Limits(max_batch_size=3, batch_wait_ms=600_000.0)
    batcher = Batcher(model, limits)
    futures = [batcher.submit("a", payload, 1) for payload in range(3)]
    # A full batch does not wait.
    assert [future.result(60)[1] for future in futures] == [0, 1, 2]
    assert len(model.batches) == 1
    late = batcher.submit("a", 3, 1)
    batcher.close()
    assert late.result(60) == ("a", 3)


def test_a_full_queue_refuses():
    model = Model()
    batcher = Batcher(model, Limits(max_queue=2))
    first = hold(model, batcher)
    waiting = [batcher.submit("a", payload, 1) for payload in range(2)]
    with pytest.raises(RestError, match="queue is full"):
        batcher.submit("a", 2, 1)
    # A client that has gone makes room, and is not computed.
    assert waiting[0].cancel()
    waiting.append(batcher.submit("a", 3, 1))
    model.may_run.set()
    assert first.result(60) == ("first", 0)
    assert [future.result(60)[1] for future in waiting[1:]] == [1, 3]
    batcher.close(60)
    assert model.batches[1:] == [("a", [1, 3])]


def test_a_batch_whose_clients_have_gone_ends_nothing():
    limits = Limits(max_queue=1, batch_wait_ms=200.0)
    batcher = Batcher(Model(), limits)
    # It waits for others with its key when its client goes.
    assert batcher.submit("a", 1, 1).cancel()
    assert batcher.submit("b", 2, 1).result(60) == ("b", 2)
    batcher.close(60)


def test_a_client_does_not_wait_longer_than_the_timeout():
    model = Model()
    batcher = Batcher(model, Limits())
    first = hold(model, batcher)
    server = app.Server({}, Limits(timeout_s=0.05), monitoring.Monitoring())
    description = types.SimpleNamespace(batched={"a"})
    version = types.SimpleNamespace(batcher=batcher, description=description)
    record = monitoring.RequestRecord(None, num_texts=1)
    with pytest.raises(RestError, match="within 0.05 s") as caught:
        asyncio.run(server._compute(record, version, Key("a"), 1))
    assert caught.value.status == 504
    model.may_run.set()
    assert first.result(10) == ("first", 0)
    batcher.close(10)
    # Nobody waits for it any more.
    assert model.batches == [("first", [0])]


def test_an_error_concerns_its_batch_alone():
    model = Model()
    batcher = Batcher(model, Limits())
    bad = batcher.submit("broken", 1, 1)
    with pytest.raises(RuntimeError, match="broken"):
        bad.result(60)
    assert batcher.submit("a", 2, 1).result(60) == ("a", 2)


@pytest.mark.parametrize("max_batch_size", [1, 8])
def test_none_is_lost_among_many(max_batch_size):
    model = Model()
    limits = Limits(
        max_batch_size=max_batch_size, batch_wait_ms=1.0, max_queue=10**6
    )
    batcher = Batcher(model, limits)

    def ask(number):
        key = random.Random(number).choice(["a", "b", "c"])
        future = batcher.submit(key, number, 1, key == "c")
        return future.result(60) == (key, number)

    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(ask, range(2000)))
    sizes = [len(payloads) for _, payloads in model.batches]
    assert sum(sizes) == 2000 and max(sizes) <= max_batch_size
