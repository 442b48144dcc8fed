"""What the task of run_ner.py makes of its sentences."""

import numpy as np
import pytest

from data.ner.ner_examples import NerExample
from data.ner.ner_options import NerOptions
from data.ner.ner_reader import NerReader
from data.ner.sentence_windows import create_ner_features
from data.sets.data_file_options import DataFileOptions
from data.sets.held_sets import FileSets
from model_folders.scores import Scores
from modeling import BertTokenClassifier
from tests.support.models import SMALL
from tests.support.tasks.task_sets import create_set
from tests.support.tasks.toy_task import (
    create_flags,
    create_starting_point,
    load_tokenizer,
)
from training.config.ner_config import NerConfig
from training.tasks.ner import NerTask

TAGS = ["O", "B-PER", "I-PER"]
EXAMPLES = [
    NerExample("1", ["the", "man"], ["O", "B-PER"], document_index=0),
    NerExample("2", ["a", "day"], ["O", "O"], document_index=0),
]
LENGTH = 8


@pytest.fixture
def create_task(tmp_path):
    """A function (legal_tags) -> task for inputs of 8 WordPieces."""

    def create_ner_task(legal_tags=False):
        sets = FileSets(
            NerReader(NerOptions(labels=TAGS)), tmp_path, DataFileOptions()
        )
        flags = create_flags(
            tmp_path, max_seq_length=LENGTH, legal_tags=legal_tags
        )
        starting_point = create_starting_point(
            NerConfig.from_values(**flags), SMALL, load_tokenizer()
        )
        return NerTask(starting_point, sets, labels=TAGS)

    return create_ner_task


def create_windows(task, examples=EXAMPLES):
    """Returns the windows of the examples, one for each."""
    return [*create_ner_features(examples, TAGS, LENGTH, task.tokenizer)]


def logits_of(windows, tags):
    """Returns logits whose most probable tags are `tags`, lists of names."""
    logits = np.zeros((len(windows), LENGTH, len(TAGS)), "float32")
    for row, window, names in zip(logits, windows, tags, strict=True):
        for word, name in zip(window.words, names, strict=True):
            row[word.position, TAGS.index(name)] = 5.0
    return logits


def evaluate_tags(task, tags):
    """Returns the scores of predicted tags."""
    windows = create_windows(task)
    encoded_set = create_set("dev", EXAMPLES, windows)
    return task.compute_scores(encoded_set, [({}, logits_of(windows, tags))])


def test_the_decoding_context_of_a_record_is_its_window(create_task):
    task = create_task()
    decoding_contexts = [
        decoding_context
        for _, decoding_context in task.encode("train", EXAMPLES)
    ]
    assert decoding_contexts == create_windows(task)


def test_the_model_has_one_output_for_each_tag(create_task):
    model = create_task().create_model(SMALL)
    assert isinstance(model, BertTokenClassifier)
    assert model.num_labels == 3


def test_predictions_of_the_right_tags_have_scores_of_one(create_task):
    scores = evaluate_tags(create_task(), [["O", "B-PER"], ["O", "O"]])
    assert scores.overall["f1"] == 1.0
    assert scores.overall["accuracy"] == 1.0


def test_an_entity_that_is_not_there_halves_the_precision(create_task):
    scores = evaluate_tags(create_task(), [["O", "B-PER"], ["O", "B-PER"]])
    assert scores.overall["precision"] == 0.5
    assert scores.overall["recall"] == 1.0
    assert scores.overall["accuracy"] == 0.75


@pytest.mark.parametrize(("legal_tags", "tag"), [(False, "I-PER"), (True, "O")])
def test_an_illegal_tag_is_predicted_if_all_tags_are_illegal(
    legal_tags, tag, create_task, tmp_path
):
    """In IOB2, I-PER cannot follow O."""
    task = create_task(legal_tags)
    windows = create_windows(task)
    encoded_set = create_set("test", EXAMPLES, windows)
    logits = logits_of(windows, [["O", "I-PER"], ["O", "O"]])
    task.write_and_score_predictions(encoded_set, [({}, logits)], str(tmp_path))
    words = (tmp_path / "test_predictions.txt").read_text().split("\n")
    assert words[1].split()[-1] == tag


def test_a_test_set_without_tags_has_no_scores(create_task, tmp_path):
    task = create_task()
    examples = EXAMPLES[1:]
    windows = create_windows(task, examples)
    encoded_set = create_set("test", examples, windows)
    logits = logits_of(windows, [["O", "O"]])
    scores = task.write_and_score_predictions(
        encoded_set, [({}, logits)], str(tmp_path)
    )
    assert scores == Scores()
