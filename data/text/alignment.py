"""Finds the characters of the original text that belong to each WordPiece."""

import itertools
import unicodedata

from data.text.tokenization import FullTokenizer


def tokenize_with_spans(
    text: str, tokenizer: FullTokenizer
) -> tuple[list[str], list[tuple[int, int]]]:
    """Tokenizes a text, and finds the characters of each token.

        "Škoda (1895)" -> sko   ##da   (      1895    )
                          (0,3) (3,5) (6,7) (7,11) (11,12)

    Returns:
        (tokens, spans). `tokens` is a list of WordPieces. `spans` contains the
        (start, end) of each WordPiece in `text`. If a WordPiece ends with a
        letter that combining accents follow, its span includes them.
    """
    basic = tokenizer.basic_tokenizer
    # Tokenizing a whole text, or each of its characters separately, results in
    # the same string once the tokens are joined. So `origin` can list, for each
    # character of the joined tokens, the index in `text` that it came from.
    origin = [
        i
        for i, char in enumerate(text)
        for _ in itertools.chain.from_iterable(basic.tokenize(char))
    ]
    tokens, spans = [], []
    position = 0
    for word in basic.tokenize(tokenizer.space_words(text)):
        for piece in tokenizer.wordpiece_tokenizer.tokenize(word):
            if piece == tokenizer.wordpiece_tokenizer.unk_token:
                length = len(word)
            else:
                length = len(piece.removeprefix("##"))
            end = origin[position + length - 1] + 1
            while (
                end < len(text)
                and unicodedata.category(text[end]) == "Mn"
                and not basic.tokenize(text[end])
            ):
                end += 1
            tokens.append(piece)
            spans.append((origin[position], end))
            position += length
    return tokens, spans
