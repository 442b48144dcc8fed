"""Parses the bodies of HTTP requests: JSON with requests to a text task."""

from files.json_files import parse_json
from serving.text_tasks.request_fields import RequestError, RequestList
from serving.text_tasks.text_task import AnyTextTask

# Fields of a body as in TensorFlow Serving.
_PREDICT_FIELDS = {"instances", "signature_name"}


def parse_body(text_task: AnyTextTask, body: bytes) -> RequestList:
    """Returns the unchecked requests in a body.

    The body is one object, a list of objects, or an object with lists of texts.

    Raises:
        RequestError: the body is not valid.
    """
    value = _parse_json(body)
    if isinstance(value, list):
        return RequestList(value, is_list=True)
    if not isinstance(value, dict):
        return RequestList([value], is_list=False)
    return text_task.split_request(value)


def parse_predict_body(text_task: AnyTextTask, body: bytes) -> list[object]:
    """Returns the unchecked requests in a body, as in TensorFlow Serving.

    The body is {"instances": list of texts or objects}. Its "signature_name"
    may name the text task.

    Raises:
        RequestError: the body is not valid.
    """
    value = _parse_json(body)
    if not (
        isinstance(value, dict)
        and {*value} <= _PREDICT_FIELDS
        and isinstance(value.get("instances"), list)
    ):
        raise RequestError('the body must be {"instances": [texts or objects]}')
    names = (text_task.name, "serving_default")
    if value.get("signature_name", text_task.name) not in names:
        raise RequestError(
            f"'signature_name' {repr(value['signature_name'])[:80]} is not "
            f"served; omit it, or use {' or '.join(names)}"
        )
    name = text_task.fields[0].name
    return [
        {name: instance} if isinstance(instance, str) else instance
        for instance in value["instances"]
    ]


def _parse_json(body: bytes) -> object:
    try:
        return parse_json(body, "the body", object)
    except ValueError as error:
        raise RequestError(str(error)) from None
