"""Weights of classes: from the train set's labels, and from a file."""

import json

import pytest

from data.classification import class_weights


def test_balanced_weights_let_all_classes_count_the_same():
    found = ["a"] * 6 + ["b"] * 3
    weights = class_weights.create("balanced", ["a", "b", "c"], found)
    # One that is not there weighs nothing in all.
    assert weights == {"a": 9 / (3 * 6), "b": 9 / (3 * 3), "c": 3.0}


def test_a_file_has_a_weight_for_each_label(tmp_path):
    path = tmp_path / "weights.json"
    path.write_text(json.dumps({"b": 2, "a": 0.5}))
    weights = class_weights.create(str(path), ["a", "b"], ())
    assert [*weights.items()] == [("a", 0.5), ("b", 2.0)]
    for wrong, message in (
        ({"a": 1}, r"weight for each of the labels \['a', 'b'\]"),
        ({"a": 1, "b": 1, "c": 1}, "weights for: .'a', 'b', 'c'"),
        ({"a": 1, "b": 0}, "weight of 'b' must be a number from 1e-6"),
        ({"a": 1, "b": 10**400}, "from 1e-6 to 1e6. Received: 1000"),
        ({"a": 1, "b": 1e39}, "from 1e-6 to 1e6. Received: 1e.39"),
        ({"a": 1, "b": True}, "Received: True"),
        ({"a": "1", "b": 1}, "Received: '1'"),
    ):
        path.write_text(json.dumps(wrong))
        with pytest.raises(ValueError, match=message):
            class_weights.create(str(path), ["a", "b"], ())


def test_what_cannot_be_weights_is_refused_at_once(tmp_path):
    file = tmp_path / "weights.json"
    file.write_text("{}")
    for given in ("balanced", str(file)):
        class_weights.check(given, "classification")
    for given, mode, message in (
        ("", "classification", "--class_weights= is empty"),
        (str(tmp_path), "classification", "is neither balanced nor an"),
        ("none.json", "classification", "is neither balanced nor an"),
        ("balanced", "regression", "Received: regression"),
    ):
        with pytest.raises((ValueError, OSError), match=message):
            class_weights.check(given, mode)
