"""What the names of a checkpoint's weights tell of its head."""

import pytest

import modeling
from model_folders.formats.head_names import head_classes_of
from model_folders.kinds import ModelClass
from tests.support.models import built, tiny_config

LABEL_CLASSES = {
    ModelClass.CLASSIFIER,
    ModelClass.TOKEN_CLASSIFIER,
    ModelClass.MULTIPLE_CHOICE,
}
ENCODER_NAMES = [
    "bert/embeddings/word_embeddings",
    "bert/pooler/dense/kernel",
    "bert.pooler.dense.weight",
]
SAVES = [modeling.save_release, modeling.save_huggingface]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("output_weights", LABEL_CLASSES),
        ("classifier.weight", LABEL_CLASSES),
        ("cls/squad/output_bias", {ModelClass.SPAN_LABELER}),
        ("qa_outputs.bias", {ModelClass.SPAN_LABELER}),
        ("cls/predictions/output_bias", {ModelClass.PRETRAINER}),
        ("cls.seq_relationship.weight", {ModelClass.PRETRAINER}),
    ],
)
def test_a_name_of_a_head_tells_the_classes_of_models(name, expected):
    assert {*head_classes_of([*ENCODER_NAMES, name])} == expected


def test_weights_without_a_head_are_of_an_encoder():
    assert head_classes_of(ENCODER_NAMES) == (ModelClass.ENCODER,)


def test_a_fine_tuned_head_counts_more_than_those_of_pretraining():
    names = ["cls/predictions/output_bias", "output_weights"]
    assert {*head_classes_of(names)} == LABEL_CLASSES


def test_the_head_of_squad_is_none_of_pretraining():
    """The names of both begin with `cls/`."""
    names = ["cls/predictions/output_bias", "cls/squad/output_weights"]
    assert head_classes_of(names) == (ModelClass.SPAN_LABELER,)


def test_head_classes_of_accepts_an_iterator():
    assert head_classes_of(iter(["cls.x", "qa_outputs.bias"])) == (
        ModelClass.SPAN_LABELER,
    )


@pytest.mark.parametrize("save", SAVES)
@pytest.mark.parametrize(
    ("create", "arguments"),
    [
        (modeling.BertModel, []),
        (modeling.BertPretrainer, []),
        (modeling.BertClassifier, [2]),
        (modeling.BertTokenClassifier, [2]),
        (modeling.BertSpanLabeler, []),
        (modeling.BertMultipleChoice, []),
    ],
)
def test_a_saved_model_is_of_a_class_that_its_names_tell(
    create, arguments, save, tmp_path
):
    save(built(create(tiny_config(), *arguments)), tmp_path / "model")
    names = modeling.read_shapes(modeling.find_checkpoint(tmp_path / "model"))
    assert create.__name__ in head_classes_of(names)
