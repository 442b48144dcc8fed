"""Which text tasks an export supports, and what it must state for them."""

import itertools
from pathlib import Path

import pytest

from model_folders.kinds import KIND_OF_CLASS
from serving.text_tasks.tag import TokenClassifierHead
from serving.text_tasks.text_task_registry import (
    TEXT_TASKS_OF_CLASS,
    check_head_settings,
    create_text_tasks,
    list_text_tasks,
    parse_head,
)

PAIRS = {"num_texts": 2, "labels": ["a", "b"]}
# {class of a model: its text tasks besides `tokenize`, the main one first}.
NAMES_OF_CLASS = {
    "BertClassifier": ["classify", "rerank"],
    "BertEmbedder": [],
    "BertModel": ["embed"],
    "BertMultipleChoice": [],
    "BertPretrainer": ["fill-mask", "next-sentence"],
    "BertSpanLabeler": ["answer"],
    "BertTokenClassifier": ["tag"],
}


def create_classifier_tasks(**settings):
    """Returns the text tasks of a classifier, by default of pairs."""
    return create_text_tasks("BertClassifier", PAIRS | settings)


def test_every_class_has_its_text_tasks_or_none():
    actual = {
        model_class: [
            text_task.name
            for text_task in TEXT_TASKS_OF_CLASS.get(model_class, ())
        ]
        for model_class in KIND_OF_CLASS
    }
    assert actual == NAMES_OF_CLASS


def test_the_main_task_of_a_model_parses_its_head():
    settings = {"max_seq_length": 8, "labels": ["O"], "legal_tags": True}
    head = parse_head("BertTokenClassifier", settings)
    assert head == TokenClassifierHead(labels=["O"], chooses_legal_tags=True)


def test_the_text_tasks_of_an_encoder_need_no_head():
    assert parse_head("BertModel", {"max_seq_length": 8}) is None


@pytest.mark.parametrize("model_class", TEXT_TASKS_OF_CLASS)
def test_all_tasks_of_a_model_read_one_head(model_class):
    main, *others = TEXT_TASKS_OF_CLASS[model_class]
    assert {text_task.parse_head for text_task in others} <= {
        None,
        main.parse_head,
    }


def test_each_task_is_listed_once_though_several_models_support_it():
    names = [text_task.name for text_task in list_text_tasks()]
    assert sorted(names) == sorted(
        [*itertools.chain(*NAMES_OF_CLASS.values()), "tokenize"]
    )


def test_the_main_task_of_a_model_is_the_first():
    main, *_ = create_classifier_tasks()
    assert main == "classify"


@pytest.mark.parametrize(
    ("settings", "ranks"),
    [
        ({}, True),
        ({"num_texts": None}, True),
        ({"output_mode": "regression", "labels": []}, True),
        ({"labels": ["a", "b", "c"]}, False),
        ({"output_mode": "multilabel"}, False),
        ({"num_texts": 1}, False),
        ({"doc_stride": 4}, False),
    ],
)
def test_a_model_of_pairs_with_one_score_ranks_passages(settings, ranks):
    assert ("rerank" in create_classifier_tasks(**settings)) == ranks


def test_a_model_that_reads_windows_reads_all_of_a_single_text():
    text_tasks = create_classifier_tasks(doc_stride=64)
    assert text_tasks["classify"].reads_all
    assert text_tasks["classify"].field_names == ["text"]


def test_an_export_must_state_what_its_task_needs():
    settings = {"max_seq_length": 8, "output_mode": "classification"}
    with pytest.raises(ValueError, match="`labels`"):
        check_head_settings("BertClassifier", settings, Path("model.json"))


def test_a_regression_may_lack_labels_in_its_settings():
    settings = {"max_seq_length": 8, "output_mode": "regression"}
    check_head_settings("BertClassifier", settings, Path("model.json"))
