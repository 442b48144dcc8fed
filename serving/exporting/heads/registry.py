"""Lists the `HeadExporter` of each class of models."""

from typing import Any, Final

from model_folders import kinds
from serving.exporting.heads import (
    answer,
    classify,
    embed,
    multiple_choice,
    pretrained,
    tag,
)
from serving.exporting.heads.head_exporter import HeadExporter

# {class of a model: exporter of its head}. Any, because each exporter accepts
# only models of its class. A BertEmbedder is exported as its encoder. A user's
# own subclass has no entry, because it may compute something else.
HEAD_EXPORTER_OF_CLASS: Final[dict[kinds.ModelClass, HeadExporter[Any]]] = {
    kinds.CLASSIFIER: classify.EXPORTER,
    kinds.ENCODER: embed.EXPORTER,
    kinds.MULTIPLE_CHOICE: multiple_choice.EXPORTER,
    kinds.PRETRAINER: pretrained.EXPORTER,
    kinds.SPAN_LABELER: answer.EXPORTER,
    kinds.TOKEN_CLASSIFIER: tag.EXPORTER,
}
