"""The kinds of models, and what depends on them."""

import pytest

from model_folders import kinds
from model_folders.kinds import ModelClass


@pytest.mark.parametrize("head", [ModelClass.CLASSIFIER, "ModelOfAUser"])
def test_the_head_of_a_task_is_of_this_task_alone(head):
    assert kinds.is_task_specific(head)


@pytest.mark.parametrize(
    "head", [ModelClass.PRETRAINER, ModelClass.ENCODER, None]
)
def test_other_heads_are_for_any_task(head):
    assert not kinds.is_task_specific(head)


def test_the_kind_of_a_model_is_the_name_of_its_class():
    class BertClassifier:
        pass

    assert kinds.model_class_of(BertClassifier()) == ModelClass.CLASSIFIER


def test_the_class_of_a_model_is_one_of_the_list():
    class BertEmbedder:
        pass

    assert kinds.listed_class_of(BertEmbedder()) == ModelClass.EMBEDDER


def test_a_class_of_a_user_has_no_kind():
    class ModelOfAUser:
        pass

    assert kinds.kind_of("ModelOfAUser") is None
    with pytest.raises(ValueError, match="ModelOfAUser is not one of Bert"):
        kinds.listed_class_of(ModelOfAUser())
