"""Finds predicted texts in the passage's own spelling.

The network predicts WordPieces, which the tokenizer may have lower-cased and
stripped of accents. As in Google's code, their characters are matched with the
characters of the passage's words.
"""

from collections.abc import Sequence
from typing import NamedTuple

from absl import logging

from data.squad.squad_examples import SquadExample
from data.text.tokenization import BasicTokenizer


class PassageWords(NamedTuple):
    """Successive words of a passage, also as the tokenizer normalizes them.

    For example, "Mr Smith's" becomes "mr smith ' s". The `tokenized_sources`
    are 0, 1, 3, 4, 5, 6, 7, 8 and 9, because only the space at 2 has no
    character in it.

    Attributes:
        text: the words, joined by spaces.
        sources: for each character of `text`, its index in the passage. A space
            follows each word.
        tokenized_text: the normalized words, joined by spaces.
        tokenized_sources: for each character of `tokenized_text` but spaces,
            its index in `text`. None if the two texts differ in the number of
            these characters.
    """

    text: str
    sources: list[int]
    tokenized_text: str
    tokenized_sources: list[int] | None


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
    starts = word_starts[first : last + 1]
    sources = [
        index
        for word, start in zip(words, starts, strict=True)
        for index in range(start, start + len(word) + 1)
    ]
    text = " ".join(words)
    tokenized_text = " ".join(tokenizer.tokenize(text))
    num_characters = len(tokenized_text) - tokenized_text.count(" ")
    tokenized_sources = [
        index for index, char in enumerate(text) if char != " "
    ]
    is_same_length = num_characters == len(tokenized_sources)
    return PassageWords(
        text,
        sources,
        tokenized_text,
        tokenized_sources if is_same_length else None,
    )


def find_final_text(
    pred_text: str, words: PassageWords, *, verbose_logging: bool
) -> tuple[int, int]:
    """Finds a predicted text in the passage's own spelling (get_final_text).

    For example, if "steve smith" is predicted and the passage contains "Steve
    Smith's", the result is where "Steve Smith" is. The function matches the
    characters of the tokenized words one to one with the characters of the
    passage, ignoring spaces. If this fails, the result is all of the words.

    Args:
        pred_text: predicted WordPieces joined to words, with single spaces
            between the words.
        words: words of the passage that contain these WordPieces.
        verbose_logging: whether to log texts that cannot be matched.

    Returns:
        (start, end) in the text of the words, in characters.
    """
    tok_text = words.tokenized_text
    sources = words.tokenized_sources
    start = tok_text.find(pred_text)
    if start == -1:
        failure = "Unable to find text"
    elif sources is None:
        failure = "Length not equal after stripping spaces"
    # Only characters other than spaces have a position in the words, so the
    # prediction must begin and end with such a character.
    elif not pred_text or pred_text != pred_text.strip(" "):
        failure = "Couldn't map start or end position"
    else:
        last = start + len(pred_text) - 1
        source_start = sources[start - tok_text.count(" ", 0, start)]
        source_last = sources[last - tok_text.count(" ", 0, last)]
        return source_start, source_last + 1
    if verbose_logging:
        logging.info("%s: '%s' in '%s'", failure, pred_text, words.text)
    return 0, len(words.text)
