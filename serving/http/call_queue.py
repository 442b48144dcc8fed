"""Computes the requests to a model of the server, in batches.

Each model has a queue and a thread. While the model computes a batch, the next
batch forms in the queue. A request that needs more time than a batch is
computed in turns, so that the others need not wait for its end.
"""

import asyncio
import collections
import functools
import json
import os
import time
from collections.abc import Iterator, Sequence
from concurrent import futures

from serving.http.errors import to_http_error
from serving.prepared_model import PreparedModel
from serving.serving_flags import EngineFlags, TaskFlags
from serving.tasks.request_lists import describe_place
from serving.tasks.task_steps import Failure, ask_in_steps
from serving.tasks.text_task import AnyTextTask, Reply
from serving.text_model import TextModel

# A batch contains the requests that wait, up to these numbers of texts and of
# bytes, of which the network computes about a thousand WordPieces at a time.
# A request beyond them is a batch by itself.
_MAX_BATCH_SIZE = 32
_MAX_BYTES = 1 << 12
# Flags of the tasks, for all clients.
_TASK_FLAGS = TaskFlags(top_k=8, n_best=8)


class QueuedCall:
    """Requests of one body.

    Args:
        task: task that answers them.
        requests: the requests of the body, in its order.

    Attributes:
        future: the JSON text of each reply. If it is canceled, the call is
            dropped.
    """

    def __init__(self, task: AnyTextTask, requests: Sequence[object]) -> None:
        self.task = task
        self.requests = requests
        loop = asyncio.get_running_loop()
        self.future: asyncio.Future[list[bytes]] = loop.create_future()

    @functools.cached_property
    def num_bytes(self) -> int:
        """Bytes of all texts in UTF-8, at least as many as WordPieces.

        Raises:
            ValueError: as in `TextTask.texts`.
        """
        return sum(
            max(len(text.encode()), 1)
            for request in self.requests
            for text in self.task.texts(request)
        )

    @property
    def is_long(self) -> bool:
        """Whether the call is computed by itself, in several turns."""
        num_requests = len(self.requests)
        return num_requests > _MAX_BATCH_SIZE or self.num_bytes > _MAX_BYTES

    def describe_place(self, request_number: int) -> str:
        """Returns the beginning of an error of a request, from 1."""
        return describe_place(request_number, is_list=len(self.requests) > 1)

    def finish(self, replies: Sequence[bytes | Failure]) -> None:
        """Gives the client the replies, or the error of the first failure."""
        texts: list[bytes] = []
        for request_number, reply in enumerate(replies, 1):
            if isinstance(reply, Failure):
                self.fail(reply.error, self.describe_place(request_number))
                return
            texts.append(reply)
        if not self.future.done():
            self.future.set_result(texts)

    def fail(self, error: Exception, where: str = "") -> None:
        """Gives the client an error, unless it has a reply or is gone.

        `where` is the beginning of the message.
        """
        if not self.future.done():
            self.future.set_exception(to_http_error(error, where))


class _Batch:
    """Calls of one task that are computed together, in turns.

    After the last turn, call `finish`. If a turn or `finish` raises an error,
    call `fail`.

    Attributes:
        is_computed: whether the last turn is over.
    """

    def __init__(self, calls: Sequence[QueuedCall]) -> None:
        self._calls = calls
        self._requests = [
            request for call in calls for request in call.requests
        ]
        self._replies: list[bytes | Failure] = [b""] * len(self._requests)
        # None before the first turn.
        self._steps: Iterator[None] | None = None
        self.is_computed = False

    def _compute(self, model: PreparedModel) -> Iterator[None]:
        """Computes the replies. Yields after each step."""
        task = self._calls[0].task
        steps = ask_in_steps(model, task, self._requests, _TASK_FLAGS)
        for replies in steps:
            for index, reply in replies:
                self._replies[index] = _to_json(reply)
            yield

    def run(self, model: PreparedModel, seconds: float) -> None:
        """Computes for a turn. Stops at the first step that ends after it."""
        end = time.monotonic() + seconds
        self._steps = self._steps or self._compute(model)
        for _ in self._steps:
            if time.monotonic() > end:
                return
        self.is_computed = True

    @property
    def is_long(self) -> bool:
        """Whether the batch is a call that is computed by itself."""
        return self._calls[0].is_long

    @property
    def is_awaited(self) -> bool:
        """Whether a client still waits for a reply."""
        return not all(call.future.done() for call in self._calls)

    def finish(self) -> None:
        """Gives each call its replies, or the error of its first failure."""
        replies = iter(self._replies)
        for call in self._calls:
            call.finish([next(replies) for _ in call.requests])

    def fail(self, error: Exception) -> None:
        """Gives an error to each call that has no replies yet."""
        for call in self._calls:
            call.fail(error)


