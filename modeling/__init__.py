"""The network: BERT's encoder, the tasks' heads, losses and checkpoints."""

from modeling.attention import AttentionLayer
from modeling.bert import BertModel
from modeling.config import BertConfig
from modeling.tasks import (
    BertClassifier,
    BertMultipleChoice,
    BertPretrainer,
    BertSpanLabeler,
    BertTokenClassifier,
)

__all__ = [
    "AttentionLayer",
    "BertClassifier",
    "BertConfig",
    "BertModel",
    "BertMultipleChoice",
    "BertPretrainer",
    "BertSpanLabeler",
    "BertTokenClassifier",
]
