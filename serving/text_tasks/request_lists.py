"""Splits a request with lists of texts into requests with one text each."""

from collections.abc import Sequence
from typing import NamedTuple

from serving.text_tasks.request_fields import LIST_FIELDS, Request
from serving.text_tasks.text_task import AnyTextTask


class RequestList(NamedTuple):
    """The requests of one call.

    Attributes:
        requests: the requests, which may be unchecked.
        is_list: whether the caller asked for a list of replies, and not for the
            reply to the only request.
    """

    requests: Sequence[object]
    is_list: bool


def split_request(text_task: AnyTextTask, request: Request) -> RequestList:
    """Splits a request whose fields contain lists of texts.

    A single text beside a list is used for each text of the list.

    Raises:
        ValueError: two lists are not of the same length.
    """
    lists = {
        name: texts
        for name in sorted({*text_task.text_names} - {*LIST_FIELDS})
        if isinstance(texts := request.get(name), list)
    }
    counts = {len(texts) for texts in lists.values()}
    if len(counts) > 1:
        raise ValueError(f"{', '.join(lists)} must be lists of equal length")
    requests = [
        request | {name: texts[index] for name, texts in lists.items()}
        for index in range(max(counts, default=1))
    ]
    return RequestList(requests, bool(lists))


def describe_place(request_number: int, is_list: bool) -> str:
    """Returns the beginning of an error about one of the requests of a call.

    Args:
        request_number: number of the request, from 1.
        is_list: whether the call may have other requests.
    """
    return f"text {request_number}: " if is_list else ""
