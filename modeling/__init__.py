"""The network: BERT's encoder, the tasks' heads, losses and checkpoints."""

import importlib
import sys
from typing import TYPE_CHECKING

from files import lazy

if TYPE_CHECKING:
    from modeling.attention import AttentionLayer
    from modeling.bert import BertModel
    from modeling.checkpoints import (
        find_checkpoint,
        huggingface,
        load_checkpoint,
        read_shapes,
    )
    from modeling.checkpoints.extension import extend_model
    from modeling.checkpoints.huggingface import (
        load_config,
        load_huggingface,
        save_huggingface,
    )
    from modeling.checkpoints.labels import load_labels, save_labels
    from modeling.checkpoints.names import named_variables
    from modeling.checkpoints.tf1 import save_checkpoint, save_release
    from modeling.config import BertConfig
    from modeling.distillation import DistillationLoss, Distiller
    from modeling.losses import (
        ClassifierLoss,
        MultiLabelLoss,
        MultipleChoiceLoss,
        PretrainingLoss,
        RegressionLoss,
        SpanLoss,
        TokenLoss,
    )
    from modeling.tasks import (
        BertClassifier,
        BertMultipleChoice,
        BertPretrainer,
        BertSpanLabeler,
        BertTokenClassifier,
    )

__getattr__ = lazy.on_first_use(__name__, __file__)

if "keras" in sys.modules:
    # Registers the models with Keras, for keras.models.load_model.
    importlib.import_module("modeling.tasks")

__all__ = [
    "AttentionLayer",
    "BertClassifier",
    "BertConfig",
    "BertModel",
    "BertMultipleChoice",
    "BertPretrainer",
    "BertSpanLabeler",
    "BertTokenClassifier",
    "ClassifierLoss",
    "DistillationLoss",
    "Distiller",
    "MultiLabelLoss",
    "MultipleChoiceLoss",
    "PretrainingLoss",
    "RegressionLoss",
    "SpanLoss",
    "TokenLoss",
    "extend_model",
    "find_checkpoint",
    "huggingface",
    "load_checkpoint",
    "load_config",
    "load_huggingface",
    "load_labels",
    "named_variables",
    "read_shapes",
    "save_checkpoint",
    "save_huggingface",
    "save_labels",
    "save_release",
]
