"""How long a client of serve.py waits, and what it is told then.

The order of the calls that wait is tested in
tests/serving/http/test_call_queue.py.
"""

import asyncio
import threading

import pytest

pytest.importorskip("fastapi", reason="needs requirements/serve.txt")

from serving.http.app import ServerApp
from serving.http.serve_config import LimitOptions
from tests.support.serving import asgi
from tests.support.serving.echo_models import (
    TASK,
    EchoEngine,
    EchoExport,
    create_echo_worker,
    submit,
)


@pytest.mark.parametrize(
    ("texts", "advice"),
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
        worker = create_echo_worker(engine)
        first = submit(worker, TASK, "first")
        await asyncio.sleep(0)
        server = ServerApp.create(
            {"m": EchoExport(engine=engine)},
            limits=LimitOptions(timeout_s=0.05),
        )
        server.state.workers["m"] = worker

        body = {"text": texts}
        status, reply = await asgi.post(server, "/api/models/m/task", body)
        assert status == 504
        assert advice in reply["error"]
        may_run.set()
        await first
        await submit(worker, TASK, "last")
        return engine.batches

    # Nobody waits for the reply anymore.
    assert asyncio.run(main()) == [["first"], ["last"]]
