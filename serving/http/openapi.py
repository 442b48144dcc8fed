"""What openapi.json says about the bodies of requests and about errors."""

from serving.text_tasks import TEXT_TASKS_OF_CLASS
from serving.text_tasks.request_fields import LIST_FIELDS

_TEXT_TASK_OF_NAME = {
    text_task.name: text_task
    for text_tasks in TEXT_TASKS_OF_CLASS.values()
    for text_task in text_tasks
}
# The fields of each task. `TextTask.texts` checks requests.
_TASK_SCHEMAS = [
    {
        "title": text_task.name,
        "properties": {
            name: {"type": "array" if name in LIST_FIELDS else "string"}
            for name in text_task.text_names
        },
    }
    for text_task in _TEXT_TASK_OF_NAME.values()
]
# Of a POST.
BODY_SCHEMA = {
    "requestBody": {
        "required": True,
        "content": {"application/json": {"schema": {"anyOf": _TASK_SCHEMAS}}},
    }
}
# Replaces FastAPI's status 422, which no request gets.
ERROR_RESPONSE = {
    "description": "An error",
    "content": {
        "application/json": {
            "schema": {
                "type": "object",
                "properties": {"error": {"type": "string"}},
                "required": ["error"],
            }
        }
    },
}
