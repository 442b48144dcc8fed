"""The calls that wait for a model of the server, and whose turn it is.

A call is the requests of one body. Short calls of one text task run together.
A call that needs more time than a batch of short calls is computed in several
turns, so that the other calls need not wait until it ends.
"""

import asyncio
import collections
import dataclasses
import functools
import json
import time
from collections.abc import Iterator, Sequence

from serving.http.errors import to_http_error
from serving.text_tasks.asking import Failure, SliceReplies, ask_in_slices
from serving.text_tasks.loaded_export import AnyLoadedExport
from serving.text_tasks.request_fields import (
    CheckedRequest,
    RequestError,
    describe_place,
)
from serving.text_tasks.text_task import AnyTextTask, Reply, ReplyOptions

# A batch contains the requests that wait, up to these numbers of texts and of
# bytes, of which the network computes about a thousand WordPieces at a time.
# A request beyond them is a batch by itself.
_MAX_BATCH_SIZE = 32
_MAX_BATCH_BYTES = 1 << 12
# Options of the replies, for all clients.
_REPLY_OPTIONS = ReplyOptions(top_k=8, n_best=8)


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class QueuedCall:
    """Requests of one body, whose texts are checked.

    Attributes:
        text_task: text task of the requests.
        requests: the requests of the body, in its order.
        future: the JSON text of each reply. If it is canceled, the call is
            dropped.
    """

    text_task: AnyTextTask
    requests: Sequence[CheckedRequest]
    future: asyncio.Future[list[bytes]]

    @classmethod
    def create(
        cls, text_task: AnyTextTask, requests: Sequence[object]
    ) -> "QueuedCall":
        """Checks requests, and returns their call, for the running event loop.

        Args:
            text_task: text task of the requests.
            requests: the unchecked requests of the body, in its order.

        Raises:
            HttpError: a text is wrong. If there are several texts, the message
                says which one.
        """
        is_list = len(requests) > 1
        checked: list[CheckedRequest] = []
        for request_number, request in enumerate(requests, 1):
            try:
                checked.append(text_task.parse_request(request))
            except RequestError as error:
                place = describe_place(request_number, is_list)
                raise to_http_error(error, place) from None
        return cls(
            text_task=text_task,
            requests=checked,
            future=asyncio.get_running_loop().create_future(),
        )

    @functools.cached_property
    def texts(self) -> list[str]:
        """All texts of all requests."""
        return [
            text
            for request in self.requests
            for text in self.text_task.texts_of(request)
        ]

    @functools.cached_property
    def num_bytes(self) -> int:
        """Bytes of all texts in UTF-8, at least as many as WordPieces."""
        return sum(max(len(text.encode()), 1) for text in self.texts)

    @property
    def is_long(self) -> bool:
        """Whether the call runs alone, in several turns."""
        num_requests = len(self.requests)
        return (
            num_requests > _MAX_BATCH_SIZE or self.num_bytes > _MAX_BATCH_BYTES
        )

    def count_wordpieces(self, loaded_export: AnyLoadedExport) -> int:
        """Returns the number of WordPieces that the model reads.

        `loaded_export` is the model that computes the call.
        """
        tokenizer = loaded_export.tokenizer
        max_seq_length = loaded_export.max_seq_length
        # Every word of a list is read, also if the tokenizer drops all of it.
        if self.text_task.reads_all:
            return sum(
                max(len(tokenizer.tokenize(text)), 1) for text in self.texts
            )
        return sum(
            min(
                len(tokenizer.tokenize_beginning(text, max_seq_length)),
                max_seq_length,
            )
            for text in self.texts
        )

    def finish(self, replies: Sequence[bytes | Failure]) -> None:
        """Ends `future` with the replies, or the error of the first failure."""
        succeeded: list[bytes] = []
        for request_number, reply in enumerate(replies, 1):
            if isinstance(reply, Failure):
                is_list = len(self.requests) > 1
                self.fail(reply.error, describe_place(request_number, is_list))
                return
            succeeded.append(reply)
        if not self.future.done():
            self.future.set_result(succeeded)

    def fail(self, error: Exception, place: str = "") -> None:
        """Ends `future` with an error, unless it has ended already.

        `place` is the beginning of the message, such as "text 3: ".
        """
        if not self.future.done():
            self.future.set_exception(to_http_error(error, place))


class CallBatch:
    """Calls of one text task that run together, in turns.

    After the last turn, call `finish`. If a turn or `finish` raises an error,
    call `fail`.

    Attributes:
        calls: calls of one text task.
        is_computed: whether the last turn is over.
    """

    def __init__(self, calls: Sequence[QueuedCall]) -> None:
        self.calls = calls
        self._requests = [
            request for call in calls for request in call.requests
        ]
        self._replies: list[bytes | Failure] = [b""] * len(self._requests)
        # None before the first turn.
        self._slices: Iterator[SliceReplies] | None = None
        self.is_computed = False

    def run(self, loaded_export: AnyLoadedExport, seconds: float) -> None:
        """Computes until the first slice that ends after `seconds`."""
        end = time.monotonic() + seconds
        if self._slices is None:
            self._slices = ask_in_slices(
                loaded_export,
                self.calls[0].text_task,
                dict(enumerate(self._requests)),
                _REPLY_OPTIONS,
            )
        for slice_replies in self._slices:
            self._keep(slice_replies)
            if time.monotonic() > end:
                return
        self.is_computed = True

    def _keep(self, slice_replies: SliceReplies) -> None:
        """Keeps the replies of a slice, as the JSON that clients get."""
        for index, reply in slice_replies.items():
            if isinstance(reply, Failure):
                self._replies[index] = reply
            else:
                self._replies[index] = _encode_reply(reply)

    @property
    def is_long(self) -> bool:
        """Whether the batch is a long call, which runs alone."""
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
                num_requests + len(call.requests) <= _MAX_BATCH_SIZE
                and num_bytes + call.num_bytes <= _MAX_BATCH_BYTES
            )
            if not chosen or (call.text_task is chosen[0].text_task and fits):
                chosen.append(call)
                num_requests += len(call.requests)
                num_bytes += call.num_bytes
            else:
                waiting.append(call)
        self._short = waiting
        return CallBatch(chosen)


def _encode_reply(reply: Reply) -> bytes:
    """Returns the JSON text of a reply, in UTF-8."""
    text = json.dumps(reply, ensure_ascii=False)
    return text.encode("utf-8", "replace")
