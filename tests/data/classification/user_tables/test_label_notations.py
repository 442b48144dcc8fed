"""The labels that a cell of a table contains, in any notation.

test_table_reader_labels.py reads such cells from tables.
"""

import pytest

from data.classification.user_tables.label_notations import (
    convert_label,
    is_empty,
    parse_label,
    parse_label_list,
    parse_list,
)

WHERE = "line 2, column 'label'"


@pytest.mark.parametrize("cell", [None, float("nan"), "", " ", "\u200b"])
def test_a_cell_without_a_visible_letter_is_empty(cell):
    assert is_empty(cell)


@pytest.mark.parametrize("cell", ["x", 0, False, []])
def test_a_number_a_list_and_a_letter_are_not_empty(cell):
    assert not is_empty(cell)


@pytest.mark.parametrize(
    ("value", "label"),
    [
        (" spam ", "spam"),
        # pandas writes True and 1.0, JSON true and 1.
        (True, "true"),
        ("False", "false"),
        (1.0, "1"),
        ("-3.00", "-3"),
        ("1.50", "1.50"),
    ],
)
def test_a_label_has_one_spelling(value, label):
    assert convert_label(value, WHERE) == label


@pytest.mark.parametrize(
    "spellings",
    [
        ["Café", "Cafe\u0301"],
        ["boats", "boats\u200b", "\ufeffboats", "bo\u00adats", " boats "],
        ["old boats", "old\u00a0boats", "old  boats", "old\u3000boats"],
    ],
)
def test_spellings_that_look_the_same_are_one_label(spellings):
    labels = {convert_label(spelling, WHERE) for spelling in spellings}
    assert labels == {spellings[0]}


@pytest.mark.parametrize("value", ["a\nb", "", None, ["a"], {"label": "a"}])
def test_a_label_is_a_number_or_a_line(value):
    with pytest.raises(
        ValueError, match="line 2, column 'label': a label must"
    ):
        convert_label(value, WHERE)


LISTS = [
    "['sea', 'wood']",
    '["sea", "wood"]',
    "('sea', 'wood')",
    "{'sea', 'wood'}",
    "['sea' 'wood']",
    "['sea'\n 'wood']",
    "[sea, wood]",
    "{sea,wood}",
    "sea, wood",
    "array(['sea', 'wood'], dtype=object)",
    "frozenset({'sea', 'wood'})",
    "[np.str_('sea'), np.str_('wood')]",
    ["sea", "wood"],
]


@pytest.mark.parametrize("cell", LISTS)
def test_lists_in_any_notation_are_labels(cell):
    assert parse_label_list(cell, ",", WHERE) == ["sea", "wood"]


# Without quotes or brackets, a cell may be one label with a comma.
@pytest.mark.parametrize(
    "cell", [cell for cell in LISTS if cell not in ("sea, wood", "{sea,wood}")]
)
def test_a_list_needs_a_task_of_several_labels(cell):
    with pytest.raises(ValueError, match="--output_mode=multilabel"):
        parse_label(cell, WHERE)


@pytest.mark.parametrize(
    ("cell", "labels"),
    [
        ("[1, 5]", ["1", "5"]),
        ("[1 5]", ["1", "5"]),
        ("[1. 5.]", ["1", "5"]),
        ("(2,)", ["2"]),
        ("[np.int64(1), np.int64(5)]", ["1", "5"]),
        ("[]", []),
        ("set()", []),
        ("array([], dtype=object)", []),
        ("""["it's", 'b, c']""", ["it's", "b, c"]),
        (r"['it\'s', 'b']", ["it's", "b"]),
        (r'["caf\u00e9"]', ["café"]),
        ("[open sea, wood]", ["open sea", "wood"]),
        ("['open sea']", ["open sea"]),
        ("(other), boats (small)", ["(other)", "boats (small)"]),
        ("['Cafe\u0301', 'Café']", ["Café"]),
    ],
)
def test_the_elements_of_a_list_are_the_labels(cell, labels):
    assert parse_label_list(cell, ",", WHERE) == labels


def test_the_separator_is_between_two_names():
    assert parse_label_list("a, b|c", "|", WHERE) == ["a, b", "c"]


def test_choices_of_label_studio_are_a_list():
    cell = '{"choices": ["boats", "film"]}'
    assert parse_label_list(cell, ",", WHERE) == ["boats", "film"]


def test_null_is_not_a_list_but_an_empty_text_is_an_empty_list():
    assert parse_label_list(None, ",", WHERE) is None
    assert parse_label_list(" ", ",", WHERE) == []


@pytest.mark.parametrize(
    "cell",
    [
        "[sea wood]",
        "[1 2 ... 9]",
        "(sea, wood)",
        "[[1, 5], [2]]",
        "{'sea': 1, 'wood': 0}",
        "boats (small, old), sea",
        "['sea', nan]",
        "['sea'; 'wood']",
        "[1, 5",
        "1, 5]",
        "['sea', 'wood'",
        "sea\nwood",
        [["sea"], ["wood"]],
        ["sea", None],
        [{"label": "sea"}],
    ],
)
def test_lists_that_cannot_be_read_are_shown(cell):
    with pytest.raises(ValueError, match=WHERE) as error:
        parse_label_list(cell, ",", WHERE)
    expected = repr(cell)[1:-1] if isinstance(cell, str) else "Received: "
    assert expected in str(error.value) or repr(cell) in str(error.value)


@pytest.mark.parametrize("cell", ["[0 1 0]", "[0.0, 1.0, 1.0]", "1 0 0"])
def test_a_vector_with_a_repeated_number_is_not_a_list_of_labels(cell):
    with pytest.raises(ValueError, match="not a 0 or 1 for each label"):
        parse_label_list(cell, ",", WHERE)


@pytest.mark.parametrize(
    "cell", ["boats", ["boats"], "['boats']", "[boats]", '["boats"]', "{boats}"]
)
def test_a_list_of_one_label_is_the_label(cell):
    assert parse_label(cell, WHERE) == "boats"


@pytest.mark.parametrize("cell", [None, "", [], "[]"])
def test_an_empty_cell_is_not_a_label(cell):
    assert parse_label(cell, WHERE) is None


def test_a_name_in_parentheses_is_a_label():
    assert parse_label("(other)", WHERE) == "(other)"


def test_a_known_label_may_look_like_a_list():
    assert parse_label("[URGENT]", WHERE) == "URGENT"
    assert parse_label("[URGENT]", WHERE, ["[URGENT]", "later"]) == "[URGENT]"


@pytest.mark.parametrize("text", ["sea", "[sea", "(other)", "[[1], [2]]"])
def test_parse_list_returns_none_for_a_text_that_is_not_a_list(text):
    assert parse_list(text) is None
