"""Splits text into words, and words into WordPieces.

Google's tokenizer splits special tokens: `[MASK]` becomes `[`, `mask` and `]`.
`split_around` keeps them whole, and lets the text between two special tokens be
tokenized as a text of its own.
"""

import itertools
import re
from collections.abc import Callable, Collection, Iterable
from typing import TypeVar

from data.text.characters import clean_text, split_on_punctuation, strip_accents

T = TypeVar("T")

# The special token that stands for a missing word.
MASK = "[MASK]"
# The special tokens that a text may contain.
SPECIAL_TOKENS = ("[PAD]", "[CLS]", "[SEP]", MASK, "[UNK]")
# Maximum number of words in a cache, and of characters in a cached word.
_MAX_CACHED_WORDS = 1 << 17
_MAX_CACHED_LENGTH = 64


class WordCache(dict[str, list[T]]):
    """Caches the tokens of each word, because words repeat in natural text.

    `cache[word]` returns `function(word)`.
    """

    def __init__(self, function: Callable[[str], list[T]]) -> None:
        super().__init__()
        self._function = function

    def __missing__(self, word: str) -> list[T]:
        """Computes and caches the tokens of a word."""
        result = self._function(word)
        if len(word) <= _MAX_CACHED_LENGTH:
            # If the cache is full, clear it. Frequent words are soon cached
            # again.
            if len(self) >= _MAX_CACHED_WORDS:
                self.clear()
            self[word] = result
        return result

    def of_all(self, words: Iterable[str]) -> list[T]:
        """Returns the tokens of all words, concatenated to one list."""
        return list(itertools.chain.from_iterable(map(self.__getitem__, words)))


class BasicTokenizer:
    """Splits text into words.

    A punctuation mark or a CJK ideograph is always a word of its own.

    Args:
        do_lower_case: whether to lower-case the text and strip accents.
    """

    def __init__(self, do_lower_case: bool = True) -> None:
        self.do_lower_case = do_lower_case
        self._word_tokens = WordCache(self.tokenize_word)

    def tokenize(self, text: str) -> list[str]:
        """Returns the words of `text`, a list of str."""
        return self._word_tokens.of_all(clean_text(text).split())

    def tokenize_word(self, word: str) -> list[str]:
        """Splits a word of cleaned text at punctuation.

        If `do_lower_case` is True, the word is first lower-cased, and its
        accents are stripped.
        """
        if self.do_lower_case:
            word = strip_accents(word.lower())
        return split_on_punctuation(word)


class WordpieceTokenizer:
    """Splits a word into the longest WordPieces that match, from the left.

    Args:
        vocab: the WordPieces.
        unk_token: token that replaces a word that cannot be split.
        max_input_chars_per_word: maximum number of characters of a word. A
            longer word becomes `unk_token`.
    """

    def __init__(
        self,
        vocab: Collection[str],
        unk_token: str = "[UNK]",
        max_input_chars_per_word: int = 200,
    ) -> None:
        self.vocab = vocab
        self.unk_token = unk_token
        self.max_input_chars_per_word = max_input_chars_per_word
        self._max_token_length = max(map(len, vocab), default=0)

    def tokenize(self, text: str) -> list[str]:
        """Splits each word of `text`. White space separates the words.

        Examples:
            >>> tokenizer = WordpieceTokenizer({"row", "##boats"})
            >>> tokenizer.tokenize("rowboats row boats")
            ['row', '##boats', 'row', '[UNK]']
        """
        output: list[str] = []
        for token in text.split():
            output += self._split(token) or [self.unk_token]
        return output

    def _split(self, token: str) -> list[str] | None:
        """Returns the WordPieces of a word, or None if it cannot be split."""
        if len(token) > self.max_input_chars_per_word:
            return None
        if token in self.vocab:
            return [token]
        sub_tokens = []
        start = 0
        prefix = ""
        while start < len(token):
            end = min(len(token), start + self._max_token_length)
            while start < end and prefix + token[start:end] not in self.vocab:
                end -= 1
            if start == end:
                return None
            sub_tokens.append(prefix + token[start:end])
            start = end
            prefix = "##"
        return sub_tokens


def split_around(
    text: str, words: Collection[str], tokenize: Callable[[str], list[str]]
) -> list[str]:
    """Returns the tokens of a text, in which `words` are tokens.

    Examples:
        >>> split_around("The [MASK] left.", ["[MASK]"], str.split)
        ['The', '[MASK]', 'left.']

    Args:
        text: the text to split.
        words: the tokens that stay whole, such as [MASK].
        tokenize: function from the text between two of them to its tokens.
    """
    if not words:
        return tokenize(text)
    tokens: list[str] = []
    for part in re.split(special_token_pattern(words), text):
        tokens += [part] if part in words else tokenize(part)
    return tokens


def special_token_pattern(words: Collection[str]) -> str:
    """Returns the regular expression, a group, that matches the words."""
    return f"({'|'.join(map(re.escape, words))})"
