"""The kinds of models: one entry for each class of models in `modeling`.

The name of a kind is the name of its class, which model.json records. What
depends on the kind is in KIND_OF_CLASS here, or in another table with the keys
of ModelClass, such as TEXT_TASKS_OF_CLASS. docs/adding_a_task.md lists all
tables. This module imports neither Keras nor TensorFlow.
"""

import dataclasses
import enum
from typing import Final


class ModelClass(enum.StrEnum):
    """A class of models of this project, by the name that model.json records.

    Where a class may be a user's own, its name is a str, and
    `in KIND_OF_CLASS` tells whether the class is of this project.
    """

    ENCODER = "BertModel"
    PRETRAINER = "BertPretrainer"
    CLASSIFIER = "BertClassifier"
    TOKEN_CLASSIFIER = "BertTokenClassifier"
    SPAN_LABELER = "BertSpanLabeler"
    MULTIPLE_CHOICE = "BertMultipleChoice"
    EMBEDDER = "BertEmbedder"


@dataclasses.dataclass(frozen=True, kw_only=True)
class ModelKind:
    """The properties of one class of models.

    Attributes:
        pipeline_tag: what the model is for, by its name on the Hugging Face
            hub, for the README.md of a model.
        transformers_class: class of the same model in transformers, None if
            transformers has none.
        has_labels: whether the outputs have names, which labels.txt lists.
        has_trained_head: whether the head belongs to one fine-tuning task, so
            that another task cannot use it.
        exports_logits: whether the signature `ids` of an export returns the
            logits. Other exports return what the logits mean, such as
            probabilities.
    """

    pipeline_tag: str
    transformers_class: str | None = None
    has_labels: bool = False
    has_trained_head: bool = True
    exports_logits: bool = False

    @property
    def classifies_texts(self) -> bool:
        """Whether the outputs are scores of the labels of a text or a pair."""
        return self.pipeline_tag == "text-classification"


# docs/code_reference.md, "The files of a task", names the files of each kind.
KIND_OF_CLASS: Final[dict[ModelClass, ModelKind]] = {
    ModelClass.PRETRAINER: ModelKind(
        pipeline_tag="fill-mask",
        transformers_class="BertForPreTraining",
        has_trained_head=False,
    ),
    ModelClass.CLASSIFIER: ModelKind(
        pipeline_tag="text-classification",
        transformers_class="BertForSequenceClassification",
        has_labels=True,
    ),
    ModelClass.SPAN_LABELER: ModelKind(
        pipeline_tag="question-answering",
        transformers_class="BertForQuestionAnswering",
        exports_logits=True,
    ),
    ModelClass.TOKEN_CLASSIFIER: ModelKind(
        pipeline_tag="token-classification",
        transformers_class="BertForTokenClassification",
        has_labels=True,
    ),
    ModelClass.ENCODER: ModelKind(
        pipeline_tag="feature-extraction",
        transformers_class="BertModel",
        has_trained_head=False,
    ),
    ModelClass.MULTIPLE_CHOICE: ModelKind(
        pipeline_tag="multiple-choice",
        transformers_class="BertForMultipleChoice",
    ),
    # The exports of an embedder contain only the encoder, and are of its class.
    ModelClass.EMBEDDER: ModelKind(
        pipeline_tag="feature-extraction", has_trained_head=False
    ),
}


def model_class_of(model: object) -> str:
    """Returns the name of a model's class, a ModelClass or a user's own.

    model.json records this name.
    """
    return type(model).__name__


def listed_class_of(model: object) -> ModelClass:
    """Returns the name of a model's class, which KIND_OF_CLASS lists.

    Raises:
        ValueError: the class is a user's own.
    """
    name = model_class_of(model)
    if name not in KIND_OF_CLASS:
        raise ValueError(f"{name} is not one of {', '.join(KIND_OF_CLASS)}")
    return ModelClass(name)


def kind_of(name: str | None) -> ModelKind | None:
    """Returns the kind of a class, None for a user's own or an unknown one."""
    if name in KIND_OF_CLASS:
        return KIND_OF_CLASS[ModelClass(name)]
    return None


def is_task_specific(model_class: str | None) -> bool:
    """Returns whether only the task that trained a head can use the head.

    Args:
        model_class: class of the model, None if it is unknown. The class of a
            user's own model counts as task-specific.
    """
    if model_class is None:
        return False
    kind = kind_of(model_class)
    return kind is None or kind.has_trained_head
