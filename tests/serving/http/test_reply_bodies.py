"""Replies of serve.py as the JSON of a body."""

from serving.http.reply_bodies import (
    create_body,
    create_predict_body,
    encode_reply,
)

REPLIES = [b'{"label": "a"}', b'{"label": "b"}']


def test_a_reply_is_json_in_utf_8():
    assert encode_reply({"text": "é"}) == '{"text": "é"}'.encode()


def test_half_of_a_pair_of_surrogates_becomes_a_question_mark():
    assert encode_reply({"text": "\ud800"}) == b'{"text": "?"}'


def test_one_request_gets_a_reply_and_a_list_gets_a_list():
    assert create_body(REPLIES[:1], is_list=False) == REPLIES[0]
    assert create_body(REPLIES[:1], is_list=True) == b'[{"label": "a"}]'
    assert create_body(REPLIES, is_list=True) == (
        b'[{"label": "a"}, {"label": "b"}]'
    )


def test_predictions_are_a_list_as_in_tensorflow_serving():
    assert create_predict_body(REPLIES[:1]) == (
        b'{"predictions": [{"label": "a"}]}'
    )
