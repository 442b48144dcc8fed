"""What the task of run_swag.py makes of examples and of outputs."""

import json

import numpy as np
import pytest

from data.classification.swag_examples import SwagExample
from data.tables.table_layout import DEFAULT_LAYOUT
from modeling import BertMultipleChoice
from tests.support.models import SMALL
from tests.support.tasks.task_sets import create_set, create_task_start
from training.tasks.swag import SwagTask

ENDINGS = ["the drums .", "the horns .", "a door .", "nobody ."]
# Of the first, the second ending is right, of the second none is known.
EXAMPLES = [
    SwagExample("a", "a band plays .", ENDINGS, "1"),
    SwagExample("b", "a crowd waits .", ENDINGS, None),
]
# The second ending of both is the most probable.
LOGITS = np.array([[0.0, 2.0, 1.0, 0.0], [0.0, 3.0, 1.0, 0.0]], "float32")


@pytest.fixture
def task(tmp_path):
    """The task, for inputs of 16 WordPieces."""
    return SwagTask(
        create_task_start(tmp_path, max_seq_length=16), DEFAULT_LAYOUT
    )


def test_a_record_contains_all_endings_and_the_right_one(task):
    spec = task.feature_spec("train")
    assert spec["input_ids"].shape == (4, 16)
    assert len([*task.encode("train", EXAMPLES)]) == 2


def test_the_model_has_one_output_for_each_ending(task):
    model = task.create_model(SMALL)
    assert isinstance(model, BertMultipleChoice)
    logits = model({"input_ids": np.ones((2, 4, 3), "int32")})
    assert logits.shape == (2, 4)


def test_only_examples_with_a_known_ending_are_scored(task):
    scores = task.compute_scores(create_set("dev", EXAMPLES), [({}, LOGITS)])
    assert scores.overall["eval_accuracy"] == 1.0
    assert scores.overall["num_without_label"] == 1


def test_the_predictions_name_the_chosen_endings(task, tmp_path):
    encoded_set = create_set("test", EXAMPLES)
    task.write_and_score_predictions(encoded_set, [({}, LOGITS)], str(tmp_path))
    lines = (tmp_path / "predictions.jsonl").read_text().splitlines()
    entries = [json.loads(line) for line in lines]
    assert [entry["guid"] for entry in entries] == ["a", "b"]
    assert [entry["label"] for entry in entries] == ["1", "1"]
