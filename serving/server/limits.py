"""Defines the flags of serve.py that limit requests, and checks the limits."""

import asyncio
import dataclasses
import gzip
import io
import zlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from files.flags import flag, like
from serving.engines import EngineConfig
from serving.server.protocol import RestError
from serving.tasks.base import TaskOptions

if TYPE_CHECKING:
    from starlette.requests import Request

# If a body is larger than --max_body_bytes, the server still reads it, up to
# this multiple of the limit. Otherwise most clients would not see the error,
# because they send the complete body before they read the reply.
_DISCARDED = 64
# Maximum number of values (numbers and strings) in a reply. A larger reply
# could fill the memory.
MAX_VALUES = 1 << 22
# {kind of a count (see `check_count`): error message. The count replaces the
# first {}, and its maximum replaces the second {}}.
_TOO_MANY = {
    "texts": "{} texts are more than {}, the server's --max_texts; send fewer "
    "texts per request",
    "WordPieces": "{} WordPieces are more than {}, the server's "
    "--max_wordpieces; send fewer or shorter texts per request",
    "values": "The reply would contain up to {} values, more than {}; send "
    "fewer or shorter texts per request",
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Limits(EngineConfig):
    """Flags of serve.py that limit requests and batches and set the engine."""

    max_batch_size: int = flag(
        32,
        "Maximum number of texts in a batch. 1 disables batching.",
        at_least=1,
    )
    batch_wait_ms: float = flag(
        0.0,
        "Milliseconds that a request waits for more requests to join its "
        "batch. Requests that arrive while the model computes are batched "
        "anyway.",
        at_least=0.0,
    )
    max_queue: int = flag(
        256,
        "Maximum number of requests in the queue of a model. When the queue is "
        "full, new requests get status 429.",
        at_least=1,
    )
    max_body_bytes: int = flag(
        1 << 20, "Maximum size of a request's body, in bytes.", at_least=1
    )
    max_texts: int = flag(
        128,
        "Maximum number of texts in a request. A pair of texts counts as one. "
        "For WordPiece ids, maximum number of rows.",
        at_least=1,
    )
    max_wordpieces: int = flag(
        32768,
        "Maximum number of WordPieces in all texts of a request.",
        at_least=1,
    )
    min_probability: float = like(TaskOptions, "min_probability")
    timeout_s: float = flag(
        30.0,
        "Maximum seconds to receive a request, and maximum seconds to compute "
        "the reply.",
        at_least=0.1,
    )

    async def read_body(self, request: "Request") -> bytes:
        """Returns the body of a request, decompressed if it is gzip.

        Raises:
            RestError: the body is too large, uses an unknown encoding, or does
                not arrive within `timeout_s`.
        """
        most = self.max_body_bytes
        close = {"Connection": "close"}
        too_large = RestError(
            f"The body is longer than {most} bytes, the server's "
            "--max_body_bytes; send fewer texts per request",
            413,
            close,
        )
        encoding = request.headers.get("content-encoding", "identity").lower()
        if encoding not in ("identity", "gzip"):
            raise RestError(
                "send the body uncompressed or compressed by gzip", 415, close
            )
        declared = int(request.headers.get("content-length", 0))
        if declared > _DISCARDED * most or (
            declared > most and "expect" in request.headers
        ):
            raise too_large
        body, size = bytearray(), 0
        try:
            async with asyncio.timeout(self.timeout_s):
                async for part in request.stream():
                    size += len(part)
                    if size <= most:
                        body += part
                    elif size > _DISCARDED * most:
                        break
        except TimeoutError:
            message = f"The body did not arrive within {self.timeout_s:g} s"
            raise RestError(message, 408, close) from None
        if encoding == "gzip" and size <= most:
            # Decompress at most `most` + 1 bytes. The additional byte shows
            # that the body is too large.
            # Do this in a thread if the body is large, because it can take a
            # second: Python reads each member and each byte of a file name in
            # the gzip header.
            try:
                if size > 1 << 14:
                    body = await asyncio.to_thread(_inflate, body, most + 1)
                else:
                    body = _inflate(body, most + 1)
            except (OSError, EOFError, zlib.error) as error:
                raise RestError(f"The body is not gzip: {error}") from None
            size = len(body)
        if size > most:
            raise too_large
        return bytes(body)

    def check_rows(self, body: Mapping[str, Any]) -> None:
        """Checks a request's number of rows before its JSON becomes arrays.

        Raises:
            RestError: the request contains more than `max_texts` rows.
        """
        columns = body.get("inputs")
        columns = columns.values() if isinstance(columns, dict) else [columns]
        for rows in (body.get("instances"), *columns):
            if isinstance(rows, list):
                check_count("texts", len(rows), self.max_texts)

    def check_size(self, arrays: Mapping[str, np.ndarray]) -> int:
        """Checks the size of a request, and returns its number of rows.

        Raises:
            RestError: the request contains too many rows or WordPieces, or two
                inputs differ in their number of rows.
        """
        sizes = {len(array) if array.ndim else 0 for array in arrays.values()}
        if len(sizes) > 1:
            raise RestError("input tensors must have equal 0th-dimension size")
        (num_rows,) = sizes
        check_count("texts", num_rows, self.max_texts)
        ids = [a.size for a in arrays.values() if a.dtype != object]
        check_count("WordPieces", max(ids, default=0), self.max_wordpieces)
        return num_rows


def _inflate(data: bytearray, size: int) -> bytearray:
    """Returns the first `size` bytes that gzip data contain."""
    with gzip.open(io.BytesIO(data)) as file:
        return bytearray(file.read(size))


def check_count(kind: str, count: int, most: int | None = None) -> None:
    """Checks that a request or a reply is not too large.

    Args:
        kind: type of the counted things: "texts", "WordPieces" or "values".
        count: number of texts or WordPieces in a request, or number of values
            (numbers and strings) in a reply.
        most: maximum of `count`, or None for MAX_VALUES.

    Raises:
        RestError: `count` is above the maximum.
    """
    most = MAX_VALUES if most is None else most
    if count > most:
        raise RestError(_TOO_MANY[kind].format(count, most), 413)
