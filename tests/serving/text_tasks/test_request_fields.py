"""Which values of a request are texts."""

import pytest

from serving.text_tasks.request_fields import RequestField, texts_in_field

TEXT = RequestField("text", aliases=("text_a",), list_alias="words")
PASSAGES = RequestField("passages", is_list=True)


@pytest.mark.parametrize(
    ("field", "name", "value", "texts"),
    [
        (TEXT, "text", "a", ["a"]),
        (TEXT, "text_a", "a", ["a"]),
        (TEXT, "words", ["a", "b"], ["a", "b"]),
        (PASSAGES, "passages", (), ()),
    ],
)
def test_a_field_contains_a_text_or_a_list(field, name, value, texts):
    field.check_texts(name, value)
    assert texts_in_field({name: value}, name) == texts


def test_a_request_without_a_field_has_no_texts_in_it():
    assert texts_in_field({"text": "a"}, "text_b") == []


@pytest.mark.parametrize(
    ("field", "name", "value"),
    [
        (TEXT, "text", ["a"]),
        (TEXT, "text", 1),
        (TEXT, "words", "a"),
        (PASSAGES, "passages", "a"),
    ],
)
def test_another_value_is_refused_by_its_name(field, name, value):
    with pytest.raises(ValueError, match=f"'{name}'"):
        field.check_texts(name, value)


def test_a_surrogate_is_not_utf_8():
    with pytest.raises(ValueError, match="'text' is not UTF-8"):
        TEXT.check_texts("text", "a\udcff")


def test_a_field_may_have_other_names():
    assert TEXT.names == ["text", "text_a", "words"]
