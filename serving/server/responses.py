"""Answers as HTTP responses."""

import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

from starlette.responses import Response, StreamingResponse

# Bytes of a long reply that are written at a time.
_PART = 1 << 18


def to_response(
    value: Any, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """Returns a response of JSON as TensorFlow Serving's, NaN as it is."""
    body = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
    return Response(body, status, headers, "application/json")


def in_parts(body: bytearray, headers: Mapping[str, str]) -> Response:
    """Returns a response that is copied to a slow client a part at a time."""

    async def parts() -> AsyncIterator[memoryview]:
        for begin in range(0, len(body), _PART):
            yield memoryview(body)[begin : begin + _PART]

    if len(body) <= _PART:
        return Response(memoryview(body), headers=headers)
    length = {"Content-Length": str(len(body))}
    return StreamingResponse(parts(), headers=length | {**headers})
