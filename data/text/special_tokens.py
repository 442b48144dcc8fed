"""Keeps special tokens such as [MASK] whole where a text contains them.

Google's tokenizer splits special tokens: `[MASK]` becomes `[`, `mask` and `]`.
The text between two special tokens is tokenized as a text of its own.
"""

import re
from collections.abc import Callable, Collection

# The special tokens that a text may contain.
TOKENS = ("[PAD]", "[CLS]", "[SEP]", "[MASK]", "[UNK]")


def pattern_of(words: Collection[str]) -> str:
    """Returns the regular expression, a group, that matches the words."""
    return f"({'|'.join(map(re.escape, words))})"


def split_around(
    text: str, words: Collection[str], tokenize: Callable[[str], list[str]]
) -> list[str]:
    """Returns the tokens of a text, in which `words` are tokens.

    Examples:
        >>> split_around("The [MASK] left.", ["[MASK]"], str.split)
        ['The', '[MASK]', 'left.']

    Args:
        text: the text.
        words: the special tokens.
        tokenize: function from the text between two of them to its tokens.
    """
    if not words:
        return tokenize(text)
    tokens: list[str] = []
    for part in re.split(pattern_of(words), text):
        tokens += [part] if part in words else tokenize(part)
    return tokens
