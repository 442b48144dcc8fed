"""What openapi.json says about the bodies of requests and about errors."""

from serving.text_tasks import TASKS_OF_CLASS
from serving.text_tasks.request_fields import LIST_FIELDS

_TASK_OF_NAME = {
    task.name: task for tasks in TASKS_OF_CLASS.values() for task in tasks
}
# The fields of each task. `TextTask.texts` checks requests.
_TASK_SCHEMAS = [
    {
        "title": task.name,
        "properties": {
            name: {"type": "array" if name in LIST_FIELDS else "string"}
            for name in task.text_names
        },
    }
    for task in _TASK_OF_NAME.values()
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
