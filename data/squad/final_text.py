"""Finds predicted answers in the passage's own spelling.

The network predicts WordPieces, which the tokenizer may have lower-cased and
stripped of accents. As in Google's code, their characters are matched with the
characters of the passage's words.
"""

from collections.abc import Sequence
from typing import NamedTuple

from absl import logging

from data.squad.squad_examples import SquadExample
from data.text.tokenization import BasicTokenizer


class TokenizedText(NamedTuple):
    """A text as the tokenizer normalizes it.

    For example, "Mr Smith's" becomes "mr smith ' s". Its `sources` are 0, 1, 3,
    4, 5, 6, 7, 8 and 9, because only the space at 2 has no character in it.

    Attributes:
        text: the words, joined by spaces.
        sources: for each character of `text` but spaces, its index in the
            original text. None if the two texts differ in the number of these
            characters.
    """

    text: str
    sources: list[int] | None


class PassageWords(NamedTuple):
    """Successive words of a passage.

    Attributes:
        text: the words, joined by spaces.
        tokenized: the same words as the tokenizer normalizes them.
        sources: for each character of `text`, its index in the passage. A space
            follows each word.
    """

    text: str
    tokenized: TokenizedText
    sources: list[int]


def read_words(
    example: SquadExample,
    word_starts: Sequence[int],
    first: int,
    last: int,
    tokenizer: BasicTokenizer,
) -> PassageWords:
    """Returns successive words of a passage.

    Args:
        example: a question about the passage.
        word_starts: index in the passage of each word's first character.
        first: index of the first word.
        last: index of the last word.
        tokenizer: tokenizer that normalizes the words.
    """
    words = example.doc_tokens[first : last + 1]
    text = " ".join(words)
    sources = [
        index
        for word, start in zip(
            words, word_starts[first : last + 1], strict=True
        )
        for index in range(start, start + len(word) + 1)
    ]
    return PassageWords(text, _tokenize_text(text, tokenizer), sources)


def find_final_text(
    pred_text: str,
    orig_text: str,
    tokenizer: BasicTokenizer,
    verbose_logging: bool = False,
) -> tuple[int, int]:
    """Finds a predicted text in the passage's own spelling (get_final_text).

    For example, if "steve smith" is predicted and the passage contains "Steve
    Smith's", the result is the place of "Steve Smith". The function matches the
    characters of the tokenized words one to one with the characters of the
    passage, ignoring spaces. If this fails, the result is all of `orig_text`.

    Args:
        pred_text: predicted WordPieces joined to words, with single spaces
            between the words.
        orig_text: words of the passage that contain these WordPieces.
        tokenizer: tokenizer of the model that predicted `pred_text`, so that it
            normalizes words in the same way.
        verbose_logging: whether to log texts that cannot be matched.

    Returns:
        (start, end) in `orig_text`, in characters.
    """
    tokenized = _tokenize_text(orig_text, tokenizer)
    return find_in_tokenized(pred_text, orig_text, tokenized, verbose_logging)


def find_in_tokenized(
    pred_text: str,
    orig_text: str,
    tokenized: TokenizedText,
    verbose_logging: bool,
) -> tuple[int, int]:
    """Finds a predicted text in a passage that is already tokenized.

    `find_final_text` tokenizes the passage, and calls this function.

    Args:
        pred_text: predicted WordPieces joined to words, with single spaces
            between the words.
        orig_text: words of the passage that contain these WordPieces.
        tokenized: `orig_text` as the tokenizer normalizes it.
        verbose_logging: whether to log texts that cannot be matched.

    Returns:
        (start, end) in `orig_text`, in characters.
    """
    tok_text, sources = tokenized
    start = tok_text.find(pred_text)
    if start == -1:
        failure = "Unable to find text"
    elif sources is None:
        failure = "Length not equal after stripping spaces"
    # Only characters other than spaces have a position in `orig_text`, so the
    # prediction must begin and end with such a character.
    elif not pred_text or pred_text != pred_text.strip(" "):
        failure = "Couldn't map start or end position"
    else:
        last = start + len(pred_text) - 1
        source_start = sources[start - tok_text.count(" ", 0, start)]
        source_last = sources[last - tok_text.count(" ", 0, last)]
        return source_start, source_last + 1
    if verbose_logging:
        logging.info("%s: '%s' in '%s'", failure, pred_text, orig_text)
    return 0, len(orig_text)


def _tokenize_text(orig_text: str, tokenizer: BasicTokenizer) -> TokenizedText:
    tok_text = " ".join(tokenizer.tokenize(orig_text))
    sources = [index for index, char in enumerate(orig_text) if char != " "]
    is_same_length = len(tok_text) - tok_text.count(" ") == len(sources)
    return TokenizedText(tok_text, sources if is_same_length else None)
