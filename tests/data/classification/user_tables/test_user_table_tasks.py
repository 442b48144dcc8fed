"""How the tasks of a user's own tables differ."""

import pytest

from data.classification.user_tables.user_table_tasks import SPEC_OF_TABLE_TASK


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
