"""The flags of the classifier that contradict each other."""

import pytest

from command_line import config_values
from training.config.classifier_config import ClassifierConfig


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
