"""Computes the calls to a model of the server, in a thread."""

import asyncio
import os
from concurrent import futures

from serving.engines.engine_flags import EngineFlags
from serving.http.call_queue import CallBatch, CallQueue, QueuedCall
from serving.text_models.text_model import TextModel
from serving.text_tasks.text_task import AnyTextTask


class ServedModel:
    """A model with a queue of calls and a thread that computes them.

    Args:
        path: folder of an export.
        engine_flags: flags that choose and configure the runtime.
        text_model: the model, if the caller has loaded it. None = load it from
            `path`.
        turn_s: seconds after which another batch has its turn. A turn ends with
            a step of `ask_in_steps`, which may take longer.

    Attributes:
        text_task_of_name: {name: TextTask} of the model, {} until it is loaded.
        about: description of the model, for `GET /api/models`.
        version: number of the export, "1" if its folder has no number.
    """

    def __init__(
        self,
        path: str,
        engine_flags: EngineFlags,
        text_model: TextModel | None = None,
        turn_s: float = 0.05,
    ) -> None:
        self._path = path
        name = os.path.basename(os.path.normpath(path))
        self.version = name if name.isdecimal() else "1"
        self._engine_flags = engine_flags
        self._text_model = text_model
        self._turn_s = turn_s
        self.text_task_of_name: dict[str, AnyTextTask] = {}
        self.about: dict[str, object] = {}
        self._queue = CallQueue()
        self._worker: asyncio.Task[None] | None = None
        self._thread = futures.ThreadPoolExecutor(1)

    @property
    def main_text_task(self) -> AnyTextTask:
        """The first task of the model, once it is loaded."""
        return next(iter(self.text_task_of_name.values()))

    @property
    def text_model(self) -> TextModel:
        """The model, once it is loaded.

        Raises:
            RuntimeError: the model is not loaded.
        """
        if self._text_model is None:
            raise RuntimeError(f"{self._path}: call `load` first")
        return self._text_model

    def load(self) -> None:
        """Loads and warms up the model. Raises the errors of `serving.load`."""
        flags = self._engine_flags
        text_model = self._text_model or TextModel(
            self._path, flags.num_threads, flags.engine
        )
        # Raises an error for a model that accepts no text.
        text_model.task()
        text_model.warm_up()
        self._text_model = text_model
        self.text_task_of_name = {
            name: text_model.task(name) for name in text_model.tasks
        }
        self.about = {
            "tasks": text_model.tasks,
            "fields": {
                name: text_task.field_names
                for name, text_task in self.text_task_of_name.items()
            },
            "num_texts": text_model.settings.get("num_texts"),
            "engine": text_model.engine.name,
        }

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
                self._thread, batch.run, self.text_model.prepared, self._turn_s
            )
            if batch.is_computed:
                batch.finish()
            else:
                self._queue.put_back(batch)
        except Exception as error:
            batch.fail(error)
