"""Flags of the classifier, and weights of classes."""

import pytest

import run_classifier
from command_line import flags
from data.classification import classifier_flags as cf
from data.classification.features import InputExample


def test_balanced_weights_let_all_classes_count_the_same():
    examples = [InputExample(0, "", label=each) for each in "aaaaaabbb"]
    weights = cf.balance_classes(["a", "b", "c"], examples)
    # A class that no example has gets a finite weight too.
    assert weights == {"a": 9 / (3 * 6), "b": 9 / (3 * 3), "c": 3.0}


def test_names_that_differ_only_in_case_are_two_columns():
    for names, text in (["Text", "text"], "Text"), (["A", "a"], None):
        found = cf.guess_columns([*names, "label"])
        assert found == {"text_column": text, "label_column": "label"}


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
    every = dict.fromkeys(names, "x")
    every |= {"task_name": "csv", "do_train": True, "max_seq_length": 16}
    return flags.create(run_classifier.Config, **every | values)
