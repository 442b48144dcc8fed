"""Masks that training draws, against the features of masked records."""

import numpy as np
import pytest

from data.io import feature_specs, record_datasets
from data.io.tf_examples import encode_example
from data.io.tfrecords import RecordWriter
from data.pretraining import dynamic_masking
from data.pretraining.pretraining_options import MaskingOptions
from data.text.tokenization import FullTokenizer
from data.text.vocabulary_files import REQUIRED_TOKENS

WORDS = [*REQUIRED_TOKENS, "[PAD]", *"abcdefgh", "##i", "##j"]
NUM_RECORDS = 600
LENGTH = 40
# A record has 35 WordPieces, then padding. Three of them are [CLS] and [SEP].
NUM_WORDPIECES = 35
SPECIAL_POSITIONS = [0, 21, 34]


BATCH_SIZE = 25
MAX_PREDICTIONS = 10


@pytest.fixture
def vocab_file(tmp_path):
    """A vocabulary of WORDS."""
    path = tmp_path / "vocab.txt"
    path.write_text("\n".join(WORDS))
    return path


@pytest.fixture
def records_file(tmp_path):
    """Records of [CLS], 20 WordPieces, [SEP], 12, [SEP], and padding.

    They have no masks.
    """
    path = str(tmp_path / "a.tfrecord")
    num_padding = LENGTH - NUM_WORDPIECES
    rng = np.random.default_rng(0)
    with RecordWriter([path]) as writer:
        for number in range(NUM_RECORDS):
            ids = rng.integers(5, len(WORDS), NUM_WORDPIECES)
            ids[SPECIAL_POSITIONS] = [0, 1, 1]
            features = {
                "input_ids": [*ids.tolist(), *[0] * num_padding],
                "input_mask": [1] * NUM_WORDPIECES + [0] * num_padding,
                "segment_ids": [0] * LENGTH,
                "next_sentence_labels": [number % 2],
            }
            writer.write(encode_example(features))
    return path


