"""An example without its row, its label, and its label as a number."""

import pytest

from data.classification.classification_examples import (
    InputExample,
    class_names_of,
    convert_regression_label,
    encode_label,
    parse_regression_label,
)


def test_a_copy_without_its_row_is_equal_otherwise():
    example = InputExample("row 2", "a", "b", "spam", row={"text": "a"})
    copy = example.without_row()
    assert copy == InputExample("row 2", "a", "b", "spam")
    assert example.row == {"text": "a"}


def test_one_name_and_several_names_become_a_list():
    assert class_names_of("spam") == ["spam"]
    assert class_names_of(["spam", "ham"]) == ["spam", "ham"]


def test_an_unknown_label_has_no_id():
    assert encode_label(None, ["ham", "spam"]) is None


def test_a_label_that_the_task_lacks_is_an_error():
    with pytest.raises(ValueError, match="eggs"):
        encode_label("eggs", ["ham", "spam"])


@pytest.mark.parametrize("value", ["2.5", 2.5, " 2.5 ", b"2.5"])
def test_the_label_of_a_regression_is_a_number_or_its_text(value):
    assert parse_regression_label(value, "f.csv, line 2") == 2.5


@pytest.mark.parametrize(
    "value", ["good", "", None, True, "1_000", "nan", "inf", [2.5]]
)
def test_any_other_label_of_a_regression_is_an_error(value):
    with pytest.raises(ValueError, match=r"f\.csv, line 2"):
        parse_regression_label(value, "f.csv, line 2")


def test_regression_value_of_refuses_a_list():
    with pytest.raises(ValueError, match="spam"):
        convert_regression_label(["spam"])
