"""The flags of the classifier: the tasks, and which flags exclude others."""

import pytest

from command_line import config_values
from command_line.declared_flags import flags_of
from training.config.classifier_config import ClassifierConfig

# In the order of the alphabet, as --help lists them.
TASK_NAMES = [
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


def test_the_tasks_are_those_of_glue_of_xnli_and_of_tables():
    (task_flag,) = (
        flag for flag in flags_of(ClassifierConfig) if flag.name == "task_name"
    )
    assert task_flag.choices == TASK_NAMES


@pytest.mark.parametrize(
    "values, name",
    [
        ({"glue_submission": True}, "--glue_submission"),
        ({"report": True}, "--report"),
        ({"bilstm": True, "task_name": "embedding"}, "--bilstm"),
    ],
)
def test_flags_that_contradict_each_other_are_named(values, name):
    with pytest.raises(ValueError, match=name):
        create_config(values).check(frozenset(values))


def create_config(values):
    names = ("vocab_file", "bert_config_file", "data_dir", "output_dir")
    all_flags = dict.fromkeys(names, "x")
    all_flags |= {"task_name": "csv", "do_train": True, "max_seq_length": 16}
    return config_values.create_config(ClassifierConfig, **all_flags | values)
