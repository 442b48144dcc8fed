"""Which column of a row is read as which field of a request."""

import pytest

from serving.predict.request_columns import RequestColumns, RequestParser
from serving.text_tasks.classify import CLASSIFY
from serving.text_tasks.tag import TAG


def create_parser(text_task, *, is_table=True, chosen=None, trained=None):
    return RequestParser(
        RequestColumns(text_task, chosen or {}, trained or {}),
        is_table=is_table,
        may_be_plain=not is_table,
    )


def test_the_column_of_the_flags_is_before_that_of_the_training():
    parser = create_parser(
        TAG, chosen={"text": "body"}, trained={"text": "title"}
    )
    request = parser.parse({"title": "a", "body": "b", "text": "c"})
    assert request == {"title": "a", "text": "b"}


def test_the_column_of_the_training_is_before_that_of_the_fields_name():
    parser = create_parser(TAG, trained={"text": "title"})
    assert parser.parse({"title": "a", "text": "c"}) == {"text": "a"}


def test_an_empty_cell_of_a_required_field_is_an_empty_text():
    assert create_parser(TAG).parse({"text": None}) == {"text": ""}


def test_an_empty_cell_of_another_field_is_omitted():
    row = {"text_a": "a", "text_b": None}
    assert create_parser(CLASSIFY).parse(row) == {"text_a": "a"}


def test_a_line_of_plain_text_has_no_columns_to_choose():
    parser = create_parser(TAG, is_table=False, chosen={"text": "body"})
    assert parser.parse({"text": "a"}) == {"text": "a"}


def test_a_column_that_the_flags_choose_must_be_there():
    parser = create_parser(TAG, is_table=False, chosen={"text": "body"})
    with pytest.raises(ValueError, match="'body'"):
        parser.parse({"title": "a", "more": "b"})
