"""Splits of one table into a train set and a dev set."""

import collections
import random

import pytest

from data.io.dev_split import split_rows


def test_each_label_has_its_share_and_no_text_is_in_both():
    random.seed(1)
    labels = ["a"] * 700 + ["b"] * 250 + ["c"] * 49 + ["once"]
    texts = [f"{label} {random.randrange(400)}" for label in labels]
    train, dev = split_rows(texts, labels, 0.2, seed=7)
    assert sorted(train + dev) == [*range(1000)]
    assert not {texts[row] for row in train} & {texts[row] for row in dev}
    counts = collections.Counter(labels[row] for row in dev)
    assert counts["a"] == pytest.approx(140, abs=3)
    assert counts["b"] == pytest.approx(50, abs=3)
    assert counts["c"] == pytest.approx(10, abs=3)
    assert not counts["once"]
    assert split_rows(texts, labels, 0.2, seed=7) == (train, dev)
    assert split_rows(texts, labels, 0.2, seed=8) != (train, dev)


def test_many_small_labels_share_one_dev_set():
    labels = [number // 2 for number in range(200)]
    _, dev = split_rows(range(200), labels, 0.2, seed=1)
    assert len(dev) == pytest.approx(40, abs=2)
    with pytest.raises(ValueError, match="--dev_fraction"):
        split_rows(["a", "a", "a"], [0, 0, 0], 0.2, seed=1)
