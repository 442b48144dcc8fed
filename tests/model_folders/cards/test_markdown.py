"""Markdown that shows text as it is."""

import pytest

from model_folders.cards import markdown

ORDINARY = pytest.mark.parametrize(
    "name", ["eval_loss", "dev-2.csv", "B-LOC", "hf://a/b_c@1", "3.5, (x)"]
)


@ORDINARY
def test_ordinary_names_have_no_escapes_in_text(name):
    assert markdown.format_text(name) == name


@ORDINARY
def test_ordinary_names_have_no_escapes_in_code(name):
    assert markdown.format_code(name) == f"`{name}`"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a|b", "a\\|b"),
        ("R&D <b>", "R&amp;D &lt;b&gt;"),
        ("_under_", "\\_under\\_"),
        ("snake_case", "snake_case"),
        ("two\nlines", "two lines"),
    ],
)
def test_marks_are_escaped_in_text(value, text):
    assert markdown.format_text(value) == text


def test_markdown_is_not_escaped_again():
    bold = markdown.Markdown("**bold**")
    assert markdown.format_text(bold) == "**bold**"


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ("a`b", "``a`b``"),
        ("`a", "`` `a ``"),
        (" spaced ", "`  spaced  `"),
    ],
)
def test_the_fence_of_code_is_longer_than_its_backticks(value, code):
    assert markdown.format_code(value) == code


def test_a_bar_in_code_does_not_end_a_cell():
    assert markdown.format_code_in_cell("a|b") == "`a\\|b`"


def test_the_fence_of_a_block_is_longer_than_its_backticks():
    block = markdown.format_block(["```", "code"], "bash")
    assert block == "````bash\n```\ncode\n````"
