"""Computes calls to a model together, in turns.

A call that needs more time than a batch is computed in several turns, so that
the other calls need not wait until it ends.
"""

import time
from collections.abc import Iterator, Sequence

from serving.http.json_bodies import encode_reply
from serving.http.queued_call import QueuedCall
from serving.text_tasks.asking import Failure, StepReplies, ask_in_steps
from serving.text_tasks.loaded_model import LoadedModel
from serving.text_tasks.text_task import ReplyOptions

# Options of the replies, for all clients.
_REPLY_OPTIONS = ReplyOptions(top_k=8, n_best=8)


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
        self._steps: Iterator[StepReplies] | None = None
        self.is_computed = False

    def run(self, loaded_model: LoadedModel, seconds: float) -> None:
        """Computes until the first step that ends after `seconds`."""
        end = time.monotonic() + seconds
        if self._steps is None:
            self._steps = ask_in_steps(
                loaded_model,
                self.calls[0].text_task,
                dict(enumerate(self._requests)),
                _REPLY_OPTIONS,
            )
        for step_replies in self._steps:
            self._keep(step_replies)
            if time.monotonic() > end:
                return
        self.is_computed = True

    def _keep(self, step_replies: StepReplies) -> None:
        """Keeps the replies of a step, as the JSON that clients get."""
        for index, reply in step_replies.items():
            if isinstance(reply, Failure):
                self._replies[index] = reply
            else:
                self._replies[index] = encode_reply(reply)

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
