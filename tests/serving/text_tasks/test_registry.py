"""Which text tasks an export supports, and what it must state for them."""

from pathlib import Path

import pytest

from serving.text_tasks.registry import (
    check_settings,
    create_text_tasks,
    list_text_tasks,
)

PAIRS = {"num_texts": 2, "output_mode": "classification", "labels": ["a", "b"]}


def test_each_task_is_listed_once_though_several_models_support_it():
    names = [text_task.name for text_task in list_text_tasks()]
    assert len(names) == len({*names})
    assert {"classify", "embed", "tokenize"} <= {*names}


def test_the_main_task_of_a_model_is_the_first():
    main, *_ = create_text_tasks("BertClassifier", PAIRS)
    assert main == "classify"


@pytest.mark.parametrize(
    "settings, ranks",
    [
        (PAIRS, True),
        (PAIRS | {"output_mode": "regression", "labels": None}, True),
        (PAIRS | {"labels": ["a", "b", "c"]}, False),
        (PAIRS | {"output_mode": "multilabel"}, False),
        (PAIRS | {"num_texts": 1}, False),
    ],
)
def test_a_model_of_pairs_with_one_score_ranks_passages(settings, ranks):
    assert ("rerank" in create_text_tasks("BertClassifier", settings)) == ranks


def test_a_model_that_reads_windows_reads_all_of_a_single_text():
    text_tasks = create_text_tasks("BertClassifier", PAIRS | {"doc_stride": 64})
    assert text_tasks["classify"].reads_all
    assert text_tasks["classify"].field_names == ["text"]


def test_an_export_must_state_what_its_task_needs():
    settings = {"max_seq_length": 8, "output_mode": "classification"}
    with pytest.raises(ValueError, match="`labels`"):
        check_settings("BertClassifier", settings, Path("model.json"))


def test_a_regression_may_lack_labels_in_its_settings():
    settings = {"max_seq_length": 8, "output_mode": "regression"}
    check_settings("BertClassifier", settings, Path("model.json"))
