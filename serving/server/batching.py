"""Runs requests in batches, with one queue and one thread per model.

When the queue is full, a new request fails at once, so that an overloaded
server still answers accepted requests quickly.
"""

import dataclasses
import threading
import time
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future
from typing import Any

from serving.server.limits import Limits
from serving.server.protocol import RestError


class Closed(RestError):
    """Error for a request to a Batcher that was closed."""


@dataclasses.dataclass(eq=False)
class _Work:
    key: Hashable
    payload: Any
    num_rows: int
    is_alone: bool
    future: Future = dataclasses.field(default_factory=Future)
    came: float = dataclasses.field(default_factory=time.monotonic)


class Batcher:
    """Runs requests in batches, in order of arrival.

    All requests of a batch have equal keys.

    Args:
        run: function (key, payloads of the requests) -> results of the requests
            that runs a batch. If it fails, the batcher runs each request of the
            batch separately.
        limits: limits of batches and of the queue.
        on_batch: function (number of rows, seconds) that is called after each
            batch.
    """

    def __init__(
        self,
        run: Callable[[Any, Sequence[Any]], Sequence[Any]],
        limits: Limits,
        on_batch: Callable[[int, float], None] = lambda rows, seconds: None,
    ) -> None:
        self._run = run
        self._limits = limits
        self._on_batch = on_batch
        self._waiting: list[_Work] = []
        self._changed = threading.Condition()
        self._is_closed = False
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def submit(
        self, key: Hashable, payload: Any, num_rows: int, is_alone: bool = False
    ) -> Future:
        """Queues a request.

        Args:
            key: only requests with equal keys can run in the same batch.
            payload: input of the request, passed to `run`.
            num_rows: number of rows that the request adds to a batch.
            is_alone: True to run the request in a batch of its own.

        Returns:
            a Future of the request's result. If the Future is cancelled before
            the batch begins, the request does not run.

        Raises:
            RestError: the queue is full (status 429).
            Closed: `close` was called.
        """
        work = _Work(key, payload, num_rows, is_alone)
        with self._changed:
            if self._is_closed:
                raise Closed("the server is shutting down", 503)
            if len(self._waiting) >= self._limits.max_queue:
                # Drop the requests of clients that have disconnected.
                self._waiting = [
                    each
                    for each in self._waiting
                    if not each.future.cancelled()
                ]
            if len(self._waiting) >= self._limits.max_queue:
                raise RestError(
                    "request queue is full; try again later",
                    429,
                    {"Retry-After": "1"},
                )
            self._waiting.append(work)
            self._changed.notify()
        return work.future

    def __len__(self) -> int:
        """Returns the number of waiting requests."""
        return len(self._waiting)

    def close(self, timeout: float | None = None) -> None:
        """Rejects new requests, and waits until queued requests have run.

        `timeout` is the maximum number of seconds to wait, None for no maximum.
        """
        with self._changed:
            self._is_closed = True
            self._changed.notify()
        self._thread.join(timeout)

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._is_closed)
                if not self._waiting:
                    return
                batch = self._next_batch()
            # Drop the requests of clients that have disconnected.
            batch = [
                work
                for work in batch
                if work.future.set_running_or_notify_cancel()
            ]
            if batch:
                self._compute(batch)
            # Free the batch's memory before waiting for the next batch.
            del batch

    def _next_batch(self) -> list[_Work]:
        """Waits for a batch, and removes its requests from the queue.

        The batch is ready when it is full, or when its first request has waited
        for `batch_wait_ms`.
        """
        first = self._waiting[0]
        if first.is_alone or self._limits.max_batch_size <= 1:
            return [self._waiting.pop(0)]

        def is_full() -> bool:
            same = [each for each in self._waiting if each.key == first.key]
            rows = sum(each.num_rows for each in same)
            return self._is_closed or rows >= self._limits.max_batch_size

        until = first.came + self._limits.batch_wait_ms / 1000
        self._changed.wait_for(is_full, until - time.monotonic())
        batch: list[_Work] = []
        others: list[_Work] = []
        rows = 0
        for work in self._waiting:
            fits = rows + work.num_rows <= self._limits.max_batch_size
            can_join = work.key == first.key and not work.is_alone
            # A request with more rows than max_batch_size gets its own batch.
            if can_join and (fits or not batch):
                batch.append(work)
                rows += work.num_rows
            else:
                others.append(work)
        self._waiting = others
        return batch

    def _compute(self, batch: Sequence[_Work]) -> None:
        began = time.monotonic()
        results: Sequence[Any] = ()
        failure: BaseException | None = None
        try:
            results = self._run(batch[0].key, [work.payload for work in batch])
        except BaseException as error:
            failure = error
        if failure and len(batch) > 1:
            # Run each request separately, so that only bad requests fail.
            for work in batch:
                self._compute([work])
            return
        self._on_batch(
            sum(work.num_rows for work in batch), time.monotonic() - began
        )
        if failure:
            batch[0].future.set_exception(failure)
        for work, result in zip(batch, results, strict=False):
            work.future.set_result(result)
