"""Writes replies as the JSON of a body."""

import json
from collections.abc import Sequence

from serving.text_tasks.text_task import Reply


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
