"""The kinds of models: one entry for each class of models in `modeling`.

The name of a kind is the name of its class, which model.json records. All other
modules look up here what depends on the kind, and which classes there are.
docs/adding_a_task.md lists the files that a new head needs. This module imports
neither Keras nor TensorFlow.
"""

import dataclasses
from typing import Final, Literal, TypeAlias

# A class of this project. Where a class may be a user's own, its name is a str,
# and `in KIND_OF_CLASS` tells whether the class is of this project.
ModelClass: TypeAlias = Literal[
    "BertModel",
    "BertPretrainer",
    "BertClassifier",
    "BertTokenClassifier",
    "BertSpanLabeler",
    "BertMultipleChoice",
    "BertEmbedder",
]
ENCODER: Final = "BertModel"
PRETRAINER: Final = "BertPretrainer"
CLASSIFIER: Final = "BertClassifier"
TOKEN_CLASSIFIER: Final = "BertTokenClassifier"
SPAN_LABELER: Final = "BertSpanLabeler"
MULTIPLE_CHOICE: Final = "BertMultipleChoice"
EMBEDDER: Final = "BertEmbedder"


@dataclasses.dataclass(frozen=True, kw_only=True)
class ModelKind:
    """The properties of one class of models.

    Attributes:
        module: module that defines the class, which is imported late.
        transformers_class: class of the same model in transformers, None if
            transformers has none.
        pipeline_tag: name of the model's task on the Hugging Face hub.
        has_labels: whether the outputs have names, which labels.txt lists.
        has_trained_head: whether the head belongs to one fine-tuning task, so
            that another task cannot use it.
        text_task_names: names of the text tasks that an export answers
            (serving/text_tasks/), the main task first. If it is empty, an
            export reads only ids.
        exports_logits: whether the signature `ids` of an export returns the
            logits. Other exports return what the logits mean, such as
            probabilities.
        example_texts: texts of an example of the main task, which the README.md
            of a model and the end of a training show.
    """

    module: str = "modeling.task_models"
    transformers_class: str | None = None
    pipeline_tag: str = "feature-extraction"
    has_labels: bool = False
    has_trained_head: bool = True
    text_task_names: tuple[str, ...] = ()
    exports_logits: bool = False
    example_texts: tuple[str, ...] = ("A text.",)

    @property
    def classifies_texts(self) -> bool:
        """Whether the outputs are scores of the labels of a text or a pair."""
        return "classify" in self.text_task_names


# docs/code_reference.md, "The files of a task", names the files of each kind.
KIND_OF_CLASS: Final[dict[ModelClass, ModelKind]] = {
    PRETRAINER: ModelKind(
        transformers_class="BertForPreTraining",
        pipeline_tag="fill-mask",
        has_trained_head=False,
        text_task_names=("fill-mask", "next-sentence"),
        example_texts=("The [MASK] is blue.",),
    ),
    CLASSIFIER: ModelKind(
        transformers_class="BertForSequenceClassification",
        pipeline_tag="text-classification",
        has_labels=True,
        text_task_names=("classify", "rerank"),
    ),
    SPAN_LABELER: ModelKind(
        transformers_class="BertForQuestionAnswering",
        pipeline_tag="question-answering",
        text_task_names=("answer",),
        exports_logits=True,
        example_texts=("Who came?", "Ann came."),
    ),
    TOKEN_CLASSIFIER: ModelKind(
        transformers_class="BertForTokenClassification",
        pipeline_tag="token-classification",
        has_labels=True,
        text_task_names=("tag",),
        example_texts=("Ann came.",),
    ),
    ENCODER: ModelKind(
        module="modeling.bert",
        transformers_class="BertModel",
        has_trained_head=False,
        text_task_names=("embed",),
    ),
    MULTIPLE_CHOICE: ModelKind(
        transformers_class="BertForMultipleChoice",
        pipeline_tag="multiple-choice",
    ),
    # The exports of an embedder contain only the encoder, and are of the kind
    # ENCODER.
    EMBEDDER: ModelKind(has_trained_head=False),
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
    return name


def kind_of(name: str | None) -> ModelKind | None:
    """Returns the kind of a class, None for a user's own or an unknown one."""
    if name in KIND_OF_CLASS:
        return KIND_OF_CLASS[name]
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
