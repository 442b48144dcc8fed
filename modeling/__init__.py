"""The network: BERT's encoder, the tasks' heads, losses and checkpoints."""

import importlib
from typing import TYPE_CHECKING, Any

# The names for type checkers. `_NAMES` lists the names of the package.
# ruff: noqa: F401, F403
if TYPE_CHECKING:
    from modeling.attention import *
    from modeling.bert import *
    from modeling.checkpoints import *
    from modeling.checkpoints import huggingface
    from modeling.checkpoints.huggingface import *
    from modeling.checkpoints.huggingface.config import *
    from modeling.checkpoints.labels import *
    from modeling.checkpoints.names import *
    from modeling.checkpoints.tf1 import *
    from modeling.config import *
    from modeling.distillation import *
    from modeling.losses import *
    from modeling.tasks import *

# Import each name at its first use, so that a script can print --help or report
# a wrong flag without loading TensorFlow.
_NAMES = {
    "attention": "AttentionLayer",
    "bert": "BertModel",
    "checkpoints": (
        "extend_model find_checkpoint has_head huggingface load_checkpoint "
        "read_shapes"
    ),
    "checkpoints.huggingface": "save_huggingface",
    "checkpoints.huggingface.config": (
        "ARCHITECTURES load_config read_architectures"
    ),
    "checkpoints.labels": "find_order load_labels save_labels",
    "checkpoints.names": "named_variables",
    "checkpoints.tf1": "save_checkpoint save_release",
    "config": "BertConfig",
    "distillation": "DistillationLoss Distiller",
    "losses": (
        "ClassifierLoss ContrastiveLoss CosineLoss MultiLabelLoss "
        "MultipleChoiceLoss PretrainingLoss RankingLoss RegressionLoss "
        "SpanLoss TokenLoss"
    ),
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
