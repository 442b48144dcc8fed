"""Characters, as Google's tokenizer takes them."""

import pytest

from data.text import characters


@pytest.mark.parametrize("char", ["!", "$", "~", "^", "`", "\u2014", "。"])
def test_marks_in_ascii_and_beyond_are_punctuation(char):
    assert characters.is_punctuation(char)


@pytest.mark.parametrize("char", ["a", "1", " ", "\x00", "€", "中"])
def test_letters_digits_and_signs_are_not_punctuation(char):
    assert not characters.is_punctuation(char)


@pytest.mark.parametrize(
    ("char", "cleaned"),
    [
        ("\t", " "),
        ("\u00a0", " "),
        ("\x00", ""),
        ("\ufffd", ""),
        ("\u200b", ""),
        ("中", " 中 "),
        ("é", "é"),
    ],
)
def test_clean_character_drops_it_or_sets_it_apart(char, cleaned):
    assert characters.clean_character(char) == cleaned
    assert characters.clean_text(f"a{char}") == f"a{cleaned}"


def test_strip_accents_keeps_the_letters():
    assert characters.strip_accents("Corrén Ångström ø") == "Corren Angstrom ø"


def test_split_on_punctuation_cuts_at_each_mark():
    words = characters.split_on_punctuation("it's...")
    assert words == ["it", "'", "s", ".", ".", "."]
