"""The flags of the classifier: the tasks, and which flags exclude others."""

import pytest

from model_folders.training_settings import TrainingSettings
from options.fields import PathType
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
FLAG_OF_NAME = {flag.name: flag for flag in ClassifierConfig.list_options()}


def test_the_tasks_are_those_of_glue_of_xnli_and_of_tables():
    assert FLAG_OF_NAME["task_name"].choices == TASK_NAMES


@pytest.mark.parametrize(
    ("name", "value", "is_valid"),
    [
        ("xnli_language", "ur", True),
        ("xnli_language", "it", False),
        ("class_weights", "balanced", True),
        ("class_weights", "sqrt", False),
        ("doc_stride", 0, True),
        ("doc_stride", -1, False),
        ("contrastive_temperature", 0.001, True),
        ("contrastive_temperature", 0.0, False),
    ],
)
def test_a_flag_has_its_choices_and_bounds(name, value, is_valid):
    assert FLAG_OF_NAME[name].is_valid(value) == is_valid


def test_a_class_of_a_user_is_code_that_runs():
    assert FLAG_OF_NAME["processor"].path_type == PathType.CODE


@pytest.mark.parametrize(
    ("values", "name"),
    [
        ({"glue_submission": True}, "--glue_submission"),
        ({"report": True}, "--report"),
        ({"bilstm": True, "task_name": "embedding"}, "--bilstm"),
    ],
)
def test_flags_that_contradict_each_other_are_named(values, name):
    with pytest.raises(ValueError, match=name):
        create_config(values).check(frozenset(values))


@pytest.mark.parametrize(
    ("task_name", "report"), [("csv", True), ("embedding", False)]
)
def test_a_data_file_implies_a_report_of_a_classification(task_name, report):
    config = create_config({"data_file": "table.csv", "task_name": task_name})
    assert config.with_implied_flags().report == report


@pytest.mark.parametrize(
    "values", [{"processor": "own.py:Rows"}, {"data_file": "table.csv"}]
)
def test_a_task_that_no_flag_names_is_that_of_tables(values):
    config = create_config({"task_name": None, **values})
    assert config.with_implied_flags().task_name == "csv"


def test_a_processor_and_another_task_are_refused_together():
    config = create_config({"processor": "own.py:Rows", "task_name": "mrpc"})
    with pytest.raises(ValueError, match="either --processor, or --task_name"):
        config.check_early()


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ({}, "--data_file (or --task_name and --data_dir)"),
        ({"processor": "Tickets"}, "--processor=FILE.py:Tickets"),
    ],
)
def test_a_missing_task_is_named_by_the_flags_that_choose_it(head, expected):
    settings = TrainingSettings(head)
    config = ClassifierConfig.from_values(output_dir="")
    assert config.describe_missing("task_name", settings) == expected
    assert config.describe_missing("data_dir", settings) == "--data_dir"


def create_config(values):
    names = ("vocab_file", "bert_config_file", "data_dir", "output_dir")
    all_flags = dict.fromkeys(names, "x")
    all_flags |= {"task_name": "csv", "do_train": True, "max_seq_length": 16}
    return ClassifierConfig.from_values(**all_flags | values)
