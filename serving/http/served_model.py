"""Queues the calls to a model of the server, and computes them in a thread.

While the model computes a batch, the next batch forms in the queue.
"""

import asyncio
import collections
from concurrent import futures

from serving.http.queued_calls import (
    MAX_BATCH_BYTES,
    MAX_BATCH_SIZE,
    CallBatch,
    QueuedCall,
)
from serving.text_model import TextModel
from serving.text_tasks.text_task import AnyTextTask


class ServedModel:
    """Queues the calls to a model, and computes them in a thread.

    Args:
        text_model: the model, which accepts text.
        turn_s: seconds after which another batch has its turn. A turn ends with
            a step of `ModelAsker.ask_in_steps`, which may take longer.

    Attributes:
        text_model: the model.
        text_task_of_name: {name: TextTask} of the model, the main one first.
        description: {"tasks", "fields", "num_texts", "engine"} of the model,
            for `GET /api/models`.
    """

    def __init__(self, text_model: TextModel, turn_s: float = 0.05) -> None:
        self.text_model = text_model
        self._turn_s = turn_s
        self.text_task_of_name = {
            name: text_model.text_task(name)
            for name in text_model.text_task_names
        }
        self.description = {
            "tasks": text_model.text_task_names,
            "fields": {
                name: text_task.field_names
                for name, text_task in self.text_task_of_name.items()
            },
            "num_texts": text_model.settings.get("num_texts"),
            "engine": text_model.engine.name,
        }
        self._queue = CallQueue()
        self._worker: asyncio.Task[None] | None = None
        self._thread = futures.ThreadPoolExecutor(1)

    @property
    def main_text_task(self) -> AnyTextTask:
        """The first text task of the model."""
        return next(iter(self.text_task_of_name.values()))

    def submit(self, call: QueuedCall) -> asyncio.Future[list[bytes]]:
        """Queues a call, whose texts are checked. Returns its `future`."""
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

    async def _take_turn(self, batch: CallBatch) -> None:
        """Computes a batch for a turn, and queues the rest of the batch.

        Raises no error, because the calls of the batch end with the error.
        """
        loop = asyncio.get_running_loop()
        try:
            await loop.run_in_executor(
                self._thread,
                batch.run,
                self.text_model.text_engine,
                self._turn_s,
            )
            if batch.is_computed:
                batch.finish()
            else:
                self._queue.put_back(batch)
        except Exception as error:
            batch.fail(error)


class CallQueue:
    """The calls that wait for a model, and whose turn it is.

    Short calls form batches. A batch and the long calls take turns.
    """

    def __init__(self) -> None:
        self._short: list[QueuedCall] = []
        # Each contains one call.
        self._long: collections.deque[CallBatch] = collections.deque()
        # A batch of short calls that needs another turn.
        self._batch: CallBatch | None = None
        self._is_turn_of_long = True

    def add(self, call: QueuedCall) -> None:
        """Queues a call."""
        if call.is_long:
            self._long.append(CallBatch([call]))
        else:
            self._short.append(call)

    def put_back(self, batch: CallBatch) -> None:
        """Queues a batch that needs another turn."""
        if batch.is_long:
            self._long.append(batch)
        else:
            self._batch = batch

    def take_next(self) -> CallBatch | None:
        """Takes the batch whose turn it is, or None if no call is left."""
        self._drop_unawaited_calls()
        has_short = bool(self._batch or self._short)
        if self._long and (self._is_turn_of_long or not has_short):
            self._is_turn_of_long = False
            return self._long.popleft()
        self._is_turn_of_long = True
        batch, self._batch = self._batch, None
        return batch or (self._create_batch() if self._short else None)

    def _drop_unawaited_calls(self) -> None:
        """Drops the calls whose clients do not wait anymore."""
        self._short = [call for call in self._short if not call.future.done()]
        awaited = (batch for batch in self._long if batch.is_awaited)
        self._long = collections.deque(awaited)
        if self._batch and not self._batch.is_awaited:
            self._batch = None

    def _create_batch(self) -> CallBatch:
        """Takes calls of one text task that fit into a batch, in order."""
        chosen: list[QueuedCall] = []
        waiting: list[QueuedCall] = []
        num_requests = 0
        num_bytes = 0
        for call in self._short:
            fits = (
                num_requests + len(call.requests) <= MAX_BATCH_SIZE
                and num_bytes + call.num_bytes <= MAX_BATCH_BYTES
            )
            if not chosen or (call.text_task is chosen[0].text_task and fits):
                chosen.append(call)
                num_requests += len(call.requests)
                num_bytes += call.num_bytes
            else:
                waiting.append(call)
        self._short = waiting
        return CallBatch(chosen)
