"""Reads requests from the JSON of a body, and writes replies as such."""

import json
from collections.abc import Sequence

from files.json_files import parse_json
from serving.text_tasks.request_fields import RequestList
from serving.text_tasks.text_task import AnyTextTask, Reply

# Fields of a request as in TensorFlow Serving.
_PREDICT_FIELDS = {"instances", "signature_name"}


def parse_body(text_task: AnyTextTask, text: bytes) -> RequestList:
    """Returns the unchecked requests in JSON text.

    The text is one object, a list of objects, or an object with lists of texts.

    Raises:
        ValueError: the text is not valid.
    """
    value = parse_json(text, "the body", object)
    if isinstance(value, dict):
        return text_task.split_request(value)
    if isinstance(value, list):
        return RequestList(value, is_list=True)
    return RequestList([value], is_list=False)


def parse_predict_body(text_task: AnyTextTask, text: bytes) -> list[object]:
    """Returns the unchecked requests in JSON text, as in TensorFlow Serving.

    The text is {"instances": list of texts or objects}. Its "signature_name"
    may name the task.

    Raises:
        ValueError: the text is not valid.
    """
    value = parse_json(text, "the body", object)
    if not (
        isinstance(value, dict)
        and {*value} <= _PREDICT_FIELDS
        and isinstance(value.get("instances"), list)
    ):
        raise ValueError('the body must be {"instances": [texts or objects]}')
    names = (text_task.name, "serving_default")
    if value.get("signature_name", text_task.name) not in names:
        raise ValueError(
            f"'signature_name' {repr(value['signature_name'])[:80]} is not "
            f"served; omit it, or use {' or '.join(names)}"
        )
    name = text_task.fields[0].name
    return [
        {name: instance} if isinstance(instance, str) else instance
        for instance in value["instances"]
    ]


def encode_reply(reply: Reply) -> bytes:
    """Returns the JSON text of a reply, in UTF-8."""
    text = json.dumps(reply, ensure_ascii=False)
    return text.encode("utf-8", "replace")


def create_body(replies: Sequence[bytes], *, is_list: bool) -> bytes:
    """Returns the body with the replies to the requests of a body.

    Args:
        replies: the JSON text of each reply.
        is_list: whether the client sent a list of requests, and not only one.
    """
    text = b", ".join(replies)
    return b"[%b]" % text if is_list else text


def create_predict_body(replies: Sequence[bytes]) -> bytes:
    """Returns the body with replies as in TensorFlow Serving.

    Args:
        replies: the JSON text of each reply.
    """
    return b'{"predictions": %b}' % create_body(replies, is_list=True)
