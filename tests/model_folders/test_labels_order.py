"""Outputs of saved labels are found by their names."""

import pytest

from data.classification.glue import glue_tasks
from model_folders.labels import find_order

MNLI = ["contradiction", "entailment", "neutral"]


@pytest.mark.parametrize(
    ("saved", "labels", "order"),
    [
        (MNLI, [MNLI], [0, 1, 2]),
        (["entailment", "neutral", "contradiction"], [MNLI], [2, 0, 1]),
        (["CONTRADICTION", "Neutral", "ENTAILMENT"], [MNLI], [0, 2, 1]),
        (["a", "A"], [["A", "a"]], [1, 0]),
        # Names that differ in case only have no other form.
        (["a", "A"], [["A", "b"]], None),
        (["not equivalent", "equivalent"], [["0", "1"]], None),
        (["+", "-"], [["-", "+"]], [1, 0]),
        (["-1", "0", "2"], [["1", "0", "2"]], None),
        ([], [MNLI], None),
    ],
)
def test_labels_are_found_by_their_names(saved, labels, order):
    assert find_order(saved, labels) == order


@pytest.mark.parametrize("task", glue_tasks.WORDS_OF_LABEL)
def test_words_of_glue_stand_for_its_numbers(task):
    words = glue_tasks.WORDS_OF_LABEL[task]
    names = [["0", "1"], words]
    assert find_order([w.upper() for w in words], names) == [0, 1]
    assert find_order(words[::-1], names) == [1, 0]
