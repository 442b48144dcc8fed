"""A vocabulary that gets the words of a text."""

import collections

import pytest

from data.text import vocabulary_learning

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


# seaweed is 5 WordPieces and saves 20, wea 2 and 9. zzz, which is not known,
# counts as 3 characters and saves 8.
COUNTS = collections.Counter(
    {"seaweed": 5, "wea": 9, "the": 99, "once": 1, "zzz": 4, "77": 50}
)


def test_extend_vocabulary_fills_unused_rows_with_the_best_words():
    extended = vocabulary_learning.extend_vocabulary(VOCAB, COUNTS)
    assert extended == ["[PAD]", "seaweed", "wea", *VOCAB[3:]]


def test_extend_vocabulary_adds_rows_if_more_words_are_asked_for():
    extended = vocabulary_learning.extend_vocabulary(VOCAB, COUNTS, 7)
    assert extended == ["[PAD]", "seaweed", "wea", *VOCAB[3:], "zzz"]


@pytest.mark.parametrize(
    ("added", "num_wordpieces_of_words"),
    [
        ([], [25, 18, 99, 1, 4, 50]),
        (["seaweed", "wea", "zzz"], [5, 9, 99, 1, 4, 50]),
    ],
    ids=["before", "after"],
)
def test_count_corpus_wordpieces_counts_those_of_all_words(
    added, num_wordpieces_of_words
):
    wordpieces = vocabulary_learning.count_corpus_wordpieces(
        [*VOCAB, *added], COUNTS
    )
    assert wordpieces.num_wordpieces == sum(num_wordpieces_of_words)


def test_old_ids_are_those_that_each_embedding_starts_from():
    counts = {"seaweed": 5, "wea": 9, "zzz": 4}
    extended = vocabulary_learning.extend_vocabulary(VOCAB, counts, 3)
    old_ids = vocabulary_learning.list_old_ids(VOCAB, extended)
    ids = {token: number for number, token in enumerate(VOCAB)}
    seaweed = [ids[piece] for piece in ("sea", "##w", "##e", "##e", "##d")]
    assert old_ids[1] == seaweed
    assert old_ids[2] == [ids["w"], ids["##ea"]]
    assert old_ids[-1] == [ids["[UNK]"]]
    assert old_ids[3 : len(VOCAB)] == [[i] for i in range(3, len(VOCAB))]


@pytest.mark.parametrize(
    ("extended", "message"),
    [
        (VOCAB[:-1], "15"),
        ([*VOCAB[:-1], "z"], "'w'"),
        ([VOCAB[0], *VOCAB[2:], "z"], "UNK"),
    ],
)
def test_old_ids_of_another_vocabulary_are_an_error(extended, message):
    with pytest.raises(ValueError, match=message):
        vocabulary_learning.list_old_ids(VOCAB, extended)
