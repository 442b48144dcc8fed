"""Which values of a request are texts."""

import pytest

from serving.text_tasks.request_fields import Field, read_texts


@pytest.mark.parametrize(
    "name, value, texts",
    [("text", "a", ["a"]), ("words", ["a", "b"], ["a", "b"])],
)
def test_a_field_contains_a_text_or_a_list_by_its_name(name, value, texts):
    assert read_texts(name, value) == texts


@pytest.mark.parametrize(
    "name, value", [("text", ["a"]), ("text", 1), ("words", "a")]
)
def test_another_value_is_refused_by_the_name_of_its_field(name, value):
    with pytest.raises(ValueError, match=f"'{name}'"):
        read_texts(name, value)


def test_a_surrogate_is_not_utf_8():
    with pytest.raises(ValueError, match="'text' is not UTF-8"):
        read_texts("text", "a\udcff")


def test_a_field_may_have_other_names():
    assert Field("text", aliases=("text_a",)).names == ["text", "text_a"]
