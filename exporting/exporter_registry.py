"""Lists the `HeadExporter` of each class of models."""

from typing import Any, Final

from exporting import (
    answer_exporter,
    classify_exporter,
    embed_exporter,
    multiple_choice_exporter,
    pretrained_exporter,
    tag_exporter,
)
from exporting.head_exporter import HeadExporter
from model_folders.kinds import ModelClass

# {class of a model: exporter of its head}. Any, because each exporter accepts
# only models of its class. A BertEmbedder is exported as its encoder. A user's
# own subclass has no entry, because it may compute something else.
HEAD_EXPORTER_OF_CLASS: Final[dict[ModelClass, HeadExporter[Any]]] = {
    ModelClass.CLASSIFIER: classify_exporter.EXPORTER,
    ModelClass.ENCODER: embed_exporter.EXPORTER,
    ModelClass.MULTIPLE_CHOICE: multiple_choice_exporter.EXPORTER,
    ModelClass.PRETRAINER: pretrained_exporter.EXPORTER,
    ModelClass.SPAN_LABELER: answer_exporter.EXPORTER,
    ModelClass.TOKEN_CLASSIFIER: tag_exporter.EXPORTER,
}
