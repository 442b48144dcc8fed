"""Reads requests from the JSON of a body, or from texts in an argument."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from files.json_files import parse_json
from serving.tasks.text_task import LISTS, AnyTextTask, Request

# Fields of a request as in TensorFlow Serving.
_PREDICT_FIELDS = {"instances", "signature_name"}


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


def to_requests(task: AnyTextTask, texts: Sequence[str]) -> list[Request]:
    """Converts the texts of the command line to requests.

    If the task has one field, each text is a request. Otherwise the texts
    become the fields of one request, in order. If the last field is a list, it
    contains all remaining texts.

    Raises:
        ValueError: there are too few or too many texts.
    """
    fields = [*task.fields]
    if len(fields) == 1:
        return [{fields[0]: text} for text in texts]
    values: list[object] = [*texts]
    if fields[-1] in LISTS and len(texts) > 1:
        values = [texts[0], [*texts[1:]]]
    if not sum(task.fields.values()) <= len(values) <= len(fields):
        raise ValueError(
            f"{task.name}: pass these texts in this order, each in quotes: "
            f"{', '.join(fields)}. Received: {values}"
        )
    return [dict(zip(fields, values, strict=False))]


def parse_body(task: AnyTextTask, text: bytes) -> RequestList:
    """Returns the unchecked requests in JSON text.

    The text is one object, a list of objects, or an object with lists of texts.

    Raises:
        ValueError: the text is not valid.
    """
    value = parse_json(text, "the body", object)
    if isinstance(value, dict):
        return expand_lists(task, value)
    if isinstance(value, list):
        return RequestList(value, is_list=True)
    return RequestList([value], is_list=False)


def parse_predict_body(task: AnyTextTask, text: bytes) -> RequestList:
    """Returns the unchecked requests in JSON text, as in TensorFlow Serving.

    The text is {"instances": list of texts or objects}. Its "signature_name"
    may name the task.

    Raises:
        ValueError: the text is not valid.
    """
    value = parse_json(text, "the body", object)
    is_valid = isinstance(value, dict) and {*value} <= _PREDICT_FIELDS
    if not (is_valid and isinstance(value.get("instances"), list)):
        raise ValueError('the body must be {"instances": [texts or objects]}')
    names = (task.name, "serving_default")
    if value.get("signature_name", task.name) not in names:
        raise ValueError(
            f"'signature_name' {repr(value['signature_name'])[:80]} is not "
            f"served; omit it, or use {' or '.join(names)}"
        )
    field = next(iter(task.fields))
    requests = [
        {field: instance} if isinstance(instance, str) else instance
        for instance in value["instances"]
    ]
    return RequestList(requests, is_list=True)
