"""Words are split into WordPieces inside a graph."""

import numpy as np
import tensorflow as tf

from data.text.wordpiece_graph import WordpieceSplitter

# The ids are the places: [UNK] is 0.
VOCAB = ["[UNK]", "un", "##aff", "##able", "a", "##a", "able", "##b", "want"]
UNKNOWN = 0


def split_text(text, vocab=VOCAB):
    """Returns the ids and the ends of the WordPieces of words."""
    text = f"{text} "
    codes = [*map(ord, text)]
    # A word begins after a space, and a space is a word of its own here.
    begins = [
        char == " " or place == 0 or text[place - 1] == " "
        for place, char in enumerate(text)
    ]
    split_in_graph = tf.function(WordpieceSplitter(vocab, UNKNOWN).split)
    ids, ends = split_in_graph(tf.constant(codes), tf.constant(begins))
    return ids.numpy().tolist(), ends.numpy().tolist()


def test_a_word_is_split_into_the_longest_wordpieces():
    assert split_text("unaffable") == ([1, 2, 3], [2, 5, 9])


def test_the_words_of_a_text_are_split_one_by_one():
    assert split_text("a able want") == ([4, 6, 8], [1, 6, 11])


def test_a_shorter_wordpiece_is_used_where_the_longer_one_breaks_off():
    # "##aff" begins like "##a", which "##b" continues.
    assert split_text("unab") == ([1, 5, 7], [2, 3, 4])


def test_a_word_that_cannot_be_split_to_its_end_is_unknown():
    assert split_text("a unwant a") == ([4, UNKNOWN, 4], [1, 8, 10])


def test_a_word_is_not_split_back_to_a_shorter_wordpiece():
    """In Google's code, too, the longest match stays."""
    vocab = ["[UNK]", "ab", "abc", "##cd"]
    assert split_text("abcd", vocab) == ([UNKNOWN], [4])


def test_a_continuation_does_not_begin_a_word():
    assert split_text("aff") == ([UNKNOWN], [3])


def test_a_beginning_does_not_continue_a_word():
    assert split_text("aun") == ([UNKNOWN], [3])


def test_a_word_of_200_characters_is_split_and_a_longer_one_is_not():
    longest = "a" * 200
    assert split_text(longest) == ([4] + [5] * 199, [*range(1, 201)])
    assert split_text(longest + "a") == ([UNKNOWN], [201])


def test_a_repeated_wordpiece_has_its_last_id():
    assert split_text("a", ["[UNK]", "a", "b", "a"]) == ([3], [1])


def test_no_words_have_no_wordpieces():
    assert split_text("") == ([], [])


def test_more_words_than_a_step_begins_are_all_split():
    """A step begins at most 16,384 of the 20,000 words."""
    ids, ends = split_text(" ".join(["a unaffable"] * 10_000))
    assert ids == [4, 1, 2, 3] * 10_000
    ends_of_texts = np.arange(10_000)[:, None] * 12 + [1, 4, 7, 11]
    assert ends == ends_of_texts.ravel().tolist()


def test_the_rest_of_a_word_begins_after_its_shorter_wordpiece():
    """After "unab", the "b" continues "una", because "##able" does not fit."""
    vocab = ["[UNK]", "un", "##a", "##able", "##b"]
    ids, ends = split_text("unable unab x", vocab)
    assert ids == [1, 3, 1, 2, 4, UNKNOWN]
    assert ends == [2, 6, 9, 10, 11, 13]
