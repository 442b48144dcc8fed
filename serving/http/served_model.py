"""Computes the calls to a model of the server, in a thread."""

import asyncio
from concurrent import futures

from serving.http.call_batch import CallBatch
from serving.http.call_queue import CallQueue
from serving.http.queued_call import QueuedCall
from serving.text_model import TextModel
from serving.text_tasks.text_task import AnyTextTask


class ServedModel:
    """A model with a queue of calls and a thread that computes them.

    Args:
        text_model: the model, which accepts text.
        turn_s: seconds after which another batch has its turn. A turn ends with
            a step of `ask_in_steps`, which may take longer.

    Attributes:
        text_model: the model.
        text_task_of_name: {name: TextTask} of the model, the main task first.
        description: {"tasks", "fields", "num_texts", "engine"} of the model,
            for `GET /api/models`.
    """

    def __init__(self, text_model: TextModel, turn_s: float = 0.05) -> None:
        self.text_model = text_model
        self._turn_s = turn_s
        self.text_task_of_name = {
            name: text_model.task(name) for name in text_model.tasks
        }
        self.description = {
            "tasks": text_model.tasks,
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
        """The first task of the model."""
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
                self.text_model.loaded_model,
                self._turn_s,
            )
            if batch.is_computed:
                batch.finish()
            else:
                self._queue.put_back(batch)
        except Exception as error:
            batch.fail(error)
