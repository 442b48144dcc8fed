"""Queues the calls to a model of the server, and forms batches of them.

While the model computes a batch, the next batch forms in the queue. Long calls
and batches take turns. served_model.py computes the batches.
"""

import collections

from serving.http.call_batch import CallBatch
from serving.http.queued_call import (
    MAX_BATCH_BYTES,
    MAX_BATCH_SIZE,
    QueuedCall,
)


class CallQueue:
    """The calls that a model has not computed yet, and whose turn it is.

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
        self._drop_calls()
        has_short = bool(self._batch or self._short)
        if self._long and (self._is_turn_of_long or not has_short):
            self._is_turn_of_long = False
            return self._long.popleft()
        self._is_turn_of_long = True
        batch, self._batch = self._batch, None
        return batch or (self._create_batch() if self._short else None)

    def _drop_calls(self) -> None:
        """Drops the calls whose clients do not wait anymore."""
        self._short = [call for call in self._short if not call.future.done()]
        awaited = (batch for batch in self._long if batch.is_awaited)
        self._long = collections.deque(awaited)
        if self._batch and not self._batch.is_awaited:
            self._batch = None

    def _create_batch(self) -> CallBatch:
        """Takes the short calls of one task that fit into a batch, in order."""
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
