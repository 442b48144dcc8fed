"""Tables that normalize characters as Python does."""

import tensorflow as tf

from data.text.normalization_graph import (
    BORDER,
    CASE_IGNORABLE,
    CASED,
    DROPPED,
    ODD,
    REORDERED,
    SEVERAL,
    STARTER,
    create_tables,
)


def look_up(char, do_lower_case):
    """Returns (flags of a character, number that replaces it)."""
    tables = create_tables(do_lower_case)
    flags, replacement = tables.lookup(tf.constant([ord(char)]))
    return int(flags[0]), int(replacement[0])


def replace(char, do_lower_case=True):
    """Returns the one or several characters that replace a character."""
    flags, replacement = look_up(char, do_lower_case)
    if not flags & SEVERAL:
        return chr(replacement)
    row = create_tables(do_lower_case).several[replacement]
    return "".join(chr(code_point) for code_point in row if code_point >= 0)


def test_an_uncased_letter_is_lower_and_has_no_accent():
    assert [replace(char) for char in "Aé\u00c5z"] == ["a", "e", "a", "z"]


def test_a_cased_letter_stays_as_it_is():
    for char in "Aé\u00c5z":
        assert replace(char, do_lower_case=False) == char


def test_a_syllable_becomes_its_letters():
    assert replace("\uac01") == "\u1100\u1161\u11a8"
    assert look_up("\uac01", True)[0] & (SEVERAL | ODD) == SEVERAL | ODD


def test_white_space_becomes_a_space_that_separates_words():
    for char in " \t\n\u00a0\u3000":
        assert replace(char) == " "
        assert look_up(char, True)[0] == BORDER | STARTER


def test_punctuation_and_ideographs_are_words_of_their_own():
    for char in "!$^`~\u3002\u4e2d":
        assert replace(char) == char
        assert look_up(char, True)[0] & BORDER
    assert not look_up("a", True)[0] & BORDER


def test_control_characters_are_dropped():
    for char in "\0\u00ad\ufffd":
        assert look_up(char, True)[0] == DROPPED | CASE_IGNORABLE


def test_an_accent_is_dropped_only_if_the_text_is_lower_cased():
    assert look_up("\u0301", True)[0] & DROPPED
    assert not look_up("\u0301", False)[0] & DROPPED


def test_a_mark_that_stays_may_be_reordered():
    # A musical stem is no accent, but combines with what precedes it.
    mark = "\U0001d165"
    flags, _ = look_up(mark, True)
    assert flags & (REORDERED | ODD) == REORDERED | ODD
    tables = create_tables(True)
    marks, classes = tables.combining_classes.tolist()
    assert classes[marks.index(ord(mark))] == 216


def test_a_capital_sigma_needs_the_characters_around_it():
    assert replace("\u03a3") == "\u03a3"
    assert look_up("\u03a3", True)[0] & ODD


def test_letters_and_apostrophes_tell_whether_a_sigma_is_final():
    assert look_up("a", True)[0] & CASED
    assert look_up("'", True)[0] & CASE_IGNORABLE
    assert not look_up("1", True)[0] & (CASED | CASE_IGNORABLE)


def test_equal_pages_are_stored_once():
    tables = create_tables(True)
    assert len(tables.pages) == 4352
    # The pages of the ideographs are equal.
    assert tables.pages[0x4E] == tables.pages[0x9E]
    assert len(tables.entries) < 4352 * 256 / 20
