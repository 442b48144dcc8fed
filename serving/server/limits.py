"""Limits of one request."""

import asyncio
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from starlette.requests import Request

from serving.server.protocol import BadRequest, RestError

# Up to this many times the limit, a body is still read and dropped, because a
# client sees no answer while it sends.
_DISCARDED = 16


@dataclasses.dataclass(frozen=True)
class Limits:
    """Limits of one request.

    Attributes:
        max_body_bytes: bytes of its body.
        max_texts: texts, or rows, in it.
        max_wordpieces: WordPieces of all its texts together.
        timeout: seconds to send it, and again to wait for the answer.
        token: bearer token that clients must send; "" for none.
    """

    max_body_bytes: int = 1 << 20
    max_texts: int = 128
    max_wordpieces: int = 32768
    timeout: float = 30.0
    token: str = ""

    async def read_body(self, request: Request) -> bytes:
        """Returns the body of a request.

        Raises:
            RestError: it is too large or compressed, or does not arrive.
        """
        most = self.max_body_bytes
        too_large = RestError(
            413,
            f"The body has more than {most} bytes, the server's "
            "--max_body_bytes; send fewer texts at a time",
            {"Connection": "close"},
        )
        if request.headers.get("content-encoding", "identity") != "identity":
            raise RestError(415, "send the body without Content-Encoding")
        length = request.headers.get("content-length", "0")
        declared = int(length[:20]) if length.isdecimal() else 0
        if declared > _DISCARDED * most or (
            declared > most and "expect" in request.headers
        ):
            raise too_large
        body, size = bytearray(), 0
        try:
            async with asyncio.timeout(self.timeout):
                async for part in request.stream():
                    size += len(part)
                    if size <= most:
                        body += part
                    elif size > _DISCARDED * most:
                        break
        except TimeoutError:
            raise RestError(
                408,
                f"The body did not come within {self.timeout:g} s",
                {"Connection": "close"},
            ) from None
        if size > most:
            raise too_large
        return bytes(body)

    def check_rows(self, body: Mapping[str, Any]) -> None:
        """Refuses too many rows before the slow conversion to arrays.

        Raises:
            RestError: there are too many.
        """
        columns = body.get("inputs")
        columns = columns.values() if isinstance(columns, dict) else [columns]
        for rows in (body.get("instances"), *columns):
            if isinstance(rows, list) and len(rows) > self.max_texts:
                raise RestError(
                    413,
                    f"{len(rows)} texts are more than {self.max_texts}, the "
                    "server's --max_texts; send fewer at a time",
                )

    def check_size(
        self, arrays: Mapping[str, np.ndarray]
    ) -> tuple[int, list[bytes]]:
        """Returns the rows of a request, and its texts.

        Raises:
            RestError: there are too many.
        """
        sizes = {len(array) if array.ndim else 0 for array in arrays.values()}
        if len(sizes) > 1:
            raise BadRequest("input tensors must have equal 0th-dimension size")
        (num_rows,) = sizes
        values = max(array.size for array in arrays.values())
        texts = [
            text
            for array in arrays.values()
            if array.dtype == object
            for text in array.flat
        ]
        if not texts:
            self.check_wordpieces(values)
        return num_rows, texts

    def may_be_long(self, texts: Sequence[bytes]) -> bool:
        """Returns whether texts may have more WordPieces than are allowed.

        A WordPiece has at least one byte, and usually more.
        """
        return sum(map(len, texts)) > self.max_wordpieces

    def check_wordpieces(self, count: int) -> None:
        """Refuses too many WordPieces.

        Raises:
            RestError: there are too many.
        """
        if count > self.max_wordpieces:
            raise RestError(
                413,
                f"{count} WordPieces are more than {self.max_wordpieces}, "
                "the server's --max_wordpieces; send fewer or shorter texts at "
                "a time",
            )
