"""Computes the calls to a model of the server in a thread.

While the model computes a batch, the next batch forms in the queue.
"""

import asyncio
from concurrent import futures

from serving.http.call_queue import CallBatch, CallQueue, QueuedCall
from serving.http.errors import HttpError
from serving.text_model import TextModel


class ModelWorker:
    """Queues the calls to a model, and computes them in a thread.

    Args:
        text_model: the model, which accepts text.
        turn_s: seconds after which another batch has its turn. A turn ends with
            a slice of `ask_in_slices`, which may take longer.

    Attributes:
        text_model: the model.
    """

    def __init__(self, text_model: TextModel, turn_s: float = 0.05) -> None:
        self.text_model = text_model
        self._turn_s = turn_s
        self._queue = CallQueue()
        # None while no call waits.
        self._computation: asyncio.Task[None] | None = None
        self._thread = futures.ThreadPoolExecutor(1)
        # Counts the WordPieces of long calls, while the model computes others.
        self._counting_thread = futures.ThreadPoolExecutor(1)

    async def compute_replies(
        self, call: QueuedCall, max_wordpieces: int
    ) -> list[bytes]:
        """Returns the replies to a call, as JSON text.

        Args:
            call: the call, whose texts are checked.
            max_wordpieces: maximum number of WordPieces in a call.

        Raises:
            HttpError: there is too much text, or a request fails.
        """
        # A text has at most as many WordPieces as bytes.
        if call.num_bytes > max_wordpieces:
            await self._check_num_wordpieces(call, max_wordpieces)
        return await self.submit(call)

    async def _check_num_wordpieces(
        self, call: QueuedCall, max_wordpieces: int
    ) -> None:
        """Raises an HttpError if a call has more WordPieces than allowed."""
        loop = asyncio.get_running_loop()
        num_wordpieces = await loop.run_in_executor(
            self._counting_thread,
            call.count_wordpieces,
            self.text_model.loaded_export,
        )
        if num_wordpieces > max_wordpieces:
            raise HttpError(
                413,
                f"{num_wordpieces} WordPieces are more than {max_wordpieces}, "
                "the server's --max_pieces; send less text per request",
            )

    def submit(self, call: QueuedCall) -> asyncio.Future[list[bytes]]:
        """Queues a call, and returns its `future`."""
        self._queue.add(call)
        if self._computation is None:
            self._computation = asyncio.create_task(self._compute_calls())
        return call.future

    async def _compute_calls(self) -> None:
        """Computes the batches of the queue, until no call is left."""
        try:
            while batch := self._queue.take_next():
                await self._take_turn(batch)
        finally:
            # However the computation ended, the next call starts another.
            self._computation = None

    async def _take_turn(self, batch: CallBatch) -> None:
        """Computes a batch for a turn, and queues the rest of the batch.

        Raises no error, because the calls of the batch end with the error.
        """
        loop = asyncio.get_running_loop()
        try:
            await loop.run_in_executor(
                self._thread,
                batch.run,
                self.text_model.loaded_export,
                self._turn_s,
            )
            if batch.is_computed:
                batch.finish()
            else:
                self._queue.put_back(batch)
        except Exception as error:
            batch.fail(error)
