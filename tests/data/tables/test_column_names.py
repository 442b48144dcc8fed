"""Columns that are found by their usual names."""

import pytest

from data.tables import column_names


def test_simplify_name_leaves_out_case_blanks_and_marks():
    assert column_names.simplify_name("Sentence_ID #1") == "sentenceid1"


def test_letters_of_drops_digits_blanks_and_marks():
    assert column_names.letters_of("Sentence_ID #1") == "sentenceid"


def test_usual_columns_may_have_names_in_capitals():
    assert column_names.guess_columns(["id", "Label", "Text"]) == {
        "text_column": "Text",
        "label_column": "Label",
    }


@pytest.mark.parametrize(
    ("columns", "text"),
    [(["Text", "text", "label"], "Text"), (["A", "a", "label"], None)],
)
def test_names_that_differ_only_in_case_are_two_columns(columns, text):
    assert column_names.guess_columns(columns) == {
        "text_column": text,
        "label_column": "label",
    }


def test_the_only_other_column_is_the_label():
    columns = column_names.guess_columns(["Text", "queue"])
    assert columns["label_column"] == "queue"


def test_none_of_several_other_columns_is_the_label():
    columns = column_names.guess_columns(["id", "Text", "queue"])
    assert columns["label_column"] is None


@pytest.mark.parametrize(
    ("columns", "pair"),
    [
        (["id", "Sentence 1", "Sentence 2"], ("Sentence 1", "Sentence 2")),
        (["hypothesis", "premise"], ("premise", "hypothesis")),
        (["premise", "label"], None),
    ],
)
def test_two_names_that_belong_together_are_a_pair(columns, pair):
    assert column_names.find_pair_columns(columns) == pair


def test_a_column_that_the_user_chose_is_a_usual_name():
    assert not column_names.is_usual_name("satz", ())
    assert column_names.is_usual_name("satz", ["satz"])
