"""Finds the tokens of a passage that are the answer, to train with them."""

import bisect
from typing import NamedTuple

from data.squad.passage_tokens import Passage
from data.squad.squad_examples import SquadExample
from data.text.tokenization import FullTokenizer


class AnswerTokens(NamedTuple):
    """The tokens of a passage that are an answer.

    Attributes:
        first: index of the first token in the passage.
        last: index of the last token.
    """

    first: int
    last: int


def find_answer_tokens(
    example: SquadExample, passage: Passage, tokenizer: FullTokenizer
) -> AnswerTokens:
    """Finds the first and the last token of an example's answer in a passage.

    With `char_spans`, the tokens are all that overlap the answer's characters.
    Without them, the words around the answer are searched for its WordPieces,
    as in Google's `_improve_answer_span`.
    """
    if passage.char_spans is not None:
        return _find_by_chars(example, passage.char_spans)
    return _find_in_words(example, passage, tokenizer)


def _find_by_chars(
    example: SquadExample, char_spans: list[tuple[int, int]]
) -> AnswerTokens:
    """Finds all tokens that overlap the answer's characters."""
    start = example.answer_start
    stop = start + len(example.orig_answer_text)
    first = bisect.bisect_right(char_spans, start, key=lambda span: span[1])
    after = bisect.bisect_left(char_spans, stop, key=lambda span: span[0])
    return AnswerTokens(first, after - 1)


def _find_in_words(
    example: SquadExample, passage: Passage, tokenizer: FullTokenizer
) -> AnswerTokens:
    """Finds the answer's WordPieces among those of the words around it.

        question:    What year was John Smith born?
        answer:      1895
        words:       The leader was John Smith   (1895-1943).
        WordPieces:  the leader was john smith ( 1895 - 1943 ) .
                                                 ^^^^

    The word of the answer is "(1895-1943).", and its WordPieces contain the
    answer. But the WordPieces of "Japanese" do not contain "japan". If "Japan"
    is the answer, the complete word "Japanese" is the result.
    """
    words_first = passage.first_tokens[example.start_position]
    words_last = passage.first_tokens[example.end_position + 1] - 1
    answer_tokens = tokenizer.tokenize(example.orig_answer_text)
    length = len(answer_tokens)
    if length:
        for first in range(words_first, words_last + 2 - length):
            if passage.tokens[first : first + length] == answer_tokens:
                return AnswerTokens(first, first + length - 1)
    return AnswerTokens(words_first, words_last)
