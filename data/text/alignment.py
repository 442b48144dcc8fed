"""Maps each WordPiece to its characters in the original text."""

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
        (tokens, spans). The spans are each token's (start, end) in `text`. A
        letter's span includes its accents.
    """
    basic = tokenizer.basic_tokenizer
    # The joined tokens of a text equal the joined tokens of its characters. So
    # `origin` lists the index in `text` of each character of the tokens.
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
