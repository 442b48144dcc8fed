"""The queue of a model of serve.py, and servers of models of its own."""

import asyncio
import contextlib
import functools
import itertools
import json
import math
import os
import socket
import threading
from types import MappingProxyType, SimpleNamespace

import pytest

pytest.importorskip("fastapi", reason="needs requirements/serve.txt")

from serving.engines import EngineError, Input
from serving.http import server_process
from serving.http.call_queue import QueuedCall, ServedModel
from serving.http.errors import HttpError
from serving.http.server import Server
from serving.serving_flags import EngineFlags, LimitFlags
from serving.tasks.request_fields import Field
from serving.tasks.text_task import Encoded, TextTask
from tests.support import script_runner
from tests.support.serving import asgi
from tests.support.serving.server_process import send
from tests.support.waiting import TIMEOUT, wait_until


class UnprintableError(ValueError):
    """An error that cannot be told to the client."""

    def __str__(self):
        raise RuntimeError("no message")


def encode(model, request):
    text = request["text"]
    return Encoded([Input([text], 1)], text)


def decode(model, text, outputs, task_flags):
    """Returns what the engine computed, except for two texts."""
    if text == "bad":
        raise ValueError("bad")
    if text == "unprintable":
        raise UnprintableError
    (computed,) = outputs
    return {"text": computed["text"]}


TASK = TextTask("task", encode, decode, [Field("text")])
OTHER = TextTask("other", encode, decode, [Field("text")])


class EchoEngine:
    """Computes a text in each step, and notes what it computes.

    Args:
        wait: function that returns when a batch may run.
        answer_to: function from a text to what is computed, by default the
            text itself.

    Attributes:
        batches: the texts of each batch.
        computed: all texts, in the order in which they were computed.
    """

    name = "echo"

    def __init__(self, wait=lambda: None, answer_to=str):
        self._wait = wait
        self._answer_to = answer_to
        self.batches = []
        self.computed = []

    def run_all(self, inputs, *_):
        self._wait()
        texts = {key: text.ids[0] for key, (text,) in inputs.items()}
        self.batches.append([*texts.values()])
        if "broken" in texts.values():
            raise EngineError("broken")
        if "bug" in texts.values():
            raise RuntimeError("bug")
        for key, text in texts.items():
            self.computed.append(text)
            yield {key: [{"text": self._answer_to(text)}]}


class EchoModel:
    """What a server reads of a `TextModel`, with an EchoEngine."""

    tasks = ("task",)
    settings = MappingProxyType({})

    def __init__(self, engine):
        self.engine = engine
        self.prepared = SimpleNamespace(
            engine=engine, max_seq_length=8, pads=False
        )

    def task(self, name="task"):
        return TASK

    def warm_up(self):
        pass


class EndlessModel(ServedModel):
    """A model that is never loaded."""

    def load(self):
        threading.Event().wait()


def create_echo(engine, **options):
    """Returns a model of the server that is not loaded yet."""
    return ServedModel("", EngineFlags(), EchoModel(engine), **options)


def load_echo(engine, **options):
    model = create_echo(engine, **options)
    model.load()
    return model


def submit(model, task, *texts):
    return model.submit(QueuedCall(task, [{"text": text} for text in texts]))


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
    calls = [(TASK, "a"), (OTHER, "b"), (TASK, "c"), (TASK, *["d"] * 31)]
    batches, texts = compute_waiting(calls)
    assert batches == [["a", "c"], ["b"], ["d"] * 31]
    assert texts == [["a"], ["b"], ["c"], ["d"] * 31]


def test_a_call_of_many_texts_has_its_turn_between_two_batches():
    calls = [(TASK, "a"), (OTHER, "b"), (TASK, *["e"] * 40)]
    batches, texts = compute_waiting(calls)
    assert batches.index(["e"] * 40) < 2
    assert texts == [["a"], ["b"], ["e"] * 40]


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


@pytest.mark.parametrize(
    "texts, advice",
    [
        (["a"], "the server is busy; try again later"),
        (["a"] * 40, "send less text"),
        (["a" * 5000], "send less text"),
    ],
)
def test_a_client_does_not_wait_longer_than_the_timeout(texts, advice):
    async def main():
        may_run = threading.Event()
        engine = EchoEngine(may_run.wait)
        model = load_echo(engine)
        first = submit(model, TASK, "first")
        await asyncio.sleep(0)
        server = Server({"m": model}, limits=LimitFlags(timeout_s=0.05))
        server.is_ready = True

        body = {"text": texts}
        status, reply = await asgi.post(server, "/api/models/m/task", body)
        assert status == 504
        assert advice in reply["error"]
        may_run.set()
        await first
        await submit(model, TASK, "last")
        return engine.batches

    # Nobody waits for the request's answer anymore.
    assert asyncio.run(main()) == [["first"], ["last"]]


