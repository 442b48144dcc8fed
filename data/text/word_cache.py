"""Caches the tokens of each word, because words repeat in natural text."""

from collections.abc import Callable, Iterable
from itertools import chain

# Maximum number of words in a tokenizer's cache, and maximum number of
# characters in a cached word.
MAX_CACHED_WORDS = 1 << 17
_MAX_CACHED_LENGTH = 64


class WordCache(dict):
    """Caches a function's results for at most MAX_CACHED_WORDS words.

    `cache[word]` returns `function(word)`.
    """

    def __init__(self, function: Callable[[str], list]) -> None:
        super().__init__()
        self._function = function

    def __missing__(self, word: str) -> list:
        """Computes the result of a word that is not cached, and caches it."""
        result = self._function(word)
        if len(word) <= _MAX_CACHED_LENGTH:
            # If the cache is full, clear it. Frequent words are soon cached
            # again.
            if len(self) >= MAX_CACHED_WORDS:
                self.clear()
            self[word] = result
        return result

    def of_all(self, words: Iterable[str]) -> list:
        """Returns the results for all words, concatenated to one list."""
        return list(chain.from_iterable(map(self.__getitem__, words)))
