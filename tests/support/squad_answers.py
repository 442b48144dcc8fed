"""Checks answers against their passages."""

from data.squad import reading


def check_bytes(context, found):
    """Checks that the bytes are the answer's, white space aside."""
    if found["start_byte"] < 0:
        assert found["answer"] in ("", "empty") and found["end_byte"] == -1
        return
    cut = context.encode()[found["start_byte"] : found["end_byte"]].decode()
    words = [part.group() for part in reading.WORD.finditer(cut)]
    assert words == reading.WORD.findall(found["answer"])
    assert words
