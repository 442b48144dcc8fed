"""The values of --task_name."""

from data.classification.table_uses import TASK_NAMES


def test_task_names_are_those_of_glue_and_of_tables():
    assert {"csv", "embedding", "mnli", "ranking", "xnli"} <= {*TASK_NAMES}
    assert sorted(TASK_NAMES) == TASK_NAMES
