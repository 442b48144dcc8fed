"""What openapi.json says about the bodies of requests and about errors."""

from serving.text_tasks import list_text_tasks
from serving.text_tasks.request_fields import LIST_FIELDS

# The fields of each task. `TextTask.texts` checks requests.
_TASK_SCHEMAS = [
    {
        "title": text_task.name,
        "properties": {
            name: {"type": "array" if name in LIST_FIELDS else "string"}
            for name in text_task.text_names
        },
    }
    for text_task in list_text_tasks()
]
# What openapi.json says about the body of a POST.
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
