"""The network: BERT's encoder, the tasks' heads and losses, and checkpoints."""

import importlib
from typing import TYPE_CHECKING, Any

# ruff: noqa: F401
if TYPE_CHECKING:
    from modeling.attention import AttentionLayer
    from modeling.bert import BertModel
    from modeling.checkpoints import (
        extend_model,
        find_checkpoint,
        has_head,
        huggingface,
        load_checkpoint,
        read_shapes,
    )
    from modeling.checkpoints.huggingface import (
        load_huggingface,
        save_huggingface,
    )
    from modeling.checkpoints.names import named_variables
    from modeling.checkpoints.tf1 import save_checkpoint, save_release
    from modeling.config import BertConfig
    from modeling.config_files import (
        ARCHITECTURES,
        load_config,
        read_architectures,
    )
    from modeling.distillation import DistillationLoss, Distiller
    from modeling.labels import find_order
    from modeling.losses import (
        ClassifierLoss,
        ContrastiveLoss,
        CosineLoss,
        MultiLabelLoss,
        MultipleChoiceLoss,
        PretrainingLoss,
        RankingLoss,
        RegressionLoss,
        SpanLoss,
        TokenLoss,
    )
    from modeling.presets import load_labels
    from modeling.tasks import (
        BertClassifier,
        BertEmbedder,
        BertMultipleChoice,
        BertPretrainer,
        BertSpanLabeler,
        BertTokenClassifier,
    )

# Import each name at its first use, so that a script can print --help or report
# a wrong flag without loading TensorFlow.
_NAMES = {
    "attention": "AttentionLayer",
    "bert": "BertModel",
    "checkpoints": (
        "extend_model find_checkpoint has_head huggingface load_checkpoint "
        "read_shapes"
    ),
    "checkpoints.huggingface": "load_huggingface save_huggingface",
    "checkpoints.names": "named_variables",
    "checkpoints.tf1": "save_checkpoint save_release",
    "config": "BertConfig",
    "config_files": "ARCHITECTURES load_config read_architectures",
    "distillation": "DistillationLoss Distiller",
    "labels": "find_order",
    "losses": (
        "ClassifierLoss ContrastiveLoss CosineLoss MultiLabelLoss "
        "MultipleChoiceLoss PretrainingLoss RankingLoss RegressionLoss "
        "SpanLoss TokenLoss"
    ),
    "presets": "load_labels",
    "tasks": (
        "BertClassifier BertEmbedder BertMultipleChoice BertPretrainer "
        "BertSpanLabeler BertTokenClassifier"
    ),
}
_MODULES = {
    name: f"modeling.{module}"
    for module, names in _NAMES.items()
    for name in names.split()
}

__all__ = [*_MODULES]


def __getattr__(name: str) -> Any:
    """Imports a name of this package at its first use."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_MODULES[name]), name)
    globals()[name] = value
    return value
