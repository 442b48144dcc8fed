"""Requests that are too large are refused, with what to send instead."""

import asyncio
import types

import pytest

pytest.importorskip("fastapi", reason="needs requirements/serve.txt")

from data.text.tokenization import FullTokenizer
from serving.http.errors import HttpError
from serving.http.queued_calls import QueuedCall
from serving.http.request_limits import RequestLimits
from serving.http.serve_config import LimitOptions
from tests.support.serving.stub_engines import PARSE_NUMBER_TASK


def read_body(*parts, **limits):
    """Reads a body that comes in parts."""

    async def stream():
        for part in parts:
            await asyncio.sleep(0)
            yield part
        if limits.get("timeout_s"):
            # The client never sends the rest of the body.
            await asyncio.Event().wait()

    http_request = types.SimpleNamespace(stream=stream)
    return asyncio.run(
        RequestLimits(LimitOptions(**limits)).read_body(http_request)
    )


def test_a_body_is_read_from_its_parts():
    assert read_body(b"ab", b"c", max_body_bytes=3) == b"abc"


def test_a_body_beyond_the_limit_is_refused():
    with pytest.raises(HttpError, match="longer than 2 bytes") as caught:
        read_body(b"ab", b"c", max_body_bytes=2)
    assert caught.value.status == 413


def test_a_missing_body_is_refused():
    with pytest.raises(HttpError, match=r"within 0\.01 s") as caught:
        read_body(b"a", timeout_s=0.01)
    assert caught.value.status == 408


def check_texts(*texts, tokenizer=None, **limits):
    """Checks the call of requests that have one text each."""
    text_engine = types.SimpleNamespace(tokenizer=tokenizer, max_seq_length=8)

    async def check():
        request_limits = RequestLimits(LimitOptions(**limits))
        requests = [{"text": text} for text in texts]
        request_limits.check_num_texts(PARSE_NUMBER_TASK, requests)
        call = QueuedCall.create(PARSE_NUMBER_TASK, requests)
        await request_limits.check_num_tokens(text_engine, call)

    asyncio.run(check())


def test_as_many_texts_as_the_limit_are_accepted():
    check_texts("1", "2", max_texts=2)


def test_more_texts_than_the_limit_are_refused():
    with pytest.raises(HttpError, match="3 texts are more than 2") as caught:
        check_texts("1", "2", "3", max_texts=2)
    assert caught.value.status == 413


@pytest.fixture
def letters(tmp_path):
    """A tokenizer whose WordPieces are the letters "a"."""
    vocabulary = tmp_path / "vocab.txt"
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "##a"]
    vocabulary.write_text("\n".join(tokens))
    return FullTokenizer(vocabulary)


def test_as_many_wordpieces_as_the_limit_are_accepted(letters):
    check_texts("aaa aaa", tokenizer=letters, max_pieces=6)


def test_more_wordpieces_than_the_limit_are_refused(letters):
    with pytest.raises(
        HttpError, match="6 WordPieces are more than 5"
    ) as caught:
        check_texts("aaa aaa", tokenizer=letters, max_pieces=5)
    assert caught.value.status == 413
