"""Which values of a request are texts."""

import pytest

from serving.text_tasks.request_fields import (
    Field,
    check_texts,
    texts_in_field,
)


@pytest.mark.parametrize(
    ("name", "value", "texts"),
    [
        ("text", "a", ["a"]),
        ("words", ["a", "b"], ["a", "b"]),
        ("passages", (), ()),
    ],
)
def test_a_field_contains_a_text_or_a_list_by_its_name(name, value, texts):
    check_texts(name, value)
    assert texts_in_field({name: value}, name) == texts


def test_a_request_without_a_field_has_no_texts_in_it():
    assert texts_in_field({"text": "a"}, "text_b") == []


@pytest.mark.parametrize(
    ("name", "value"), [("text", ["a"]), ("text", 1), ("words", "a")]
)
def test_another_value_is_refused_by_the_name_of_its_field(name, value):
    with pytest.raises(ValueError, match=f"'{name}'"):
        check_texts(name, value)


def test_a_surrogate_is_not_utf_8():
    with pytest.raises(ValueError, match="'text' is not UTF-8"):
        check_texts("text", "a\udcff")


def test_a_field_may_have_other_names():
    assert Field("text", aliases=("text_a",)).names == ["text", "text_a"]
