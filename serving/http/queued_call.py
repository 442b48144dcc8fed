"""Defines a call to a model of the server: the requests of one body."""

import asyncio
import dataclasses
import functools
from collections.abc import Sequence

from serving.http.errors import http_errors_of_requests, to_http_error
from serving.text_tasks.asking import Failure
from serving.text_tasks.request_fields import CheckedRequest, describe_place
from serving.text_tasks.text_task import AnyTextTask

# A batch contains the requests that wait, up to these numbers of texts and of
# bytes, of which the network computes about a thousand WordPieces at a time.
# A request beyond them is a batch by itself.
MAX_BATCH_SIZE = 32
MAX_BATCH_BYTES = 1 << 12


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class QueuedCall:
    """Requests of one body, whose texts are checked.

    Attributes:
        text_task: task that answers the requests.
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
            text_task: task that answers the requests.
            requests: the unchecked requests of the body, in its order.

        Raises:
            HttpError: a text is wrong. If there are several texts, the message
                says which one.
        """
        is_list = len(requests) > 1
        checked: list[CheckedRequest] = []
        for request_number, request in enumerate(requests, 1):
            place = describe_place(request_number, is_list)
            with http_errors_of_requests(place):
                checked.append(text_task.parse_request(request))
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
        """Whether the call is computed by itself, in several turns."""
        num_requests = len(self.requests)
        return num_requests > MAX_BATCH_SIZE or self.num_bytes > MAX_BATCH_BYTES

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
