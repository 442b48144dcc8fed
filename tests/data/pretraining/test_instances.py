import collections
import logging
import random

import numpy as np
import pytest

from data.io import feature_specs, tfrecords
from data.pretraining import instances as pretraining
from data.pretraining import masking
from data.pretraining.options import InstanceOptions
from data.text import tokenization
from tests import golden

VOCAB = golden.ROOT / "tests/testdata/golden/vocab/uncased.txt"


def records_of(case):
    tokenizer = tokenization.FullTokenizer(
        case["folder"] / case["vocab_file"], case["do_lower_case"]
    )
    options = InstanceOptions(
        **{
            name: case[name]
            for name in (
                "max_seq_length",
                "dupe_factor",
                "short_seq_prob",
                "masked_lm_prob",
                "max_predictions_per_seq",
                "random_seed",
                "do_whole_word_mask",
            )
        }
    )
    instances = pretraining.create_training_instances(
        [str(case["folder"] / name) for name in case["input_file"]],
        tokenizer,
        options,
    )
    return list(
        map(pretraining.InstanceEncoder(tokenizer.vocab, options), instances)
    )


@pytest.mark.parametrize("case", golden.cases("pretraining_data"))
def test_golden(case):
    spec = feature_specs.pretraining_features(
        case["max_seq_length"], case["max_predictions_per_seq"]
    )
    made = tfrecords.decode(records_of(case), spec)
    recorded = np.load(case["folder"] / case["instances"])
    for name in recorded:
        np.testing.assert_array_equal(made[name], recorded[name])


def test_truncate_seq_pair_draws_as_the_original():
    tokens_a, tokens_b = list(range(10)), list(range(20, 40))
    expected_a, expected_b = list(tokens_a), list(tokens_b)
    rng = random.Random(3)
    while len(expected_a) + len(expected_b) > 13:
        longer = expected_a if len(expected_a) > len(expected_b) else expected_b
        longer.pop(0 if rng.random() < 0.5 else -1)
    drawn = random.Random(3)
    pretraining.truncate_seq_pair(tokens_a, tokens_b, 13, drawn)
    assert (tokens_a, tokens_b) == (expected_a, expected_b)
    assert drawn.random() == rng.random()


@pytest.mark.parametrize("length", [0, 1, 2, 3, 4, 7, 8, 9, 100, 1025])
def test_shuffle_is_that_of_random(length):
    expected, shuffled = list(range(length)), list(range(length))
    rng, other = random.Random(length), random.Random(length)
    rng.shuffle(expected)
    masking.shuffle(shuffled, other)
    assert shuffled == expected
    assert other.random() == rng.random()


def test_whole_words_are_masked_whole():
    tokens = "[CLS] un ##want ##ed dog [SEP] runn ##ing cat [SEP]".split()
    words = [{1, 2, 3}, {4}, {6, 7}, {8}]
    for seed in range(50):
        output, positions, labels = masking.create_masked_lm_predictions(
            tokens,
            ["x"],
            random.Random(seed),
            InstanceOptions(
                masked_lm_prob=0.5,
                max_predictions_per_seq=4,
                do_whole_word_mask=True,
            ),
        )
        assert len(positions) <= 4
        assert labels == [tokens[index] for index in positions]
        for word in words:
            assert word <= set(positions) or not word & set(positions)
        for index in set(range(len(tokens))) - set(positions):
            assert output[index] == tokens[index]


def create(tmp_path, text, caplog):
    path = tmp_path / "corpus.txt"
    path.write_bytes(text)
    with caplog.at_level(logging.WARNING):
        return pretraining.create_training_instances(
            [str(path)],
            tokenization.FullTokenizer(VOCAB),
            InstanceOptions(
                max_seq_length=32,
                max_predictions_per_seq=5,
                random_seed=1,
                dupe_factor=2,
            ),
        )


def test_one_document_is_its_own_random_next(tmp_path, caplog):
    instances = create(tmp_path, b"The old harbor.\nThe keeper.\n", caplog)
    assert any(instance.is_random_next for instance in instances)
    assert "one document" in caplog.text


def test_bytes_that_are_no_utf8_are_dropped_and_counted(tmp_path, caplog):
    text = b"The \xff\xfeold harbor.\n\nThe \xe2\x82keeper.\n"
    create(tmp_path, text, caplog)
    assert "dropped 4 bytes" in caplog.text
    assert caplog.text.count("dropped") == 1


@pytest.mark.parametrize("text", [b"", b"\n \n\n", b"\x00\n\n\xff\n"])
def test_an_empty_corpus_is_an_error(tmp_path, caplog, text):
    with pytest.raises(ValueError, match="no text in the input: .*corpus.txt"):
        create(tmp_path, text, caplog)


@pytest.mark.parametrize(("mask", "same"), [(1.0, 0.0), (0.0, 1.0), (0.2, 0.3)])
def test_shares_of_the_papers_table_8(mask, same):
    vocab_words = [f"word{i}" for i in range(1000)]
    rng = random.Random(0)
    counts = collections.Counter()
    for _ in range(300):
        tokens = ["[CLS]", *rng.choices(vocab_words, k=98), "[SEP]"]
        output, positions, labels = masking.create_masked_lm_predictions(
            tokens,
            vocab_words,
            rng,
            InstanceOptions(mask_token_prob=mask, same_token_prob=same),
        )
        for position, label in zip(positions, labels, strict=True):
            token = output[position]
            counts["mask" if token == "[MASK]" else token == label] += 1
    total = counts.total()
    assert abs(counts["mask"] / total - mask) < 0.03
    assert abs(counts[True] / total - same) < 0.03
