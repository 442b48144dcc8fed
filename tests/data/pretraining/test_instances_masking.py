"""Masks of instances, drawn by draws that a test gives or by a seed.

tests/scripts/test_create_pretraining_data.py compares them with Google's.
"""

import collections
import random

import pytest

from data.pretraining.instances import InstanceCreator
from data.pretraining.pretraining_options import InstanceOptions
from tests.support.scripted_draws import (
    NAMES,
    VOCABULARY,
    ScriptedRandom,
    decode_tokens,
    encode_text,
)

# The draws of `shuffle` for three WordPieces, of which the first and the last
# change places, and for two words, which stay in their order.
LAST_FIRST = (0, 1)
SAME_ORDER = 1
# The draw by which a chosen WordPiece becomes [MASK].
IS_MASKED = 0.0


def mask_tokens(tokens, candidates, rng, **options):
    creator = InstanceCreator(
        VOCABULARY, InstanceOptions(vocab_file="", **options), rng
    )
    return creator.create_masked_lm_predictions(tokens, candidates)


def mask_text(text, rng, **options):
    """Returns (masked text, positions, text of the labels)."""
    tokens = encode_text(text)
    output, positions, labels = mask_tokens(
        tokens, range(1, len(tokens) - 1), rng, **options
    )
    return decode_tokens(output), positions, decode_tokens(labels)


def test_a_chosen_wordpiece_is_masked_kept_or_replaced():
    """The thresholds are 0.8 for [MASK], and then 0.5 for no change."""
    order_as_before = [2, 1]
    un_is_masked = [0.79]
    dog_is_kept = [0.8, 0.49]
    runn_becomes_cat = [0.8, 0.5, NAMES.index("cat")]
    rng = ScriptedRandom(
        *order_as_before, *un_is_masked, *dog_is_kept, *runn_becomes_cat
    )
    masked = mask_text("[CLS] un dog runn [SEP]", rng, masked_lm_prob=0.6)
    assert masked == ("[CLS] [MASK] dog cat [SEP]", [1, 2, 3], "un dog runn")
    assert not rng.draws


def test_the_first_wordpieces_of_the_shuffle_are_masked():
    rng = ScriptedRandom(*LAST_FIRST, IS_MASKED)
    masked = mask_text("[CLS] un dog runn [SEP]", rng, masked_lm_prob=0.2)
    assert masked == ("[CLS] un dog [MASK] [SEP]", [3], "runn")


def test_at_least_one_wordpiece_is_masked():
    rng = ScriptedRandom(IS_MASKED)
    masked = mask_text("[CLS] dog [SEP]", rng, masked_lm_prob=0.0)
    assert masked == ("[CLS] [MASK] [SEP]", [1], "dog")


WORD_OF_THREE = "[CLS] un ##want ##ed dog [SEP]"


def test_all_wordpieces_of_a_word_are_masked():
    rng = ScriptedRandom(SAME_ORDER, IS_MASKED, IS_MASKED, IS_MASKED)
    masked = mask_text(
        WORD_OF_THREE, rng, masked_lm_prob=0.5, do_whole_word_mask=True
    )
    text = "[CLS] [MASK] [MASK] [MASK] dog [SEP]"
    assert masked == (text, [1, 2, 3], "un ##want ##ed")


def test_a_word_with_too_many_wordpieces_is_not_masked():
    """Two WordPieces are to be masked, and the first word has three."""
    rng = ScriptedRandom(SAME_ORDER, IS_MASKED)
    masked = mask_text(
        WORD_OF_THREE, rng, masked_lm_prob=0.3, do_whole_word_mask=True
    )
    assert masked == ("[CLS] un ##want ##ed [MASK] [SEP]", [4], "dog")


@pytest.mark.parametrize(
    ("as_mask", "same"),
    [(0.8, 0.1), (1.0, 0.0), (0.0, 1.0), (0.0, 0.0), (0.8, 0.2), (0.2, 0.3)],
)
def test_the_shares_of_masks_are_those_of_the_papers_table_8(as_mask, same):
    rng = random.Random(0)
    counts = collections.Counter()
    for seed in range(300):
        tokens = [
            VOCABULARY["[CLS]"],
            *rng.choices(VOCABULARY.encoded_tokens[4:], k=98),
            VOCABULARY["[SEP]"],
        ]
        output, positions, labels = mask_tokens(
            tokens,
            range(1, 99),
            random.Random(seed),
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
