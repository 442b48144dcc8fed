"""The requests of one body as a call, serving/http/queued_call.py."""

import pytest

pytest.importorskip("fastapi", reason="needs requirements/serve.txt")

from serving.http.errors import HttpError
from tests.support.serving.echo_models import create_call


def test_a_wrong_text_of_a_call_is_named_by_its_place():
    with pytest.raises(HttpError, match=r"^text 2: 'text' must be a string"):
        create_call("a", 5)


@pytest.mark.parametrize("texts", [["a"] * 33, ["a" * 4097]])
def test_a_call_beyond_the_limits_is_long(texts):
    assert create_call(*texts).is_long
    assert not create_call("a").is_long
