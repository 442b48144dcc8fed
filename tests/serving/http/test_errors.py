"""What a client, and what the log learns of an error."""

import pytest

from serving.engines import EngineError
from serving.http.errors import to_http_error
from serving.text_tasks.request_fields import RequestError


def test_a_wrong_request_gets_the_message_of_its_error():
    error = to_http_error(RequestError("'text' must be a string"))
    assert error.status == 400
    assert error.message == "'text' must be a string"


def test_a_message_begins_with_the_place_of_the_text():
    error = to_http_error(RequestError("is empty"), place="text 2: ")
    assert error.message == "text 2: is empty"


def test_a_message_of_several_lines_is_one_line():
    error = to_http_error(RequestError("the first\n  and the second"))
    assert error.message == "the first and the second"


def test_a_long_message_is_cut():
    assert to_http_error(RequestError("x" * 1000)).message == "x" * 400


def test_a_surrogate_of_a_request_becomes_a_question_mark():
    assert to_http_error(RequestError("no field '\udcff'")).message == (
        "no field '?'"
    )


@pytest.mark.parametrize(
    "error_class", [EngineError, ValueError, TypeError, OSError]
)
def test_a_client_learns_nothing_of_an_error_of_the_server(error_class, caplog):
    error = to_http_error(error_class("/home/me/model is damaged"))
    assert error.status == 500
    assert error.message == "internal error (see the server's log)"
    assert "/home/me/model is damaged" in caplog.text


def test_a_wrong_request_is_not_logged(caplog):
    to_http_error(RequestError("'text' must be a string"))
    assert caplog.text == ""
