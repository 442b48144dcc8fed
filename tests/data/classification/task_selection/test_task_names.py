"""The values of --task_name."""

from data.classification.task_selection.task_names import TASK_NAMES

# In the order of the alphabet, as --help lists them.
NAMES = [
    "ax",
    "cola",
    "csv",
    "embedding",
    "mnli",
    "mnli-mm",
    "mrpc",
    "qnli",
    "qqp",
    "ranking",
    "rte",
    "sst-2",
    "sts-b",
    "wnli",
    "xnli",
]


def test_task_names_are_those_of_glue_of_xnli_and_of_tables():
    assert TASK_NAMES == NAMES
