"""Describes operations, bodies of requests, and errors for openapi.json."""

from serving.text_tasks.registry import list_text_tasks
from serving.text_tasks.request_fields import LIST_FIELDS

# {path: name of its operation}. The ids in openapi.json, by which generated
# clients call the operations, begin with these names, so that the names must
# never change. The page that browsers show is no operation.
OPERATION_OF_PATH = {
    "/healthz": "_health",
    "/api/models": "_list",
    "/api/models/{name}/{task}": "_do_task",
    "/v1/models/{name}": "_status",
    "/v1/models/{name}:predict": "_predict",
}

# The fields of each task. `TextTask.parse_request` checks requests.
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
