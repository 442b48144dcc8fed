"""Gets the replies of a model to several requests at once, in slices.

    requests = [{"text": "The boat left."}]
    replies = ModelAsker(text_model.text_engine, text_task).ask(requests)

A request that fails gets a `Failure` in the place of its reply, and the other
requests get their replies. If the network fails on a batch of requests, the
network runs again for each request of the batch.
"""

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from absl import logging

from serving.engines import EngineError, OutputArrays
from serving.text_tasks.request_fields import CheckedRequest, RequestError
from serving.text_tasks.text_engine import AnyTextEngine
from serving.text_tasks.text_task import (
    DEFAULT_REPLY_OPTIONS,
    AnyTextTask,
    EncodedRequest,
    Reply,
    ReplyOptions,
)


class Failure(NamedTuple):
    """The error of a request that fails, which takes the place of a reply.

    Attributes:
        error: what the request raised: a RequestError if the request is wrong,
            or an EngineError if the network fails. Any other error is a bug,
            which only `ModelAsker.ask_in_slices` returns.
    """

    error: Exception


# The replies that a slice computed, {index of the request: its reply or its
# failure}. They are empty after a slice that only encoded a request.
SliceReplies: TypeAlias = dict[int, Reply | Failure]


@dataclasses.dataclass(frozen=True)
class ModelAsker:
    """Gets the replies of a model to requests to one of its text tasks.

    Attributes:
        text_engine: the model that gets the requests.
        text_task: text task of the requests.
        reply_options: options that change all replies.
    """

    text_engine: AnyTextEngine
    text_task: AnyTextTask
    reply_options: ReplyOptions = DEFAULT_REPLY_OPTIONS

    def ask(self, requests: Sequence[object]) -> list[Reply | Failure]:
        """Returns the replies to requests, which may be unchecked JSON.

        Returns:
            a reply to each request, {} if its texts are empty, or its failure:
            a RequestError or an EngineError.

        Raises:
            Exception: an error of the code. It is no ValueError, which a
                command would report as an error of its user.
        """
        replies: list[Reply | Failure] = [{} for _ in requests]
        checked: dict[int, CheckedRequest] = {}
        for index, request in enumerate(requests):
            try:
                checked[index] = self.text_task.parse_request(request)
            except RequestError as error:
                replies[index] = Failure(error)
        for slice_replies in self.ask_in_slices(checked):
            for index, reply in slice_replies.items():
                if isinstance(reply, Failure):
                    self._check_no_bug(reply.error)
                replies[index] = reply
        return replies

    def _check_no_bug(self, error: Exception) -> None:
        """Raises the error of a request, unless it is expected of requests.

        Raises:
            RuntimeError: the error is a ValueError of the code.
            Exception: the error itself, if it is any other error of the code.
        """
        if isinstance(error, RequestError | EngineError):
            return
        if isinstance(error, ValueError):
            raise RuntimeError(
                f"the code of the task {self.text_task.name} failed: {error}"
            ) from error
        raise error

    def ask_in_slices(
        self, requests: Mapping[int, CheckedRequest]
    ) -> Iterator[SliceReplies]:
        """Replies to requests that are checked, in slices of the work.

        A slice encodes a request or runs a batch of the network. Between two
        slices, the caller may do something else, or stop.

        Args:
            requests: {index of a request: the request}.

        Yields:
            the replies that each slice computed.
        """
        encoded: dict[int, EncodedRequest[object]] = {}
        for index, request in requests.items():
            replies: SliceReplies = {}
            if not self.text_task.has_text(request):
                # The network would compute a reply to an empty text.
                replies[index] = {}
            else:
                try:
                    encoded[index] = self.text_task.encode(
                        self.text_engine, request
                    )
                except Exception as error:
                    replies[index] = Failure(error)
            yield replies
        yield from self._ask_encoded(encoded)

    def _ask_encoded(
        self, encoded: Mapping[int, EncodedRequest[object]]
    ) -> Iterator[SliceReplies]:
        """Yields the replies to requests after each batch.

        If the network fails on a batch, logs why, and runs it for each request
        that has no reply yet. Only requests on which the network fails alone
        get an error.
        """
        without_reply = dict(encoded)
        try:
            for replies in self._run_batches(encoded):
                for index in replies:
                    del without_reply[index]
                yield replies
        except EngineError as error:
            if len(encoded) == 1:
                yield dict.fromkeys(encoded, Failure(error))
                return
            logging.warning(
                "The network runs again for each of %d requests: %s",
                len(without_reply),
                error,
            )
            for index, request in without_reply.items():
                yield from self._ask_encoded({index: request})

    def _run_batches(
        self, encoded: Mapping[int, EncodedRequest[object]]
    ) -> Iterator[SliceReplies]:
        """Runs the network, and yields the replies after each batch.

        Raises an EngineError if the network fails on a batch.
        """
        inputs_of_request = {
            index: request.inputs for index, request in encoded.items()
        }
        values_per_token = 1
        if self.text_task.predicts_words:
            values_per_token = len(self.text_engine.tokenizer.tokens)
        limits = self.text_engine.batch_limits(values_per_token)
        batches = self.text_engine.engine.run_all(inputs_of_request, limits)
        for computed in batches:
            yield {
                index: self._decode_reply(encoded[index], outputs)
                for index, outputs in computed.items()
            }

    def _decode_reply(
        self, encoded: EncodedRequest[object], outputs: list[OutputArrays]
    ) -> Reply | Failure:
        """Decodes the outputs of the network for a request."""
        try:
            decoded = self.text_task.decode(
                self.text_engine,
                encoded.decoding_context,
                outputs,
                self.reply_options,
            )
            reply = {
                name: round_numbers(value) for name, value in decoded.items()
            }
        except Exception as error:
            return Failure(error)
        if cut := max((part.num_cut for part in encoded.inputs), default=0):
            reply["num_wordpieces_cut"] = cut
        return reply


def round_numbers(value: object) -> object:
    """Rounds the floats in a part of a reply to 6 significant digits.

    Digits after the sixth are noise of the computation, which JSON would show.

    Args:
        value: plain Python, which JSON can contain.

    Returns:
        the same value with rounded floats. Lists and dicts are new objects.

    Raises:
        EngineError: a number is NaN or infinite.
    """
    # Most values are the numbers of vectors.
    if isinstance(value, float):
        return _round_number(value)
    if isinstance(value, list):
        return [*map(round_numbers, value)]
    if isinstance(value, dict):
        return {name: round_numbers(entry) for name, entry in value.items()}
    return value


def _round_number(number: float) -> float:
    if not math.isfinite(number):
        raise EngineError(
            f"the model returned {number}, which is not a finite number; check "
            "the model's weights and precision"
        )
    return float(f"{number:.6g}")
