"""An example without its row, and the names in its label."""

from data.classification.classification_examples import (
    InputExample,
    class_names_of,
)


def test_a_copy_without_its_row_is_equal_otherwise():
    example = InputExample("row 2", "a", "b", "spam", row={"text": "a"})
    copy = example.without_row()
    assert copy == InputExample("row 2", "a", "b", "spam")
    assert example.row == {"text": "a"}


def test_one_name_and_several_names_become_a_list():
    assert class_names_of("spam") == ["spam"]
    assert class_names_of(["spam", "ham"]) == ["spam", "ham"]
