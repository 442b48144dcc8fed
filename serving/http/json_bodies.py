"""Reads requests from the JSON of a body."""

from files.json_files import parse_json
from serving.text_tasks.request_lists import RequestList, split_request
from serving.text_tasks.text_task import AnyTextTask

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
        return split_request(text_task, value)
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
