"""The network: BERT's encoder, the tasks' heads, losses and checkpoints."""

from modeling.attention import AttentionLayer
from modeling.bert import BertModel
from modeling.checkpoints import find_checkpoint, load_checkpoint
from modeling.checkpoints.huggingface import (
    load_config,
    load_huggingface,
    save_huggingface,
)
from modeling.checkpoints.labels import load_labels, save_labels
from modeling.checkpoints.names import named_variables
from modeling.checkpoints.tf1 import save_checkpoint, save_release
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
    "find_checkpoint",
    "load_checkpoint",
    "load_config",
    "load_huggingface",
    "load_labels",
    "named_variables",
    "save_checkpoint",
    "save_huggingface",
    "save_labels",
    "save_release",
]
