"""The differences between the tasks of a user's own tables."""

import pytest

from data.classification.user_tables.table_tasks import (
    DEFINITION_OF_TABLE_TASK,
)


def tasks_where(is_true):
    """Returns the names of the tasks for which a function is true."""
    return [
        name
        for name, definition in DEFINITION_OF_TABLE_TASK.items()
        if is_true(definition)
    ]


def test_only_the_task_csv_trains_cross_encoders():
    assert tasks_where(lambda task: task.may_be_cross_encoder) == ["csv"]


def test_only_the_task_embedding_trains_vectors():
    assert tasks_where(lambda task: task.learns_vectors) == ["embedding"]


def test_only_the_task_embedding_accepts_pairs_without_scores():
    assert tasks_where(lambda task: task.may_lack_scores) == ["embedding"]


def test_only_the_task_ranking_ranks_passages():
    assert tasks_where(lambda task: task.learns_relevances) == ["ranking"]


def test_only_ranking_keeps_all_passages_of_a_query_in_one_set():
    assert tasks_where(lambda task: task.is_split_by_first_text) == ["ranking"]


@pytest.mark.parametrize(
    ("task_name", "column"),
    [("csv", None), ("embedding", "score"), ("ranking", "relevance")],
)
def test_only_tasks_of_pairs_have_a_usual_column_of_numbers(task_name, column):
    assert DEFINITION_OF_TABLE_TASK[task_name].number_column == column


@pytest.mark.parametrize(
    ("task_name", "column", "may_lack"),
    [
        ("embedding", "score", True),
        ("embedding", "similarity", False),
        ("ranking", "relevance", False),
        ("csv", "label", False),
    ],
)
def test_only_the_usual_column_of_scores_may_be_missing(
    task_name, column, may_lack
):
    definition = DEFINITION_OF_TABLE_TASK[task_name]
    assert definition.may_lack_column(column) == may_lack
