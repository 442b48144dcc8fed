"""Shares of masks drawn in Python, against the paper, and refused shares.

tests/scripts/test_create_pretraining_data.py compares them with Google's.
"""

import collections
import random

import pytest

from data.pretraining import instances
from data.pretraining.encoded_vocabulary import EncodedVocabulary
from data.pretraining.pretraining_options import InstanceOptions, MaskingOptions
from data.text.tokenization import REQUIRED_TOKENS

WORDS = ["un", "##want", "##ed", "dog", "runn", "##ing", "cat"]
NAMES = [*REQUIRED_TOKENS, *WORDS, *(f"word{i}" for i in range(1000))]
VOCABULARY = EncodedVocabulary(
    {name: index for index, name in enumerate(NAMES)}
)


def mask(tokens, candidates, seed, **options):
    return instances.create_masked_lm_predictions(
        tokens,
        list(candidates),
        VOCABULARY,
        random.Random(seed),
        InstanceOptions(vocab_file="", **options),
    )


@pytest.mark.parametrize(
    ("as_mask", "same"),
    [(0.8, 0.1), (1.0, 0.0), (0.0, 1.0), (0.0, 0.0), (0.8, 0.2), (0.2, 0.3)],
)
def test_shares_of_the_papers_table_8(as_mask, same):
    rng = random.Random(0)
    counts = collections.Counter()
    for seed in range(300):
        tokens = [
            VOCABULARY["[CLS]"],
            *rng.choices(VOCABULARY.words[4:], k=98),
            VOCABULARY["[SEP]"],
        ]
        output, positions, labels = mask(
            tokens,
            range(1, 99),
            seed,
            mask_token_prob=as_mask,
            same_token_prob=same,
        )
        assert len(positions) == 15
        for position, label in zip(positions, labels, strict=True):
            token = output[position]
            is_mask = token == VOCABULARY["[MASK]"]
            counts["mask" if is_mask else token == label] += 1
    total = counts.total()
    # A random WordPiece is now and then [MASK] or the same.
    assert abs(counts["mask"] / total - as_mask) < 0.03
    assert abs(counts[True] / total - same) < 0.03


def test_shares_above_one_are_refused():
    with pytest.raises(ValueError, match="more than 1"):
        MaskingOptions(mask_token_prob=0.8, same_token_prob=0.3).check_shares()


def test_shares_may_add_up_to_one():
    MaskingOptions(mask_token_prob=0.9, same_token_prob=0.1).check_shares()


def test_a_pair_is_cut_at_its_longer_sentence():
    first = collections.deque([1, 2, 3, 4, 5, 6])
    second = collections.deque([7, 8])
    instances.truncate_seq_pair(first, second, 4, random.Random(0))
    assert len(first) == 2
    assert [*second] == [7, 8]


def test_a_pair_is_cut_at_either_end():
    first = collections.deque(range(1, 101))
    second = collections.deque()
    instances.truncate_seq_pair(first, second, 50, random.Random(0))
    assert [*first] == [*range(first[0], first[0] + 50)]
    assert 1 < first[0] < 51


def test_a_shuffle_keeps_the_items():
    items = [*range(50)]
    instances.shuffle(items, random.Random(0))
    assert items != [*range(50)]
    assert sorted(items) == [*range(50)]
