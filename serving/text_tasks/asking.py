"""Asks a model one of its text tasks: from several requests to their replies.

    requests = [{"text": "The boat left."}]
    replies = ask(text_model.loaded_export, text_task, requests)

A request that fails gets a `Failure` in the place of its reply, and the other
requests get their replies. If the network fails on a batch of requests, the
network runs again for each request of the batch.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from absl import logging

from serving.engines import (
    BatchLimits,
    Engine,
    EngineError,
    NetworkInput,
    OutputArrays,
)
from serving.text_tasks.loaded_export import AnyLoadedExport
from serving.text_tasks.request_fields import CheckedRequest, RequestError
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
            which only `ask_in_slices` returns.
    """

    error: Exception


# The replies that a slice computed, {index of the request: its reply or its
# failure}. They are empty after a slice that only encoded a request.
SliceReplies: TypeAlias = dict[int, Reply | Failure]


def ask(
    loaded_export: AnyLoadedExport,
    text_task: AnyTextTask,
    requests: Sequence[object],
    reply_options: ReplyOptions = DEFAULT_REPLY_OPTIONS,
) -> list[Reply | Failure]:
    """Asks a model one of its text tasks, and returns the replies.

    Args:
        loaded_export: the model.
        text_task: text task of the requests.
        requests: the requests, which may be unchecked JSON.
        reply_options: options that change all replies.

    Returns:
        a reply to each request, {} if its texts are empty, or its failure: a
        RequestError or an EngineError.

    Raises:
        Exception: an error of the code. It is no ValueError, which a command
            would report as an error of its user.
    """
    replies: list[Reply | Failure] = [{} for _ in requests]
    checked: dict[int, CheckedRequest] = {}
    for index, request in enumerate(requests):
        try:
            checked[index] = text_task.parse_request(request)
        except RequestError as error:
            replies[index] = Failure(error)
    for slice_replies in ask_in_slices(
        loaded_export, text_task, checked, reply_options
    ):
        for index, reply in slice_replies.items():
            if isinstance(reply, Failure):
                _check_no_bug(reply.error, text_task.name)
            replies[index] = reply
    return replies


def _check_no_bug(error: Exception, text_task_name: str) -> None:
    """Raises the error of a request, unless it is expected of requests.

    Raises:
        RuntimeError: the error is a ValueError of the code.
        Exception: the error itself, if it is any other error of the code.
    """
    if isinstance(error, RequestError | EngineError):
        return
    if isinstance(error, ValueError):
        raise RuntimeError(
            f"the code of the task {text_task_name} failed: {error}"
        ) from error
    raise error


def ask_in_slices(
    loaded_export: AnyLoadedExport,
    text_task: AnyTextTask,
    requests: Mapping[int, CheckedRequest],
    reply_options: ReplyOptions = DEFAULT_REPLY_OPTIONS,
) -> Iterator[SliceReplies]:
    """Asks a model as `ask` does, in slices of the work.

    A slice encodes a request or runs a batch of the network. Between two
    slices, the caller may do something else, or stop.

    Args:
        loaded_export: the model.
        text_task: text task of the requests.
        requests: {index of a request: the checked request}.
        reply_options: options that change all replies.

    Yields:
        the replies that each slice computed.
    """
    encoded: dict[int, EncodedRequest[object]] = {}
    for index, request in requests.items():
        replies: SliceReplies = {}
        if not text_task.has_text(request):
            # The network would compute a reply to an empty text.
            replies[index] = {}
        else:
            try:
                encoded[index] = text_task.encode(loaded_export, request)
            except Exception as error:
                replies[index] = Failure(error)
        yield replies
    values_per_wordpiece = 1
    if text_task.predicts_words:
        values_per_wordpiece = len(loaded_export.tokenizer.tokens)
    for computed in _run_network(
        loaded_export.engine,
        {index: request.inputs for index, request in encoded.items()},
        loaded_export.batch_limits(values_per_wordpiece),
    ):
        yield {
            index: outputs
            if isinstance(outputs, Failure)
            else _decode_reply(
                loaded_export, text_task, encoded[index], outputs, reply_options
            )
            for index, outputs in computed.items()
        }


def _run_network(
    engine: Engine,
    inputs: Mapping[int, list[NetworkInput]],
    limits: BatchLimits,
) -> Iterator[Mapping[int, list[OutputArrays] | Failure]]:
    """Yields the outputs for requests after each batch.

    If the network fails on a batch, logs why, and runs it for each request that
    has no outputs yet. Only a request on which the network fails alone gets a
    `Failure`.

    Args:
        engine: the engine that runs the network.
        inputs: {index of a request: its inputs}.
        limits: limits of a batch.
    """
    without_outputs = dict(inputs)
    try:
        for computed in engine.run_all(inputs, limits):
            for index in computed:
                del without_outputs[index]
            yield computed
    except EngineError as error:
        if len(inputs) == 1:
            yield dict.fromkeys(inputs, Failure(error))
            return
        logging.warning(
            "The network runs again for each of %d requests: %s",
            len(without_outputs),
            error,
        )
        for index, inputs_of_request in without_outputs.items():
            yield from _run_network(engine, {index: inputs_of_request}, limits)


def _decode_reply(
    loaded_export: AnyLoadedExport,
    text_task: AnyTextTask,
    encoded: EncodedRequest[object],
    outputs: list[OutputArrays],
    reply_options: ReplyOptions,
) -> Reply | Failure:
    """Decodes the outputs of the network for a request."""
    try:
        decoded = text_task.decode(
            loaded_export, encoded.decoding_context, outputs, reply_options
        )
        reply = {name: round_numbers(value) for name, value in decoded.items()}
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
