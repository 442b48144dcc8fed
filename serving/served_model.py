"""Computes the requests to a model of the server, in batches.

Each model has a queue and a thread. While the model computes a batch, the next
batch forms in the queue.
"""

import asyncio
import dataclasses
import json
from collections.abc import Mapping, Sequence
from concurrent import futures
from typing import Any

from absl import logging
from starlette.exceptions import HTTPException

from serving.models import TextModel
from serving.tasks.base import Reply, TaskOptions, TextTask

# A batch contains the requests that wait, up to this number of texts. A request
# of more texts is a batch by itself.
_MAX_BATCH_SIZE = 32
# Options of the tasks, for all clients.
_OPTIONS = TaskOptions(top_k=8, n_best=8)


@dataclasses.dataclass(eq=False)
class _Job:
    """Requests of one body, which are computed in one batch."""

    task: TextTask
    requests: list[dict[str, Any]]
    future: asyncio.Future[list[bytes]]


class ServedModel:
    """A model with a queue of jobs and a thread that computes them.

    Args:
        path: folder of an export.
        options: arguments of `serving.load`, such as {"engine": "onnx"}.

    Attributes:
        model: the model, once it is loaded.
        tasks: {name: TextTask} of the model, {} until it is loaded.
        about: description of the model, for `GET /api/models`.
    """

    def __init__(self, path: str, options: Mapping[str, Any]) -> None:
        self._path = path
        self._options = options
        self.model: Any = None
        self.tasks: dict[str, TextTask] = {}
        self.about: dict[str, Any] = {}
        self._waiting: list[_Job] = []
        self._worker: asyncio.Task[None] | None = None
        self._thread = futures.ThreadPoolExecutor(1)

    def load(self) -> None:
        """Loads and warms up the model. Raises the errors of `serving.load`."""
        model = TextModel(self._path, **self._options)
        # Raises an error for a model that accepts no text.
        model.task()
        model.warm_up()
        self.model = model
        self.tasks = {name: model.task(name) for name in model.tasks}
        self.about = {
            "tasks": model.tasks,
            "fields": {name: [*t.fields] for name, t in self.tasks.items()},
            "num_texts": model.settings.get("num_texts"),
            "engine": model.engine.name,
        }

    def submit(
        self, task: TextTask, requests: list[dict[str, Any]]
    ) -> asyncio.Future[list[bytes]]:
        """Queues requests. Returns a future of the JSON text of each reply."""
        future = asyncio.get_running_loop().create_future()
        self._waiting.append(_Job(task, requests, future))
        if self._worker is None:
            self._worker = asyncio.create_task(self._work())
        return future

    async def _work(self) -> None:
        loop = asyncio.get_running_loop()
        while batch := self._next_batch():
            results = await loop.run_in_executor(
                self._thread, _compute, self.model, batch
            )
            for job, result in zip(batch, results, strict=True):
                if job.future.done():
                    continue
                if isinstance(result, Exception):
                    job.future.set_exception(result)
                else:
                    job.future.set_result(result)
        self._worker = None

    def _next_batch(self) -> list[_Job]:
        # The jobs of a batch are of one task, in order of arrival. Jobs whose
        # clients do not wait anymore are dropped.
        batch: list[_Job] = []
        others: list[_Job] = []
        for job in self._waiting:
            if job.future.done():
                continue
            size = sum(len(each.requests) for each in (*batch, job))
            fits = size <= _MAX_BATCH_SIZE
            if not batch or (job.task is batch[0].task and fits):
                batch.append(job)
            else:
                others.append(job)
        self._waiting = others
        return batch


def _compute(
    model: TextModel, jobs: Sequence[_Job]
) -> list[list[bytes] | Exception]:
    requests = [request for job in jobs for request in job.requests]
    try:
        replies = iter(jobs[0].task.ask(model, requests, _OPTIONS))
    except Exception as error:
        if len(jobs) == 1:
            return [to_exception(error)]
        # Compute each job separately, so that only bad requests fail.
        return [each for job in jobs for each in _compute(model, [job])]
    return [_write([next(replies) for _ in job.requests]) for job in jobs]


def _write(replies: Sequence[Reply | ValueError]) -> list[bytes] | Exception:
    texts: list[bytes] = []
    for reply in replies:
        if isinstance(reply, ValueError):
            where = f"text {len(texts) + 1}: " if len(replies) > 1 else ""
            return to_exception(reply, where)
        text = json.dumps(reply, ensure_ascii=False)
        texts.append(text.encode("utf-8", "replace"))
    return texts


def to_exception(error: Exception, where: str = "") -> HTTPException:
    """Returns the reply to a request on which `error` was raised.

    Args:
        error: a ValueError or a TypeError is the client's fault. Other errors
            are logged, and the client learns nothing about them.
        where: beginning of the message.
    """
    if isinstance(error, ValueError | TypeError):
        message = f"{where}{' '.join(str(error).split())[:400]}"
        # A surrogate in the request cannot be encoded.
        return HTTPException(400, message.encode(errors="replace").decode())
    logging.error("Failed to compute a request", exc_info=error)
    return HTTPException(500, "internal error (see the server's log)")
