"""The two steps of the tokenizer: words of text, and their WordPieces."""

import pytest

from data.text.tokenization import BasicTokenizer, WordCache, WordpieceTokenizer


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("A boat, late.", ["a", "boat", ",", "late", "."]),
        ("it's", ["it", "'", "s"]),
        ("Corrén", ["corren"]),
        ("ab中国c", ["ab", "中", "国", "c"]),
        ("a\u200bb\u00a0c", ["ab", "c"]),
    ],
)
def test_marks_and_ideographs_are_words_of_their_own(text, words):
    assert BasicTokenizer().tokenize(text) == words


def test_a_cased_tokenizer_keeps_capitals_and_accents():
    assert BasicTokenizer(False).tokenize("Corrén!") == ["Corrén", "!"]


def test_a_word_is_cut_into_the_longest_pieces_from_the_left():
    tokenizer = WordpieceTokenizer(["row", "rowb", "##boats", "##oats", "a"])
    assert tokenizer.tokenize("rowboats a") == ["rowb", "##oats", "a"]


def test_a_word_without_pieces_is_unknown():
    tokenizer = WordpieceTokenizer(["row", "##boats"])
    assert tokenizer.tokenize("row rowing") == ["row", "[UNK]"]


def test_a_word_longer_than_the_limit_is_unknown():
    tokenizer = WordpieceTokenizer(["a", "##a"], max_input_chars_per_word=3)
    assert tokenizer.tokenize("aaa aaaa") == ["a", "##a", "##a", "[UNK]"]


def test_a_cache_computes_a_word_once():
    computed = []
    cache = WordCache(lambda word: computed.append(word) or [word])
    assert cache.of_all(["a", "b", "a"]) == ["a", "b", "a"]
    assert computed == ["a", "b"]


def test_a_cache_keeps_no_long_words():
    cache = WordCache(lambda word: [word])
    assert cache["a" * 65] == ["a" * 65]
    assert not cache
