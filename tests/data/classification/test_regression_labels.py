"""The label of a regression as a number."""

import pytest

from data.classification import regression_labels


@pytest.mark.parametrize("value", ["2.5", 2.5, " 2.5 ", b"2.5"])
def test_the_label_of_a_regression_is_a_number_or_its_text(value):
    assert (
        regression_labels.parse_regression_label(value, "f.csv, line 2") == 2.5
    )


@pytest.mark.parametrize(
    "value", ["good", "", None, True, "1_000", "nan", "inf", [2.5]]
)
def test_any_other_label_of_a_regression_is_an_error(value):
    with pytest.raises(
        ValueError, match=r"f\.csv, line 2: in regression the label must be"
    ):
        regression_labels.parse_regression_label(value, "f.csv, line 2")


def test_a_list_of_names_is_no_label_of_a_regression():
    with pytest.raises(ValueError, match="spam"):
        regression_labels.regression_value_of(["spam"])
