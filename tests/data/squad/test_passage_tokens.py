"""Where the tokens of a passage stand, and which of them are the answer."""

import unicodedata

import pytest

from data.squad.passage_tokens import (
    PassageTokenizer,
    find_answer_tokens,
    tokenize_with_spans,
)
from tests.support import golden
from tests.support.squad.squad_passages import read_examples
from tests.support.tokenizers.tokenizer_cases import load_recorded


def to_sigma(text):
    """Replaces the final form of the Greek letter sigma by the usual one."""
    return text.replace("\u03c2", "\u03c3")


@pytest.mark.parametrize("casing", ["uncased", "cased"])
@pytest.mark.parametrize("path", golden.path_params("tokenization/*.json.gz"))
def test_the_offsets_of_tokens_point_to_them_in_the_text(path, casing):
    tokenizer, texts, _ = load_recorded(path, casing)
    num_checked = 0
    for text in texts:
        tokens, spans = tokenize_with_spans(text, tokenizer)
        assert tokens == tokenizer.tokenize(text)
        previous = (0, 0)
        for token, span in zip(tokens, spans, strict=True):
            assert previous <= span
            assert span[0] < span[1] <= len(text)
            previous = span
            part = text[slice(*span)]
            # A syllable of Hangul may be several tokens; a sigma is another
            # letter at the end of a word.
            if token != "[UNK]" and unicodedata.is_normalized("NFD", part):
                words = "".join(tokenizer.basic_tokenizer.tokenize(part))
                token = token.removeprefix("##")
                assert to_sigma(words) == to_sigma(token)
                num_checked += 1
    assert num_checked > len(texts)


@pytest.mark.parametrize(
    ("text", "do_lower_case", "tokens", "parts"),
    [
        # An accent of its own belongs to the letter before it.
        (
            "e\u0301a! \u200be",
            True,
            ["e", "##a", "!", "e"],
            ["e\u0301", *"a!e"],
        ),
        ("İa", True, ["i", "##a"], ["İ", "a"]),
        ("Éa", False, ["[UNK]"], ["Éa"]),
        ("中e中", True, ["中", "e", "中"], ["中", "e", "中"]),
        ("ae a", True, ["a", "##e", "a"], ["a", "e", "a"]),
        (" \u200b ", True, [], []),
    ],
)
def test_a_wordpiece_names_the_letters_it_came_from(
    create_tokenizer, text, do_lower_case, tokens, parts
):
    vocab = ["[UNK]", "a", "e", "i", "!", "中", "##a", "##e"]
    tokenizer = create_tokenizer(vocab, do_lower_case)
    found_tokens, spans = tokenize_with_spans(text, tokenizer)
    assert found_tokens == tokens
    assert [text[slice(*span)] for span in spans] == parts


@pytest.fixture
def find_answer(tmp_path, create_tokenizer):
    """Returns the tokens that are the answer (start, text) in a passage."""
    vocab = "[UNK] a b ##b ( ) - 1 2 黑 豹 队 丢 了 分 。"
    tokenizer = create_tokenizer(vocab.split())

    def find(context, answer, use_char_offsets=False):
        (example,) = read_examples(
            tmp_path, [[answer]], context, use_char_offsets=use_char_offsets
        )
        passage_tokenizer = PassageTokenizer(tokenizer, use_char_offsets)
        passage = passage_tokenizer.tokenize(example)
        first, last = find_answer_tokens(example, passage, tokenizer)
        return passage.tokens[first : last + 1]

    return find


def test_the_tokens_of_an_answer_are_found_in_a_longer_word(find_answer):
    assert find_answer("a b (1-2)", (5, "1")) == ["1"]


def test_an_answer_inside_a_wordpiece_is_its_whole_word(find_answer):
    """The tokens of the word "ab" are a and ##b, and not the answer's b."""
    assert find_answer("a ab a", (3, "b")) == ["a", "##b"]


def test_char_offsets_find_the_wordpieces_that_overlap_the_answer(find_answer):
    answer = (3, "b")
    assert find_answer("a ab a", answer, use_char_offsets=True) == ["##b"]


def test_char_offsets_find_answers_in_text_without_spaces(find_answer):
    found = find_answer(" 黑豹队了丢了分。", (5, "丢了"), use_char_offsets=True)
    assert found == ["丢", "了"]