def serve_long_replies(port):
    model = create_echo(EchoEngine(answer_to=lambda _: "a" * 15_000_000))
    server = Server({"m": model}, limits=LimitFlags(timeout_s=3))
    server_process.serve_until_signal(server, "127.0.0.1", port)


def serve_when_allowed(folder, port):
    """Writes `is_waiting`, and computes once there is the file `is_allowed`.

    Replies are all batches until then.
    """

    def wait():
        (folder / "is_waiting").touch()
        wait_until((folder / "is_allowed").exists)

    engine = EchoEngine(wait, lambda _: engine.batches)
    server = Server({"m": create_echo(engine)})
    server_process.serve_until_signal(server, "127.0.0.1", port)


def serve_before_loading(port):
    model = EndlessModel("", EngineFlags())
    server_process.serve_until_signal(Server({"m": model}), "127.0.0.1", port)


GET = b"GET %s HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
POST = (
    b"POST /api/models/m/task HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"
    b'Content-Length: %d\r\n\r\n{"text": "%s"}'
)


def read_health(server):
    """Returns the reply of a server, empty if it does not listen yet."""
    try:
        return send(server, GET % b"/healthz")
    except ConnectionRefusedError:
        return b""


@contextlib.contextmanager
def served_by(target, status):
    """A server in a process of its own with this health, until SIGTERM."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = script_runner.PROCESSES.Process(target=target, args=[port])
    process.start()
    server = SimpleNamespace(port=port, pid=process.pid)
    try:
        wait_until(lambda: status in read_health(server))
        yield server
    finally:
        process.terminate()
        process.join()
    assert process.exitcode == 0


def count_sockets(server):
    """Returns the number of sockets that a server has open."""
    folder = f"/proc/{server.pid}/fd"
    links = []
    for name in os.listdir(folder):
        # A file may be closed by now.
        with contextlib.suppress(FileNotFoundError):
            links.append(os.readlink(f"{folder}/{name}"))
    return sum(link.startswith("socket:") for link in links)


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="no /proc")
def test_a_reply_that_is_not_read_keeps_no_connection():
    """The rest of the reply is dropped, and its memory is free."""
    head = b"POST /api/models/m/task HTTP/1.1\r\nHost: a\r\n"
    request = head + b'Content-Length: 13\r\n\r\n{"text": "a"}'
    last = request.replace(b"Host", b"Connection: close\r\nHost")
    with served_by(serve_long_replies, b" 200 ") as server:
        assert len(send(server, last, shut=False)) > 15_000_000
        num_sockets = count_sockets(server)
        with socket.create_connection(("127.0.0.1", server.port), 60) as client:
            client.sendall(request)
            wait_until(lambda: count_sockets(server) > num_sockets)
            # The server closes the connection by itself.
            wait_until(lambda: count_sockets(server) == num_sockets)
            received = 0
            with contextlib.suppress(ConnectionError):
                while part := client.recv(1 << 16):
                    received += len(part)
        assert 0 < received < 15_000_000


def test_nothing_is_computed_for_a_client_that_is_gone(tmp_path):
    serve = functools.partial(serve_when_allowed, tmp_path)
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(served_by(serve, b" 200 "))

        def ask(text):
            address = ("127.0.0.1", server.port)
            client = socket.create_connection(address, TIMEOUT)
            client.sendall(POST % (len(text) + 12, text))
            return client

        first = stack.enter_context(ask(b"first"))
        wait_until((tmp_path / "is_waiting").exists)
        for _ in range(5):
            ask(b"gone").close()
        # The server reads what came earlier, too.
        for _ in range(3):
            send(server, GET % b"/healthz")
        last = stack.enter_context(ask(b"last"))
        (tmp_path / "is_allowed").touch()
        first.recv(1)
        reply = b"".join(iter(functools.partial(last.recv, 1000), b""))
    assert b'{"text": [["first"], ["last"]]}' in reply


def test_sigterm_while_models_load_ends_the_server():
    with served_by(serve_before_loading, b" 503 ") as server:
        answer = send(server, GET % b"/api/models")
        assert b" 503 " in answer
        assert b"loading" in answer
