"""Splits passages into tokens, and finds those that are an answer.

The tokens are WordPieces, which know their characters in the passage. Training
needs the tokens of the answer.
"""

import bisect
import dataclasses
import functools
import itertools
import unicodedata
from typing import NamedTuple

import numpy as np

from data.squad.squad_examples import WORD, SquadExample
from data.text.characters import CharacterSpan
from data.text.tokenization import BasicTokenizer, FullTokenizer


@dataclasses.dataclass(frozen=True)
class Passage:
    """A passage, split into tokens.

    For example, the words "cats run" with the WordPieces `cat ##s run`:

        tokens          cat    ##s    run
        word_of_token   0      0      1
        first_tokens    0             2       3
        char_spans      (0,3)  (3,4)  (5,8)

    Attributes:
        tokens: the WordPieces.
        word_of_token: index of the word that contains each token.
        first_tokens: index of each word's first token, then the number of all
            tokens.
        char_spans: the characters of each token. None without
            --use_char_offsets.
    """

    tokens: list[str]
    word_of_token: list[int]
    first_tokens: list[int]
    char_spans: list[CharacterSpan] | None


class AnswerTokens(NamedTuple):
    """The tokens of a passage that are an answer.

    Attributes:
        first: index of the first token in the passage.
        last: index of the last token.
    """

    first: int
    last: int


class PassageTokenizer:
    """Splits the passages of examples into tokens.

    The class caches the WordPieces of each word, because words repeat. The
    tokenizer's own cache saves less time, because the tokenizer first cleans
    the text.

    Args:
        tokenizer: the tokenizer of the model.
        use_char_offsets: whether to find the characters of each token.
    """

    def __init__(
        self, tokenizer: FullTokenizer, use_char_offsets: bool
    ) -> None:
        self._use_char_offsets = use_char_offsets
        self._tokenize_word = functools.lru_cache(maxsize=2**17)(
            tokenizer.tokenize
        )
        self._char_spans_of = functools.lru_cache(maxsize=2**16)(
            lambda word: tokenize_with_spans(word, tokenizer).spans
        )

    def tokenize(self, example: SquadExample) -> Passage:
        """Splits the passage of an example into tokens."""
        words = [*map(self._tokenize_word, example.doc_tokens)]
        lengths = [*map(len, words)]
        char_spans = None
        if self._use_char_offsets:
            char_spans = [
                CharacterSpan(word.start() + start, word.start() + end)
                for word in WORD.finditer(example.context)
                for start, end in self._char_spans_of(word.group())
            ]
        return Passage(
            tokens=[*itertools.chain.from_iterable(words)],
            word_of_token=np.repeat(range(len(words)), lengths).tolist(),
            first_tokens=[*itertools.accumulate(lengths, initial=0)],
            char_spans=char_spans,
        )


class SpannedTokens(NamedTuple):
    """The WordPieces of a text, and where they are in it.

    Attributes:
        tokens: the WordPieces.
        spans: the characters of each WordPiece. If a WordPiece ends with a
            letter that combining accents follow, its span includes them.
    """

    tokens: list[str]
    spans: list[CharacterSpan]


def tokenize_with_spans(text: str, tokenizer: FullTokenizer) -> SpannedTokens:
    """Tokenizes a text, and finds the characters of each token.

    "Škoda (1895)" -> sko   ##da   (      1895    )
                      (0,3) (3,5) (6,7) (7,11) (11,12)
    """
    basic = tokenizer.basic_tokenizer
    # Tokenizing a whole text, or each of its characters separately, results in
    # the same string once the tokens are joined. So `origin` can list, for each
    # character of the joined tokens, the index of its source in `text`.
    origin = [
        index
        for index, char in enumerate(text)
        for _ in itertools.chain.from_iterable(basic.tokenize(char))
    ]
    tokens = []
    spans = []
    position = 0
    for word in basic.tokenize(text):
        for token in tokenizer.wordpiece_tokenizer.tokenize(word):
            is_unknown = token == tokenizer.wordpiece_tokenizer.unk_token
            length = len(word if is_unknown else token.removeprefix("##"))
            end = origin[position + length - 1] + 1
            end = _skip_accents(text, end, basic)
            tokens.append(token)
            spans.append(CharacterSpan(origin[position], end))
            position += length
    return SpannedTokens(tokens, spans)


def _skip_accents(text: str, start: int, tokenizer: BasicTokenizer) -> int:
    """Returns the first index from `start` without a dropped accent."""
    end = start
    while (
        end < len(text)
        and unicodedata.category(text[end]) == "Mn"
        and not tokenizer.tokenize(text[end])
    ):
        end += 1
    return end


def find_answer_tokens(
    example: SquadExample, passage: Passage, tokenizer: FullTokenizer
) -> AnswerTokens:
    """Finds the first and the last token of an example's answer in a passage.

    With `char_spans`, the tokens are all that overlap the answer's characters.
    Without them, the words around the answer are searched for its WordPieces,
    as in Google's `_improve_answer_span`.
    """
    if passage.char_spans is not None:
        return _find_answer_by_chars(example, passage.char_spans)
    return _find_answer_in_words(example, passage, tokenizer)


def _find_answer_by_chars(
    example: SquadExample, char_spans: list[CharacterSpan]
) -> AnswerTokens:
    """Finds all tokens that overlap the answer's characters."""
    start = example.answer_start
    end = start + len(example.orig_answer_text)
    first = bisect.bisect_right(char_spans, start, key=lambda span: span.end)
    end_token = bisect.bisect_left(char_spans, end, key=lambda span: span.start)
    return AnswerTokens(first, end_token - 1)


def _find_answer_in_words(
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
