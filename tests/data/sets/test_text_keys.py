"""The rule that puts a row into the train set or the dev set."""

import sys
import unicodedata

import pytest

from data.sets.text_keys import (
    is_blank,
    key_of,
    normal_form,
    split_fraction_of,
)

# Pins the rule: another value would move the rows of every run.
FRACTIONS = {
    "atext.": 0.04853260204136688,
    "strasse": 0.08925493481407705,
}


def test_texts_that_look_alike_have_one_normal_form():
    same = [
        "Straße  in Corrén",
        "STRASSE IN CORRÉN",
        "strasse in corren\n",
        "Straße\u00a0in Corrén",
        "Stra\u200bße in\u2003Corre\u0301n\ufeff",
        "\uff33tra\u00adße in Corrén\u0000",
        "\u202aStraße in Corrén\u202c\u3164",
    ]
    assert {normal_form(text) for text in same} == {"strasseincorren"}
    assert normal_form("Corrén!") != normal_form("Corrén")


def test_the_normal_form_of_a_normal_form_is_the_same():
    for cp in range(sys.maxunicode + 1):
        if not 0xD800 <= cp <= 0xDFFF:
            once = normal_form(chr(cp))
            assert normal_form(once) == once, hex(cp)
            assert not any(char.isspace() for char in once)


@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKC", "NFKD"])
def test_all_unicode_forms_of_a_text_have_one_normal_form(form):
    text = "Ǻngström ﬁ ½ ガ 각 क़ ᾴ ệ"
    assert normal_form(unicodedata.normalize(form, text)) == normal_form(text)


def test_a_pair_and_its_reverse_have_one_key():
    assert key_of(["a", "b"]) == key_of(["B", " a"]) != key_of(["ab"])
    assert key_of(["a", "bc"]) != key_of(["ab", "c"])


def test_is_blank_is_true_for_texts_without_a_visible_character():
    assert all(map(is_blank, ["", " \n\u00a0", "\u200b\ufeff\u2800"]))
    assert not any(map(is_blank, [".", "\u200b1", "\U0001f600"]))


def test_a_pair_with_an_empty_text_has_the_key_of_the_other_text():
    assert key_of(["a", ""]) == key_of([" ", "A"]) == key_of(["a"])


def test_turkish_capitals_have_the_form_of_their_small_letters():
    small = "\u0131l\u0131k ve iyi"
    capital = "ILIK VE \u0130Y\u0130"
    assert normal_form(small) == normal_form(capital) == "ilikveiyi"


@pytest.mark.parametrize(("key", "fraction"), FRACTIONS.items())
def test_the_fraction_of_a_key_is_that_of_rule_version_1(key, fraction):
    assert split_fraction_of(key) == fraction


def test_a_lone_surrogate_is_not_a_character():
    """JSON may contain it."""
    assert key_of(["\ud800a"]) == "a"
