"""What the task of embeddings makes of pairs of texts and of outputs."""

import numpy as np
import pytest

import modeling
from data.classification.classification_examples import InputExample
from data.classification.user_tables.table_columns import ColumnOptions
from data.classification.user_tables.table_processor import open_table_processor
from data.classification.user_tables.table_tasks import DEFINITION_OF_TABLE_TASK
from data.sets.data_file_options import DataFileOptions
from tests.support.models import SMALL
from tests.support.tasks.task_sets import create_classifier_start, create_set
from training.tasks.embedding import EmbeddingTask

PAIRS = [
    InputExample("1", "a river", "the river", 1.0),
    InputExample("2", "a man", "a day", 0.0),
]
# [pairs, both texts, width]: each text is nearest to its partner.
NEAR = np.array([[[1, 0], [1, 0.1]], [[0, 1], [0.1, 1]]], "float32")
# The first text is nearest to the partner of the second.
SWAPPED = np.array([[[1, 0], [0.1, 1]], [[0, 1], [0, 1]]], "float32")


@pytest.fixture
def create_task(tmp_path):
    """(trains_scores, evaluates_scores) -> task for texts of 8 WordPieces."""

    def create_embedding_task(trains_scores, evaluates_scores, **flags):
        processor = open_table_processor(
            DEFINITION_OF_TABLE_TASK["embedding"],
            tmp_path,
            DataFileOptions(),
            ColumnOptions(),
            set_by_user=(),
        )
        return EmbeddingTask(
            create_classifier_start(tmp_path, max_seq_length=8, **flags),
            processor,
            trains_scores=trains_scores,
            evaluates_scores=evaluates_scores,
            max_score=1.0,
        )

    return create_embedding_task


def test_pairs_with_scores_are_trained_on_their_cosines(create_task):
    task = create_task(True, True)
    assert isinstance(task.loss, modeling.CosineLoss)
    assert task.scoring.eval_loss is task.loss


def test_pairs_without_scores_are_found_in_their_batch(create_task):
    task = create_task(False, False)
    assert isinstance(task.loss, modeling.ContrastiveLoss)
    assert task.scoring.metrics == ("recall_1",)


def test_evaluations_of_another_kind_of_pairs_report_no_loss(create_task):
    task = create_task(False, True)
    assert task.scoring.eval_loss is None


def test_records_contain_scores_only_of_pairs_that_have_them(create_task):
    task = create_task(False, True)
    assert "label_ids" in task.feature_spec("dev")
    assert "label_ids" not in task.feature_spec("train")


def test_the_model_returns_vectors(create_task):
    model = create_task(False, False).create_model(SMALL)
    assert isinstance(model, modeling.BertEmbedder)


@pytest.mark.parametrize(("vectors", "recall"), [(NEAR, 1.0), (SWAPPED, 0.5)])
def test_recall_is_the_share_of_texts_that_find_their_partner(
    vectors, recall, create_task
):
    encoded_set = create_set("dev", PAIRS)
    scores = create_task(False, False).compute_scores(
        encoded_set, [({}, vectors)]
    )
    assert scores.overall == {"recall_1": recall}


def test_known_scores_are_compared_with_the_cosines(create_task):
    encoded_set = create_set("dev", PAIRS)
    # The cosines of the two pairs are about 0.1 and 1, their scores 1 and 0.
    scores = create_task(True, True).compute_scores(
        encoded_set, [({}, SWAPPED)]
    )
    assert scores.overall["pearson"] == pytest.approx(-1.0)
