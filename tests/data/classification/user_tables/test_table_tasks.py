"""How the tasks of a user's own tables differ."""

import pytest

from data.classification.user_tables.table_tasks import SPEC_OF_TABLE_TASK


@pytest.mark.parametrize(
    ("attribute", "task_name"),
    [
        ("may_be_cross_encoder", "csv"),
        ("is_embedding", "embedding"),
        ("may_lack_scores", "embedding"),
        ("is_ranking", "ranking"),
        ("is_split_by_first_text", "ranking"),
    ],
)
def test_an_attribute_is_true_for_one_task_only(attribute, task_name):
    names = [
        name
        for name, spec in SPEC_OF_TABLE_TASK.items()
        if getattr(spec, attribute)
    ]
    assert names == [task_name]


@pytest.mark.parametrize(
    ("task_name", "column"),
    [("csv", None), ("embedding", "score"), ("ranking", "relevance")],
)
def test_only_tasks_of_pairs_have_a_usual_column_of_numbers(task_name, column):
    assert SPEC_OF_TABLE_TASK[task_name].number_column == column
