"""Queues the calls to a model of the server, and forms batches of them.

While the model computes a batch, the next batch forms in the queue. A call that
needs more time than a batch is computed in turns, so that the other calls need
not wait until it ends. served_model.py computes the batches.
"""

import asyncio
import collections
import dataclasses
import functools
import json
import time
from collections.abc import Iterator, Sequence

from serving.http.errors import to_http_error
from serving.text_tasks.prepared_model import PreparedModel
from serving.text_tasks.request_lists import describe_place
from serving.text_tasks.task_flags import TaskFlags
from serving.text_tasks.task_steps import Failure, ask_in_steps
from serving.text_tasks.text_task import AnyTextTask, Reply

# A batch contains the requests that wait, up to these numbers of texts and of
# bytes, of which the network computes about a thousand WordPieces at a time.
# A request beyond them is a batch by itself.
_MAX_BATCH_SIZE = 32
_MAX_BYTES = 1 << 12
# Flags of the tasks, for all clients.
_TASK_FLAGS = TaskFlags(top_k=8, n_best=8)


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class QueuedCall:
    """Requests of one body, whose texts are checked.

    `create` checks the texts.

    Attributes:
        text_task: task that answers the requests.
        requests: the requests of the body, in its order.
        texts: all texts of all requests.
        future: the JSON text of each reply. If it is canceled, the call is
            dropped.
    """

    text_task: AnyTextTask
    requests: Sequence[object]
    texts: Sequence[str]
    future: asyncio.Future[list[bytes]]

    @classmethod
    def create(
        cls, text_task: AnyTextTask, requests: Sequence[object]
    ) -> "QueuedCall":
        """Checks requests, and returns their call, for the running event loop.

        Args:
            text_task: task that answers the requests.
            requests: the requests of the body, in its order.

        Raises:
            HttpError: a text is wrong. If there are several texts, the message
                says which one.
        """
        is_list = len(requests) > 1
        texts: list[str] = []
        for request_number, request in enumerate(requests, 1):
            try:
                texts += text_task.texts(request)
            except ValueError as error:
                where = describe_place(request_number, is_list)
                raise to_http_error(error, where) from None
        return cls(
            text_task=text_task,
            requests=requests,
            texts=texts,
            future=asyncio.get_running_loop().create_future(),
        )

    @functools.cached_property
    def num_bytes(self) -> int:
        """Bytes of all texts in UTF-8, at least as many as WordPieces."""
        return sum(max(len(text.encode()), 1) for text in self.texts)

    @property
    def is_long(self) -> bool:
        """Whether the call is computed by itself, in several turns."""
        num_requests = len(self.requests)
        return num_requests > _MAX_BATCH_SIZE or self.num_bytes > _MAX_BYTES

    def finish(self, replies: Sequence[bytes | Failure]) -> None:
        """Ends `future` with the replies, or the error of the first failure."""
        texts: list[bytes] = []
        for request_number, reply in enumerate(replies, 1):
            if isinstance(reply, Failure):
                is_list = len(self.requests) > 1
                self.fail(reply.error, describe_place(request_number, is_list))
                return
            texts.append(reply)
        if not self.future.done():
            self.future.set_result(texts)

    def fail(self, error: Exception, where: str = "") -> None:
        """Ends `future` with an error, unless it has ended already.

        `where` is the beginning of the message.
        """
        if not self.future.done():
            self.future.set_exception(to_http_error(error, where))


class CallBatch:
    """Calls of one task that are computed together, in turns.

    After the last turn, call `finish`. If a turn or `finish` raises an error,
    call `fail`.

    Attributes:
        calls: calls of one task.
        is_computed: whether the last turn is over.
    """

    def __init__(self, calls: Sequence[QueuedCall]) -> None:
        self.calls = calls
        self._requests = [
            request for call in calls for request in call.requests
        ]
        self._replies: list[bytes | Failure] = [b""] * len(self._requests)
        # None before the first turn.
        self._steps: Iterator[None] | None = None
        self.is_computed = False

    def _compute(self, prepared_model: PreparedModel) -> Iterator[None]:
        """Computes the replies. Yields after each step."""
        text_task = self.calls[0].text_task
        steps = ask_in_steps(
            prepared_model, text_task, self._requests, _TASK_FLAGS
        )
        for replies in steps:
            for index, reply in replies:
                self._replies[index] = _to_json(reply)
            yield

    def run(self, prepared_model: PreparedModel, seconds: float) -> None:
        """Computes until the first step that ends after `seconds`."""
        end = time.monotonic() + seconds
        self._steps = self._steps or self._compute(prepared_model)
        for _ in self._steps:
            if time.monotonic() > end:
                return
        self.is_computed = True

    @property
    def is_long(self) -> bool:
        """Whether the batch is a call that is computed by itself."""
        return self.calls[0].is_long

    @property
    def is_awaited(self) -> bool:
        """Whether a client still waits for a reply."""
        return not all(call.future.done() for call in self.calls)

    def finish(self) -> None:
        """Ends each call with its replies, or its first failure's error."""
        replies = iter(self._replies)
        for call in self.calls:
            call.finish([next(replies) for _ in call.requests])

    def fail(self, error: Exception) -> None:
        """Ends each call that has no replies yet with an error."""
        for call in self.calls:
            call.fail(error)


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
                num_requests + len(call.requests) <= _MAX_BATCH_SIZE
                and num_bytes + call.num_bytes <= _MAX_BYTES
            )
            if not chosen or (call.text_task is chosen[0].text_task and fits):
                chosen.append(call)
                num_requests += len(call.requests)
                num_bytes += call.num_bytes
            else:
                waiting.append(call)
        self._short = waiting
        return CallBatch(chosen)


def _to_json(reply: Reply | Failure) -> bytes | Failure:
    if isinstance(reply, Failure):
        return reply
    text = json.dumps(reply, ensure_ascii=False)
    return text.encode("utf-8", "replace")
