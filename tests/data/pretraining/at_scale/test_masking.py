import numpy as np
import pytest

from data.pretraining.at_scale import masking
from data.pretraining.options import InstanceOptions, MaskingOptions

MASK, VOCAB_SIZE = 4, 1000
VOCAB = {"[MASK]" if i == MASK else str(i): i for i in range(VOCAB_SIZE)}


def make(n=4000, width=40, **options):
    """Masks n instances of one kind: words of 1, 2 and 3 WordPieces."""
    rng = np.random.default_rng(0)
    can_be_masked = np.ones((n, width), bool)
    can_be_masked[:, [0, 20, 34]] = False
    can_be_masked[:, 35:] = False
    begins_word = np.zeros((n, width), bool)
    for start in (1, 21):
        begins_word[:, [start, *range(start + 1, start + 13, 3)]] = True
        begins_word[:, start + 2 : start + 13 : 3] = True
    begins_word &= can_be_masked
    input_ids = rng.integers(10, VOCAB_SIZE, (n, width), np.int32)
    options = InstanceOptions(
        **{"max_seq_length": width, "masked_lm_prob": 0.2, **options}
    )
    made = masking.mask_instances(
        input_ids,
        can_be_masked,
        begins_word,
        np.full(n, 35),
        options,
        VOCAB,
        rng,
    )
    chosen = np.zeros((n, width), bool)
    rows, numbers = np.nonzero(made["masked_lm_weights"])
    chosen[rows, made["masked_lm_positions"][rows, numbers]] = True
    return input_ids, can_be_masked, begins_word, made, chosen


@pytest.mark.parametrize("whole", [False, True])
def test_features_fit_together(whole):
    input_ids, can_be_masked, _, made, chosen = make(do_whole_word_mask=whole)
    assert not (chosen & ~can_be_masked).any()
    np.testing.assert_array_equal(
        made["input_ids"][~chosen], input_ids[~chosen]
    )
    for row in range(0, 4000, 500):
        positions = np.nonzero(chosen[row])[0]
        padding = np.zeros(20 - len(positions), int)
        np.testing.assert_array_equal(
            made["masked_lm_positions"][row], [*positions, *padding]
        )
        np.testing.assert_array_equal(
            made["masked_lm_ids"][row], [*input_ids[row, positions], *padding]
        )
        np.testing.assert_array_equal(
            made["masked_lm_weights"][row], [1] * len(positions) + [*padding]
        )


def test_shares_are_the_originals():
    input_ids, can_be_masked, _, made, chosen = make()
    # round(35 * 0.2) of 32 WordPieces.
    assert (chosen.sum(1) == 7).all()
    assert np.ptp(chosen.mean(0)[can_be_masked[0]]) < 0.05
    found, labels = made["input_ids"][chosen], input_ids[chosen]
    assert abs((found == MASK).mean() - 0.8) < 0.01
    assert abs((found == labels).mean() - 0.1) < 0.01
    random_ids = found[(found != MASK) & (found != labels)]
    assert abs(random_ids.mean() - VOCAB_SIZE / 2) < 15


def test_words_are_masked_whole():
    _, can_be_masked, begins_word, _, chosen = make(do_whole_word_mask=True)
    words = np.cumsum(begins_word, axis=1) * can_be_masked
    for row in range(0, 4000, 100):
        for word in range(1, words.max() + 1):
            assert len(set(chosen[row, words[row] == word])) == 1
    assert chosen.sum(1).max() <= 7
    assert chosen.sum(1).mean() > 6.9


def test_one_draw_a_word():
    input_ids, can_be_masked, begins_word, made, chosen = make(
        do_whole_word_mask=True, whole_word_draw=True
    )
    is_mask = made["input_ids"] == MASK
    follows = chosen[:, 1:] & ~begins_word[:, 1:] & can_be_masked[:, 1:]
    # A random word may be [MASK] too.
    assert (is_mask[:, 1:] == is_mask[:, :-1])[follows].mean() > 0.999
    assert abs(is_mask[chosen].mean() - 0.8) < 0.02


@pytest.mark.parametrize(("prob", "most", "count"), [(0.0, 20, 1), (1, 5, 5)])
def test_number_of_predictions_has_bounds(prob, most, count):
    chosen = make(n=50, masked_lm_prob=prob, max_predictions_per_seq=most)[-1]
    assert (chosen.sum(1) == count).all()


@pytest.mark.parametrize(
    ("mask", "same"), [(1.0, 0.0), (0.0, 1.0), (0.0, 0.0), (0.8, 0.2)]
)
def test_shares_of_the_papers_table_8(mask, same):
    input_ids, _, _, made, chosen = make(
        mask_token_prob=mask, same_token_prob=same
    )
    found = made["input_ids"][chosen]
    is_mask = found == MASK
    stays = found == input_ids[chosen]
    # A random WordPiece is now and then [MASK] or the same.
    assert abs(is_mask.mean() - mask) < 0.02
    assert abs((stays & ~is_mask).mean() - same) < 0.02


def test_shares_above_one_are_refused():
    with pytest.raises(ValueError, match="add up to more than 1"):
        MaskingOptions(mask_token_prob=0.8, same_token_prob=0.3).check_shares()
    MaskingOptions(mask_token_prob=0.9, same_token_prob=0.1).check_shares()
