"""The label of an example as ids, or as a number."""

import pytest

from data.classification import label_numbers


def test_an_unknown_label_has_no_id():
    assert label_numbers.encode_label(None, ["ham", "spam"]) is None


def test_a_label_that_the_task_lacks_is_an_error():
    with pytest.raises(ValueError, match="eggs"):
        label_numbers.encode_label("eggs", ["ham", "spam"])


@pytest.mark.parametrize("value", ["2.5", 2.5, " 2.5 ", b"2.5"])
def test_the_label_of_a_regression_is_a_number_or_its_text(value):
    assert label_numbers.parse_regression_label(value, "f.csv, line 2") == 2.5


@pytest.mark.parametrize(
    "value", ["good", "", None, True, "1_000", "nan", "inf", [2.5]]
)
def test_any_other_label_of_a_regression_is_an_error(value):
    with pytest.raises(
        ValueError, match=r"f\.csv, line 2: in regression the label must be"
    ):
        label_numbers.parse_regression_label(value, "f.csv, line 2")


def test_a_list_of_names_is_no_label_of_a_regression():
    with pytest.raises(ValueError, match="spam"):
        label_numbers.regression_value_of(["spam"])
