"""Masks that training draws, against the features of masked records."""

import numpy as np
import pytest

from data.io import feature_specs, record_datasets
from data.io.tf_examples import encode_example
from data.io.tfrecord_files import RecordWriter
from data.pretraining import dynamic_masking
from data.pretraining.pretraining_options import MaskingOptions
from data.text import tokenization
from data.text.tokenization import FullTokenizer

WORDS = [*tokenization.REQUIRED_TOKENS, "[PAD]", *"abcdefgh", "##i", "##j"]
N = 600
LENGTH = 40


@pytest.fixture
def read_records(tmp_path):
    """A function that reads records of [CLS], 20 WordPieces, [SEP], 12, [SEP].

    The records have no masks, and end with padding.
    """
    rng = np.random.default_rng(0)
    (tmp_path / "vocab.txt").write_text("\n".join(WORDS))
    path = str(tmp_path / "a.tfrecord")
    features = {
        "input_mask": [1] * 35 + [0] * 5,
        "segment_ids": [0] * LENGTH,
    }
    with RecordWriter([path]) as writer:
        for number in range(N):
            ids = np.zeros(LENGTH, int)
            ids[:35] = rng.integers(5, len(WORDS), 35)
            ids[0] = 0
            ids[[21, 34]] = 1
            features["input_ids"] = ids.tolist()
            features["next_sentence_labels"] = [number % 2]
            writer.write(encode_example(features))

    def read_records(is_training=True, skip=0, count=2 * N, seed=3, **options):
        masking = dynamic_masking.DynamicMasking(
            FullTokenizer(tmp_path / "vocab.txt"),
            10,
            MaskingOptions(**options),
            seed,
        )
        spec = feature_specs.unmasked_features(LENGTH)
        records = record_datasets.Records([path], spec, masking)
        dataset = record_datasets.create_dataset(
            records,
            25,
            is_training=is_training,
            seed=1,
            skip_records=skip,
        )
        batches = list(dataset.take(count // 25))
        return {
            name: np.concatenate([batch[name] for batch in batches])
            for name in batches[0]
        }

    return read_records


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
    spec = feature_specs.pretraining_features(LENGTH, 10)
    assert {name: list(values.shape) for name, values in features.items()} == {
        name: [2 * N, *feature.shape] for name, feature in spec.items()
    }


def test_features_have_the_types_of_masked_records(read_records):
    spec = feature_specs.pretraining_features(LENGTH, 10)
    is_float = {
        name: feature.dtype == "float32" for name, feature in spec.items()
    }
    assert {name: values.dtype for name, values in read_records().items()} == {
        name: np.float32 if is_float[name] else np.int32 for name in spec
    }


def test_the_originals_are_the_words_of_the_records(read_records):
    ids, _ = original_ids(read_records())
    unmasked, _ = original_ids(read_records(is_training=False, count=N))
    assert {row.tobytes() for row in ids} == {row.tobytes() for row in unmasked}


def test_special_tokens_and_padding_are_never_chosen(read_records):
    _, chosen = original_ids(read_records())
    assert not chosen[:, [0, 21, 34]].any()
    assert not chosen[:, 35:].any()


def test_the_chosen_places_come_first_and_in_order(read_records):
    features = read_records()
    weights = features["masked_lm_weights"] > 0
    positions = features["masked_lm_positions"]
    assert (weights[:, :-1] >= weights[:, 1:]).all()
    assert (np.diff(positions)[weights[:, 1:]] > 0).all()
    assert not positions[~weights].any()
    assert not features["masked_lm_ids"][~weights].any()


def test_random_words_are_drawn_as_often_as_googles(read_records, tmp_path):
    """Google's code draws each word once, by the last of its lines."""
    (tmp_path / "vocab.txt").write_text("\n".join([*WORDS, *["d"] * 20]))
    options = {"mask_token_prob": 0.0, "same_token_prob": 0.0}
    features = read_records(masked_lm_prob=0.2, **options)
    _, chosen = original_ids(features)
    counts = np.bincount(features["input_ids"][chosen], minlength=35)
    shares = counts / chosen.sum()
    assert not counts[WORDS.index("d")]
    assert not counts[15:34].any()
    np.testing.assert_allclose(shares[shares > 0], 1 / len(WORDS), atol=0.01)
    assert (shares > 0).sum() == len(WORDS)


def test_shares_are_the_originals(read_records):
    features = read_records(count=20 * N, masked_lm_prob=0.2)
    ids, chosen = original_ids(features)
    assert (chosen.sum(1) == 7).all()  # round(35 * 0.2)
    assert np.ptp(chosen.mean(0)[1:21]) < 0.03
    masked = features["input_ids"][chosen]
    labels = ids[chosen]
    assert abs((masked == 2).mean() - 0.8 - 0.1 / len(WORDS)) < 0.01
    # A random word can be the word that was there.
    assert abs((masked == labels).mean() - 0.1 - 0.1 / len(WORDS)) < 0.01
    special = np.isin(masked, [0, 1, 3, 4]).mean()
    assert abs(special - 0.1 * 4 / len(WORDS)) < 0.005


def test_masks_are_new_in_every_epoch_and_the_same_after_a_resume(read_records):
    features = read_records()
    ids, chosen = original_ids(features)
    first = {row.tobytes(): i for i, row in enumerate(ids[:N])}
    same = [
        (chosen[N + i] == chosen[first[row.tobytes()]]).all()
        for i, row in enumerate(ids[N:])
    ]
    assert np.mean(same) < 0.01
    for skip in (25, N + 75):
        resumed = read_records(skip=skip, count=2 * N - skip)
        for name in features:
            np.testing.assert_array_equal(resumed[name], features[name][skip:])
    name = "masked_lm_positions"
    assert (read_records(seed=4)[name] != features[name]).any()


def test_words_are_masked_whole(read_records):
    features = read_records(masked_lm_prob=0.25, do_whole_word_mask=True)
    ids, chosen = original_ids(features)
    goes_on = np.array([word.startswith("##") for word in WORDS])[ids]
    goes_on[:, [1, 22]] = False
    goes_on[:, [0, 21, 34, *range(35, 40)]] = False
    follows = goes_on[:, 1:]
    assert (chosen[:, 1:] == chosen[:, :-1])[follows].all()
    assert chosen.sum(1).max() <= 9
    assert chosen.sum(1).mean() > 8.5
    is_mask = features["input_ids"] == 2
    together = (is_mask[:, 1:] == is_mask[:, :-1])[follows & chosen[:, 1:]]
    assert together.mean() < 0.85
    assert abs(is_mask[chosen].mean() - 0.8) < 0.03
