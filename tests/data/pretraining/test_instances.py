import logging
import random

import pytest

from data.pretraining import documents
from data.pretraining import instances as pretraining
from data.pretraining.options import InstanceOptions
from tests import golden

VOCAB = str(golden.ROOT / "tests/testdata/golden/vocab/uncased.txt")


@pytest.mark.parametrize("length", [0, 1, 2, 3, 4, 7, 8, 9, 100, 1025])
def test_shuffle_is_that_of_random(length):
    expected, shuffled = list(range(length)), list(range(length))
    rng, other = random.Random(length), random.Random(length)
    rng.shuffle(expected)
    pretraining.shuffle(shuffled, other)
    assert shuffled == expected
    assert other.random() == rng.random()


def create(tmp_path, text, caplog):
    path = tmp_path / "corpus.txt"
    path.write_bytes(text)
    with caplog.at_level(logging.WARNING):
        return pretraining.create_training_instances(
            [str(path)],
            documents.create_reader(documents.TextOptions(VOCAB, True)),
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
    with pytest.raises(ValueError, match="corpus.txt"):
        create(tmp_path, text, caplog)


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