@pytest.fixture
def read_records(records_file, vocab_file):
    """(how to read and mask) -> {name: array} of records with masks."""

    def read(
        is_training=True, skip=0, count=2 * NUM_RECORDS, seed=3, **options
    ):
        masking = dynamic_masking.DynamicMasking(
            FullTokenizer(vocab_file),
            MAX_PREDICTIONS,
            MaskingOptions(**options),
            seed,
        )
        spec = feature_specs.unmasked_pretraining_spec(LENGTH)
        dataset = record_datasets.create_dataset(
            record_datasets.Records([records_file], spec, masking),
            BATCH_SIZE,
            is_training=is_training,
            seed=1,
            skip_records=skip,
        )
        batches = [*dataset.take(count // BATCH_SIZE)]
        return {
            name: np.concatenate([batch[name] for batch in batches])
            for name in batches[0]
        }

    return read


def original_ids(features):
    ids = features["input_ids"].copy()
    rows, numbers = np.nonzero(features["masked_lm_weights"])
    columns = features["masked_lm_positions"][rows, numbers]
    ids[rows, columns] = features["masked_lm_ids"][rows, numbers]
    chosen = np.zeros(ids.shape, bool)
    chosen[rows, columns] = True
    return ids, chosen


def test_features_have_the_shapes_of_masked_records(read_records):
    features = read_records()
    spec = feature_specs.pretraining_spec(LENGTH, 10)
    assert {name: list(values.shape) for name, values in features.items()} == {
        name: [2 * NUM_RECORDS, *feature.shape]
        for name, feature in spec.items()
    }


def test_features_have_the_types_of_masked_records(read_records):
    spec = feature_specs.pretraining_spec(LENGTH, 10)
    is_float = {
        name: feature.dtype == "float32" for name, feature in spec.items()
    }
    assert {name: values.dtype for name, values in read_records().items()} == {
        name: np.float32 if is_float[name] else np.int32 for name in spec
    }


def test_the_originals_are_the_words_of_the_records(read_records):
    ids, _ = original_ids(read_records())
    unmasked, _ = original_ids(
        read_records(is_training=False, count=NUM_RECORDS)
    )
    assert {row.tobytes() for row in ids} == {row.tobytes() for row in unmasked}


def test_special_tokens_and_padding_are_never_chosen(read_records):
    _, chosen = original_ids(read_records())
    assert not chosen[:, SPECIAL_POSITIONS].any()
    assert not chosen[:, NUM_WORDPIECES:].any()


def test_the_chosen_places_come_first_and_in_order(read_records):
    features = read_records()
    weights = features["masked_lm_weights"] > 0
    positions = features["masked_lm_positions"]
    assert (weights[:, :-1] >= weights[:, 1:]).all()
    assert (np.diff(positions)[weights[:, 1:]] > 0).all()
    assert not positions[~weights].any()
    assert not features["masked_lm_ids"][~weights].any()


def test_random_words_are_drawn_as_often_as_googles(read_records, vocab_file):
    """Google's code draws each word once, by the last of its lines."""
    vocab_file.write_text("\n".join([*WORDS, *["d"] * 20]))
    options = {"mask_token_prob": 0.0, "same_token_prob": 0.0}
    features = read_records(masked_lm_prob=0.2, **options)
    _, chosen = original_ids(features)
    counts = np.bincount(features["input_ids"][chosen], minlength=35)
    shares = counts / chosen.sum()
    assert not counts[WORDS.index("d")]
    assert not counts[15:34].any()
    np.testing.assert_allclose(shares[shares > 0], 1 / len(WORDS), atol=0.01)
    assert (shares > 0).sum() == len(WORDS)


@pytest.fixture
def masked_epochs(read_records):
    """(ids before, ids after, what was chosen) of 20 epochs, 7 of 35 chosen."""
    features = read_records(count=20 * NUM_RECORDS, masked_lm_prob=0.2)
    ids, chosen = original_ids(features)
    return ids, features["input_ids"], chosen


def test_as_many_words_are_chosen_as_googles_code_chooses(masked_epochs):
    _, _, chosen = masked_epochs
    assert (chosen.sum(1) == 7).all()  # round(35 * 0.2)


def test_all_positions_are_chosen_equally_often(masked_epochs):
    _, _, chosen = masked_epochs
    assert np.ptp(chosen.mean(0)[1:21]) < 0.03


def test_eight_of_ten_chosen_words_become_a_mask(masked_epochs):
    _, masked_ids, chosen = masked_epochs
    share = (masked_ids[chosen] == WORDS.index("[MASK]")).mean()
    # A random word may be [MASK], too.
    assert abs(share - 0.8 - 0.1 / len(WORDS)) < 0.01


def test_one_of_ten_chosen_words_stays(masked_epochs):
    ids, masked_ids, chosen = masked_epochs
    share = (masked_ids[chosen] == ids[chosen]).mean()
    # A random word may be the word that was there.
    assert abs(share - 0.1 - 0.1 / len(WORDS)) < 0.01


def test_a_random_word_may_be_any_special_one(masked_epochs):
    _, masked_ids, chosen = masked_epochs
    others = [
        index
        for index, word in enumerate(WORDS)
        if word.startswith("[") and word != "[MASK]"
    ]
    share = np.isin(masked_ids[chosen], others).mean()
    assert abs(share - 0.1 * len(others) / len(WORDS)) < 0.005


def test_masks_are_new_in_every_epoch(read_records):
    ids, chosen = original_ids(read_records())
    first_index = {
        row.tobytes(): index for index, row in enumerate(ids[:NUM_RECORDS])
    }
    is_same = [
        (row_chosen == chosen[first_index[row.tobytes()]]).all()
        for row, row_chosen in zip(
            ids[NUM_RECORDS:], chosen[NUM_RECORDS:], strict=True
        )
    ]
    assert np.mean(is_same) < 0.01


@pytest.mark.parametrize("skip", [25, NUM_RECORDS + 75])
def test_masks_are_the_same_after_a_resume(read_records, skip):
    features = read_records()
    resumed = read_records(skip=skip, count=2 * NUM_RECORDS - skip)
    for name in features:
        np.testing.assert_array_equal(resumed[name], features[name][skip:])


def test_the_seed_decides_what_is_masked(read_records):
    name = "masked_lm_positions"
    assert (read_records(seed=4)[name] != read_records(seed=3)[name]).any()


@pytest.fixture
def whole_words(read_records):
    """(features, what was chosen, which WordPiece continues the one before)."""
    features = read_records(masked_lm_prob=0.25, do_whole_word_mask=True)
    ids, chosen = original_ids(features)
    goes_on = np.array([word.startswith("##") for word in WORDS])[ids]
    goes_on[:, SPECIAL_POSITIONS] = False
    # What follows [CLS] or [SEP] begins a word.
    goes_on[:, [1, 22]] = False
    goes_on[:, NUM_WORDPIECES:] = False
    return features, chosen, goes_on[:, 1:]


def test_whole_word_masking_chooses_all_wordpieces_of_a_word(whole_words):
    _, chosen, goes_on = whole_words
    assert (chosen[:, 1:] == chosen[:, :-1])[goes_on].all()


def test_whole_words_have_nearly_as_many_wordpieces_as_chosen_ones(whole_words):
    _, chosen, _ = whole_words
    # round(35 * 0.25), and a word that would be too long is left out.
    assert chosen.sum(1).max() <= 9
    assert chosen.sum(1).mean() > 8.5


def test_the_wordpieces_of_a_word_are_replaced_one_by_one(whole_words):
    features, chosen, goes_on = whole_words
    is_mask = features["input_ids"] == WORDS.index("[MASK]")
    is_together = is_mask[:, 1:] == is_mask[:, :-1]
    # Each is [MASK] with a probability of 0.8: 0.8 * 0.8 + 0.2 * 0.2 = 0.68.
    assert is_together[goes_on & chosen[:, 1:]].mean() < 0.85
    assert abs(is_mask[chosen].mean() - 0.8) < 0.03
