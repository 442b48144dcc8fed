"""Checks answers against their passages.

For example:

    check_bytes(passage, model.answer("Who?", passage))
"""

from collections.abc import Mapping
from typing import Any

from data.squad.squad_examples import WORD


def check_bytes(context: str, answer: Mapping[str, Any]) -> None:
    """Checks that the bytes are the answer's, white space aside."""
    if answer["start_byte"] < 0:
        assert answer["answer"] in ("", "empty")
        assert answer["end_byte"] == -1
        return
    cut = context.encode()[answer["start_byte"] : answer["end_byte"]].decode()
    words = [part.group() for part in WORD.finditer(cut)]
    assert words == WORD.findall(answer["answer"])
    assert words
