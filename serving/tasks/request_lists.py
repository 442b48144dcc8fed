"""Splits a request with lists of texts into requests with one text each."""

from typing import Any, NamedTuple

from serving.tasks.text_task import LISTS, AnyTextTask, Request


class RequestList(NamedTuple):
    """The requests of one call.

    Attributes:
        requests: the requests, which may be unchecked.
        is_list: whether the caller asked for a list of replies, and not for the
            reply to the only request.
    """

    requests: list[Any]
    is_list: bool


def expand_lists(task: AnyTextTask, request: Request) -> RequestList:
    """Splits a request whose fields contain lists of texts.

    A single text beside a list is for all of them.

    Raises:
        ValueError: two lists are not of the same length.
    """
    names = {name for field in task.fields for name in task.names_of(field)}
    lists = {
        name: request[name]
        for name in sorted(names & request.keys() - {*LISTS})
        if isinstance(request[name], list)
    }
    counts = {len(texts) for texts in lists.values()}
    if len(counts) > 1:
        raise ValueError(f"{', '.join(lists)} must be lists of equal length")
    requests = [
        request | {name: texts[index] for name, texts in lists.items()}
        for index in range(max(counts, default=1))
    ]
    return RequestList(requests, bool(lists))
