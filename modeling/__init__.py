"""The network: BERT's encoder, the tasks' heads, losses and checkpoints."""

import importlib
from typing import TYPE_CHECKING, Any

# ruff: noqa: F401
if TYPE_CHECKING:
    from modeling.attention import AttentionLayer
    from modeling.bert import BertModel
    from modeling.checkpoints import (
        extend_model,
        find_checkpoint,
        huggingface,
        load_checkpoint,
        read_shapes,
    )
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

# Each name is imported when it is first used: a script answers --help and names
# a wrong flag before it needs TensorFlow.
_MODULES = {
    "AttentionLayer": "modeling.attention",
    "BertClassifier": "modeling.tasks",
    "BertConfig": "modeling.config",
    "BertModel": "modeling.bert",
    "BertMultipleChoice": "modeling.tasks",
    "BertPretrainer": "modeling.tasks",
    "BertSpanLabeler": "modeling.tasks",
    "BertTokenClassifier": "modeling.tasks",
    "ClassifierLoss": "modeling.losses",
    "DistillationLoss": "modeling.distillation",
    "Distiller": "modeling.distillation",
    "MultiLabelLoss": "modeling.losses",
    "MultipleChoiceLoss": "modeling.losses",
    "PretrainingLoss": "modeling.losses",
    "RegressionLoss": "modeling.losses",
    "SpanLoss": "modeling.losses",
    "TokenLoss": "modeling.losses",
    "extend_model": "modeling.checkpoints",
    "find_checkpoint": "modeling.checkpoints",
    "huggingface": "modeling.checkpoints",
    "load_checkpoint": "modeling.checkpoints",
    "load_config": "modeling.checkpoints.huggingface",
    "load_huggingface": "modeling.checkpoints.huggingface",
    "load_labels": "modeling.checkpoints.labels",
    "named_variables": "modeling.checkpoints.names",
    "read_shapes": "modeling.checkpoints",
    "save_checkpoint": "modeling.checkpoints.tf1",
    "save_huggingface": "modeling.checkpoints.huggingface",
    "save_labels": "modeling.checkpoints.labels",
    "save_release": "modeling.checkpoints.tf1",
}

__all__ = [*_MODULES]


def __getattr__(name: str) -> Any:
    """Imports the module of a name that is used for the first time."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_MODULES[name]), name)
    globals()[name] = value
    return value