class _CallQueue:
    """The calls that a model has not computed yet, and whose turn it is.

    Short calls form batches. A batch and the long calls take turns.
    """

    def __init__(self) -> None:
        self._short: list[QueuedCall] = []
        # Each contains one call.
        self._long: collections.deque[_Batch] = collections.deque()
        # A batch of short calls that needs another turn.
        self._batch: _Batch | None = None
        self._is_turn_of_long = True

    def add(self, call: QueuedCall) -> None:
        """Queues a call."""
        if call.is_long:
            self._long.append(_Batch([call]))
        else:
            self._short.append(call)

    def put_back(self, batch: _Batch) -> None:
        """Queues a batch that needs another turn."""
        if batch.is_long:
            self._long.append(batch)
        else:
            self._batch = batch

    def take_next(self) -> _Batch | None:
        """Takes the batch whose turn it is. Returns None if no call is left."""
        self._drop_calls()
        has_short = bool(self._batch or self._short)
        if self._long and (self._is_turn_of_long or not has_short):
            self._is_turn_of_long = False
            return self._long.popleft()
        self._is_turn_of_long = True
        batch, self._batch = self._batch, None
        return batch or (self._form_batch() if self._short else None)

    def _drop_calls(self) -> None:
        """Drops the calls whose clients do not wait anymore."""
        self._short = [call for call in self._short if not call.future.done()]
        awaited = (batch for batch in self._long if batch.is_awaited)
        self._long = collections.deque(awaited)
        if self._batch and not self._batch.is_awaited:
            self._batch = None

    def _form_batch(self) -> _Batch:
        """Takes the short calls of one task that fit into a batch, in order."""
        chosen: list[QueuedCall] = []
        waiting: list[QueuedCall] = []
        num_requests = 0
        num_bytes = 0
        for call in self._short:
            fits = (
                num_requests + len(call.requests) <= _MAX_BATCH_SIZE
                and num_bytes + call.num_bytes <= _MAX_BYTES
            )
            if not chosen or (call.task is chosen[0].task and fits):
                chosen.append(call)
                num_requests += len(call.requests)
                num_bytes += call.num_bytes
            else:
                waiting.append(call)
        self._short = waiting
        return _Batch(chosen)


class ServedModel:
    """A model with a queue of calls and a thread that computes them.

    Args:
        path: folder of an export.
        engine_flags: runtime of the model.
        model: the model, if it is not to be loaded from `path`.
        turn_s: seconds after which another batch has its turn. A turn ends with
            a step of `ask_in_steps`, which may take longer.

    Attributes:
        tasks: {name: TextTask} of the model, {} until it is loaded.
        about: description of the model, for `GET /api/models`.
        version: number of the export, "1" if its folder has no number.
    """

    def __init__(
        self,
        path: str,
        engine_flags: EngineFlags,
        model: TextModel | None = None,
        turn_s: float = 0.05,
    ) -> None:
        self._path = path
        name = os.path.basename(os.path.normpath(path))
        self.version = name if name.isdecimal() else "1"
        self._engine_flags = engine_flags
        self._model = model
        self._turn_s = turn_s
        self.tasks: dict[str, AnyTextTask] = {}
        self.about: dict[str, object] = {}
        self._queue = _CallQueue()
        self._worker: asyncio.Task[None] | None = None
        self._thread = futures.ThreadPoolExecutor(1)

    @property
    def text_model(self) -> TextModel:
        """The model, once it is loaded."""
        assert self._model, "`load` was not called"
        return self._model

    def load(self) -> None:
        """Loads and warms up the model. Raises the errors of `serving.load`."""
        flags = self._engine_flags
        model = self._model or TextModel(
            self._path, flags.num_threads, flags.engine
        )
        # Raises an error for a model that accepts no text.
        model.task()
        model.warm_up()
        self._model = model
        self.tasks = {name: model.task(name) for name in model.tasks}
        self.about = {
            "tasks": model.tasks,
            "fields": {
                name: task.field_names for name, task in self.tasks.items()
            },
            "num_texts": model.settings.get("num_texts"),
            "engine": model.engine.name,
        }

    def submit(self, call: QueuedCall) -> asyncio.Future[list[bytes]]:
        """Queues requests, which `task.texts` has checked. Returns `future`."""
        self._queue.add(call)
        if self._worker is None:
            self._worker = asyncio.create_task(self._work())
        return call.future

    async def _work(self) -> None:
        """Computes the batches of the queue, until no call is left."""
        try:
            while batch := self._queue.take_next():
                await self._take_turn(batch)
        finally:
            # However this worker ended, the next call starts another worker.
            self._worker = None

    async def _take_turn(self, batch: _Batch) -> None:
        """Computes a batch for a turn, and queues what is left of it.

        Raises no error: the calls of the batch get it.
        """
        loop = asyncio.get_running_loop()
        try:
            await loop.run_in_executor(
                self._thread, batch.run, self.text_model.prepared, self._turn_s
            )
            if batch.is_computed:
                batch.finish()
            else:
                self._queue.put_back(batch)
        except Exception as error:
            batch.fail(error)


def _to_json(reply: Reply | Failure) -> bytes | Failure:
    if isinstance(reply, Failure):
        return reply
    text = json.dumps(reply, ensure_ascii=False)
    return text.encode("utf-8", "replace")
