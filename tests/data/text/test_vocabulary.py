"""A vocabulary that gets the words of a text."""

import collections

import pytest

from data.text import vocabulary

VOCAB = [
    "[PAD]",
    "[unused0]",
    "[unused1]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "[MASK]",
    "the",
    "sea",
    "s",
    "##ea",
    "##w",
    "##e",
    "##d",
    "##a",
    "w",
]


def test_words_that_save_the_most_come_first():
    counts = collections.Counter(
        {"seaweed": 5, "wea": 9, "the": 99, "once": 1, "zzz": 4, "77": 50}
    )
    # seaweed is 5 WordPieces and saves 20, wea 2 and 9; zzz, which is not
    # known, counts as 3 characters and saves 8.
    extended = vocabulary.extend_vocabulary(VOCAB, counts)
    assert extended[1:3] == ["seaweed", "wea"]
    assert extended[3:] == VOCAB[3:]
    extended = vocabulary.extend_vocabulary(VOCAB, counts, 7)
    assert extended == ["[PAD]", "seaweed", "wea", *VOCAB[3:], "zzz"]
    numbers = [
        vocabulary.count_pieces(vocab, counts)[1] for vocab in (VOCAB, extended)
    ]
    assert numbers == [25 + 18 + 99 + 1 + 4 + 50, 5 + 9 + 99 + 1 + 4 + 50]


def test_each_row_of_an_extended_vocabulary_lists_the_rows_it_starts_from():
    counts = {"seaweed": 5, "wea": 9, "zzz": 4}
    extended = vocabulary.extend_vocabulary(VOCAB, counts, 3)
    rows = vocabulary.extension_rows(VOCAB, extended)
    ids = {token: number for number, token in enumerate(VOCAB)}
    seaweed = [ids[piece] for piece in ("sea", "##w", "##e", "##e", "##d")]
    assert rows[1] == seaweed
    assert rows[2] == [ids["w"], ids["##ea"]]
    assert rows[-1] == [ids["[UNK]"]]
    assert rows[3 : len(VOCAB)] == [[i] for i in range(3, len(VOCAB))]


@pytest.mark.parametrize(
    "extended, message",
    [
        (VOCAB[:-1], "15"),
        ([*VOCAB[:-1], "z"], "'w'"),
        ([VOCAB[0], *VOCAB[2:], "z"], "UNK"),
    ],
)
def test_other_vocabularies_are_no_extension(extended, message):
    with pytest.raises(ValueError, match=message):
        vocabulary.extension_rows(VOCAB, extended)
