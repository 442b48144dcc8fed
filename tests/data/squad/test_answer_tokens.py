"""Which tokens of a passage are its answer."""

import pytest

from data.squad.answer_tokens import find_answer_tokens
from data.squad.passage_tokens import PassageTokenizer
from tests.support.squad.squad_passages import read_examples


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
