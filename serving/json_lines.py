"""Writes answers as JSON lines: see predict.py."""

import json
from collections.abc import Iterable
from typing import Any


def to_json_lines(answers: Iterable[dict[str, Any]]) -> bytes:
    """Returns dicts as JSON lines in UTF-8."""
    return b"".join(_to_json(answer) + b"\n" for answer in answers)


def _to_json(answer: dict[str, Any]) -> bytes:
    try:
        return json.dumps(answer, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        # Half of a surrogate pair in an id stays escaped.
        return json.dumps(answer).encode()
